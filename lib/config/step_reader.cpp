// Reads what a step says about inputs, reference and tolerance.
#include "config/step_reader.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "config/document.h"
#include "config/layers.h"

namespace pterun::config {
namespace {

using Kind = Node::Kind;

// "1x3x224" or "0,2,3,1", or an array of integers.
Result<std::vector<std::int64_t>> read_integers(const Node& node, char separator, const std::string& expected) {
  const auto wrong = [&] {
    return fail(setting_error(node.origin, "expected " + expected + ", found " + node.describe()));
  };
  std::vector<std::int64_t> numbers;
  if (node.is(Kind::kArray)) {
    for (const Node& item : node.items) {
      if (!item.is(Kind::kInteger) || item.huge || item.integer < 0) return wrong();
      numbers.push_back(item.integer);
    }
    return numbers;
  }
  if (!node.is(Kind::kString)) return wrong();
  const char* at = node.text.data();
  const char* const end = at + node.text.size();
  while (true) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0 || (next != end && *next != separator)) return wrong();
    numbers.push_back(number);
    if (next == end) return numbers;
    at = next + 1;
  }
}

Result<void> read_shape(const Node& node, const std::string& target, StepPlan& plan) {
  PTERUN_ASSIGN(auto sizes, read_integers(node, 'x', "sizes of at least 0 such as 1x3x224x224"));
  plan.shapes.push_back({target, std::move(sizes), node.origin});
  return {};
}

Result<void> read_dim_order(const Node& node, const std::string& target, StepPlan& plan) {
  PTERUN_ASSIGN(const auto numbers, read_integers(node, ',', "a permutation of 0 to rank-1 such as 0,2,3,1"));
  DimOrderPlan order{target, {}, node.origin};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::ranges::find(numbers, static_cast<std::int64_t>(i)) == numbers.end() || numbers.size() > 255) {
      return fail(setting_error(node.origin, "expected a permutation of 0 to " + std::to_string(numbers.size() - 1) +
                                                 ", found " + node.describe()));
    }
    order.order.push_back(static_cast<std::uint8_t>(numbers[i]));
  }
  plan.input_dim_orders.push_back(std::move(order));
  return {};
}

Result<void> read_input(const Node& entry, StepPlan& plan) {
  InputPlan input;
  input.origin = entry.origin;
  input.spec = entry.find("spec")->text;
  if (const Node* target = entry.find("input")) {
    if (target->is(Kind::kString)) {
      input.target = target->text;
    } else if (target->is(Kind::kInteger) && target->integer >= 0) {
      input.target = target->text;
    } else {
      return fail(setting_error(target->origin, "expected a name or an index, found " + target->describe()));
    }
  }
  if (const Node* seed = entry.find("seed")) {
    if (!seed->is(Kind::kInteger) || seed->huge || seed->integer < 0) {
      return fail(setting_error(seed->origin, "expected an integer of at least 0, found " + seed->describe()));
    }
    input.seed = static_cast<std::uint64_t>(seed->integer);
  }
  const bool whole_file = input.target == "*";
  if (const Node* shape = entry.find("shape")) {
    if (whole_file || input.target.empty()) {
      return fail(setting_error(shape->origin, "a shape needs the name or index of its input"));
    }
    PTERUN_TRY(read_shape(*shape, input.target, plan));
  }
  if (!whole_file) {
    for (const InputPlan& other : plan.inputs) {
      if (!input.target.empty() && other.target == input.target) {
        return fail(setting_error(
            input.origin, "input " + in_quotes(input.target) + " is given twice, first by " + other.origin.describe()));
      }
    }
    plan.inputs.push_back(std::move(input));
    return {};
  }
  if (!plan.inputs_file.value.empty()) {
    return fail(setting_error(input.origin, "a file with all inputs is given twice"));
  }
  if (is_generator(input.spec)) {
    return fail(setting_error(input.origin, "expected a file with all inputs, found " + in_quotes(input.spec)));
  }
  plan.inputs_file = {input.spec, input.origin};
  return {};
}

ToleranceRule read_rule(const Node& node, const std::string& output) {
  ToleranceRule rule{output, std::nullopt, std::nullopt, "", node.origin};
  for (const auto& [name, bound] : {std::pair("atol", &rule.atol), std::pair("rtol", &rule.rtol)}) {
    const Node* value = node.find(name);
    if (value == nullptr || value->is(Kind::kNull)) continue;
    *bound = value->number;
    rule.origin = value->origin;
  }
  if (const Node* bounds = node.find("bounds"); bounds != nullptr && bounds->is(Kind::kString)) {
    rule.bounds = bounds->text;
    rule.origin = bounds->origin;
  }
  return rule;
}

Result<void> read_tolerance(const Node& node, StepPlan& plan) {
  const auto add = [&](const Node& value, const std::string& output) -> Result<void> {
    ToleranceRule rule = read_rule(value, output);
    if (!rule.bounds.empty() && (rule.atol || rule.rtol)) {
      return fail(setting_error(rule.origin, "expected either atol and rtol or bounds on metrics, found both"));
    }
    if (!rule.bounds.empty() || rule.atol || rule.rtol) plan.tolerance.push_back(std::move(rule));
    return {};
  };
  PTERUN_TRY(add(node, ""));
  const Node* outputs = node.find("outputs");
  if (outputs == nullptr) return {};
  for (std::size_t i = 0; i < outputs->items.size(); ++i)
    PTERUN_TRY(add(outputs->items[i], outputs->names[i]));
  return {};
}

}  // namespace

bool is_generator(std::string_view spec) {
  for (const std::string_view name : {"zeros", "ones", "arange"}) {
    if (spec == name) return true;
  }
  for (const std::string_view name : {"const(", "uniform(", "normal(", "int("}) {
    if (spec.starts_with(name) && spec.ends_with(')')) return true;
  }
  return false;
}

bool is_reference_of_one_method(std::string_view spec) {
  return spec != "bundled" && spec != "executorch" && spec != "interpreter" && !spec.starts_with("pte:");
}

Result<void> read_step(const Node& step, StepPlan& plan) {
  const auto present = [&](const char* name) {
    const Node* node = step.find(name);
    return node == nullptr || node->is(Kind::kNull) ? nullptr : node;
  };
  if (const Node* inputs = present("inputs")) {
    for (const Node& entry : inputs->items)
      PTERUN_TRY(read_input(entry, plan));
  }
  if (const Node* shapes = present("shapes")) {
    for (std::size_t i = 0; i < shapes->items.size(); ++i) {
      const bool twice = std::ranges::any_of(plan.shapes, [&](const auto& s) { return s.target == shapes->names[i]; });
      if (twice) {
        return fail(setting_error(shapes->items[i].origin,
                                  "the shape of input " + in_quotes(shapes->names[i]) + " is given twice"));
      }
      PTERUN_TRY(read_shape(shapes->items[i], shapes->names[i], plan));
    }
  }
  if (const Node* orders = present("input_dim_orders")) {
    for (std::size_t i = 0; i < orders->items.size(); ++i) {
      PTERUN_TRY(read_dim_order(orders->items[i], orders->names[i], plan));
    }
  }
  if (const Node* reference = present("reference")) plan.reference = {reference->text, reference->origin};
  if (const Node* kind = present("reference_kind")) plan.reference_kind = {kind->text, kind->origin};
  if (const Node* labels = present("labels")) plan.labels = {labels->text, labels->origin};
  if (const Node* tolerance = present("tolerance")) PTERUN_TRY(read_tolerance(*tolerance, plan));
  return {};
}

}  // namespace pterun::config
