// Walking back from a node to what is visible, then copying that part.
#include "backends/xnnpack_payload/node_graph.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "backends/xnnpack_payload/shape_inference.h"

namespace pterun::xnnpack_payload {
namespace {

template <typename T>
bool contains(std::span<const T> items, const T& item) {
  return std::ranges::find(items, item) != items.end();
}

const Node* writer_of(const PayloadGraph& graph, ValueIndex value) {
  const auto writes = [&](const Node& node) { return contains(node.output_ids(), value); };
  const auto found = std::ranges::find_if(graph.nodes, writes);
  return found == graph.nodes.end() ? nullptr : &*found;
}

// The node that makes an operand which cannot be handed over; null for all others.
const Node* hidden_writer(const PayloadGraph& graph, ValueIndex value) {
  if (value == kNoValue || graph.values[value].is_constant || is_visible(graph.values[value])) return nullptr;
  return writer_of(graph, value);
}

// Nodes in the order they run in; values are written once, so that walking back ends.
void add_nodes(const PayloadGraph& graph, const Node& node, std::vector<const Node*>& nodes) {
  for (const ValueIndex input : node.input_ids()) {
    const Node* writer = hidden_writer(graph, input);
    if (writer != nullptr && !contains<const Node*>(nodes, writer)) add_nodes(graph, *writer, nodes);
  }
  nodes.push_back(&node);
}

void add_inputs(const PayloadGraph& graph, const Node& node, std::vector<ValueIndex>& inputs) {
  for (const ValueIndex input : node.input_ids()) {
    if (input == kNoValue || graph.values[input].is_constant) continue;
    if (const Node* writer = hidden_writer(graph, input)) {
      add_inputs(graph, *writer, inputs);
    } else if (!contains<ValueIndex>(inputs, input)) {
      inputs.push_back(input);
    }
  }
}

// Copies values as they are met, under new indices.
class Copier {
 public:
  Copier(const PayloadGraph& from, PayloadGraph& to) : from_(from), to_(to) {}

  ValueIndex copy(ValueIndex value) {
    if (value == kNoValue) return kNoValue;
    const auto [known, is_new] = copies_.try_emplace(value, static_cast<ValueIndex>(to_.values.size()));
    if (is_new) {
      to_.values.push_back(from_.values[value]);
      to_.values.back().is_input = false;
      to_.values.back().is_output = false;
    }
    return known->second;
  }

  void copy(const Node& node) {
    Node& own = to_.nodes.emplace_back(node);
    for (ValueIndex& input : own.inputs)
      input = copy(input);
    for (ValueIndex& output : own.outputs)
      output = copy(output);
  }

 private:
  const PayloadGraph& from_;
  PayloadGraph& to_;
  std::map<ValueIndex, ValueIndex> copies_;
};

Error hidden_result(const PayloadGraph& graph, std::size_t position) {
  const ValueIndex result = graph.nodes[position].outputs[0];
  const auto reads = [&](const Node& node) { return contains(node.input_ids(), result); };
  const auto reader = std::ranges::find_if(graph.nodes, reads);
  Error error =
      make_error(ErrorCode::kNotSupported, fmt::format("the result of node {} ({}) exists only inside XNNPACK",
                                                       position, node_kind_name(graph.nodes[position].kind)));
  if (reader == graph.nodes.end()) return error;
  return std::move(error).with_hint(
      fmt::format("run the node that reads it: {} ({})", reader - graph.nodes.begin(), node_kind_name(reader->kind)));
}

}  // namespace

bool is_visible(const Value& value) {
  return value.quantized_as<DynamicQuantization>() == nullptr;
}

std::vector<ValueIndex> visible_inputs(const PayloadGraph& graph, const Node& node) {
  std::vector<ValueIndex> inputs;
  add_inputs(graph, node, inputs);
  return inputs;
}

Result<NodeGraph> take_node(const PayloadGraph& graph, std::size_t position) {
  if (position >= graph.nodes.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("there is no node {}, the delegate has {}", position, graph.nodes.size()));
  }
  const Node& node = graph.nodes[position];
  for (const ValueIndex output : node.output_ids())
    if (!is_visible(graph.values[output])) return fail(hidden_result(graph, position));
  PTERUN_ASSIGN(const std::vector<Shape> shapes, infer_declared_shapes(graph));

  NodeGraph taken;
  taken.inputs = visible_inputs(graph, node);
  PayloadGraph& own = taken.graph;
  Copier copier(graph, own);
  for (const ValueIndex input : taken.inputs) {
    const ValueIndex copy = copier.copy(input);
    own.values[copy].dims = shapes[input];
    own.values[copy].is_input = true;
    own.values[copy].external_id = own.num_externs++;
    own.inputs.push_back(copy);
  }
  std::vector<const Node*> nodes;
  add_nodes(graph, node, nodes);
  for (const Node* each : nodes)
    copier.copy(*each);
  taken.node = own.nodes.size() - 1;
  for (const ValueIndex output : own.nodes.back().output_ids()) {
    own.values[output].is_output = true;
    own.values[output].external_id = own.num_externs++;
    own.outputs.push_back(output);
  }
  return taken;
}

}  // namespace pterun::xnnpack_payload
