// Numbers are those of the program file, so that they mean the same whatever is folded when a method is loaded.
#include "pterun/node/node_target.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace pterun::app {
namespace {

using runtime::Instruction;
using runtime::Stepper;

constexpr std::size_t kListed = 12;
constexpr const char* kHint = "pterun inspect -v MODEL lists instructions and nodes";

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

Error usage(std::string message) {
  return make_error(ErrorCode::kUsage, std::move(message)).with_hint(kHint);
}

// "0 Conv2d, 1 Clamp, and 3 more": the first entries of a list.
template <typename Describe>
std::string listed(std::size_t count, Describe describe) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, kListed); ++i)
    text += (i == 0 ? "" : ", ") + describe(i);
  if (count > kListed) text += fmt::format(", and {} more", count - kListed);
  return text;
}

std::string describe(const Instruction& instruction) {
  if (instruction.kind != Instruction::Kind::kDelegate)
    return fmt::format("{} {}", instruction.index, instruction.name);
  return fmt::format("{} delegate {} ({})", instruction.index, instruction.delegate, instruction.name);
}

std::string nodes_text(const xnnpack_payload::PayloadGraph& graph) {
  return listed(graph.nodes.size(),
                [&](std::size_t i) { return fmt::format("{} {}", i, node_kind_name(graph.nodes[i].kind)); });
}

// Operators and delegate calls, the only instructions that compute.
std::vector<std::size_t> computing(const Stepper& stepper) {
  std::vector<std::size_t> steps;
  for (std::size_t i = 0; i < stepper.size(); ++i) {
    const Instruction::Kind kind = stepper.at(i).kind;
    if (kind == Instruction::Kind::kOperator || kind == Instruction::Kind::kDelegate) steps.push_back(i);
  }
  return steps;
}

}  // namespace

Result<NodeTarget> parse_node_target(const config::Setting<std::string>& setting) {
  const std::string_view text = *setting;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto instruction = number(text.substr(0, colon));
  std::optional<std::size_t> node;
  if (colon < text.size()) node = number(text.substr(colon + 1));
  if (instruction && (node || colon == text.size())) return NodeTarget{*instruction, node};
  return fail(usage(fmt::format("expected INSTRUCTION or INSTRUCTION:NODE, two numbers, found '{}'", text))
                  .at("source", setting.origin.describe()));
}

Result<std::size_t> find_instruction(const NodeTarget& target, runtime::Method& method, const DelegateGraphs& graphs) {
  const Stepper stepper(method);
  const std::vector<std::size_t> steps = computing(stepper);
  const auto found =
      std::ranges::find_if(steps, [&](std::size_t step) { return stepper.at(step).index == target.instruction; });
  if (found == steps.end()) {
    Error error =
        usage(fmt::format("method '{}' has no instruction {} to run; it has {}", method.name(), target.instruction,
                          listed(steps.size(), [&](std::size_t i) { return describe(stepper.at(steps[i])); })));
    error.hint += "; calls on constants are computed when the method is loaded";
    return fail(std::move(error));
  }
  const Instruction instruction = stepper.at(*found);
  const bool is_delegate = instruction.kind == Instruction::Kind::kDelegate;
  if (!is_delegate && target.node) {
    return fail(usage(fmt::format("instruction {} is the operator {}: it has no nodes, found ':{}'", target.instruction,
                                  instruction.name, *target.node)));
  }
  if (!is_delegate) return *found;
  const auto graph = graphs.find({method.name(), instruction.delegate});
  if (graph == graphs.end()) {
    return fail(usage(fmt::format("instruction {} calls a delegate of {}, whose nodes are not known here",
                                  target.instruction, instruction.name)));
  }
  if (target.node && *target.node < graph->second.nodes.size()) return *found;
  return fail(
      usage(fmt::format("instruction {} calls delegate {}: {}, it has {}", target.instruction, instruction.delegate,
                        target.node ? fmt::format("there is no node {}", *target.node)
                                    : fmt::format("choose one of its nodes with {}:NODE", target.instruction),
                        nodes_text(graph->second))));
}

}  // namespace pterun::app
