// Passes over a list of nodes. Each looks for one pattern and rewrites it in place; dead nodes are swept at the end.
#include "backends/xnnpack/node_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::ConvolutionParams;
using xnnpack_payload::kNoValue;
using xnnpack_payload::NodeKind;
using xnnpack_payload::PadParams;
using xnnpack_payload::PerTensorQuantization;
using xnnpack_payload::ReshapeParams;
using xnnpack_payload::SliceParams;
using xnnpack_payload::TransposeParams;

class Planner {
 public:
  Planner(const PayloadGraph& graph, const std::vector<Shape>& shapes, bool specialise) : graph_(graph) {
    plan_.nodes = graph.nodes;
    plan_.shapes = shapes;
    plan_.is_specialised = specialise;
  }

  NodePlan run() {
    split_requantisation();
    fold_bounds();
    fold_padding();
    if (plan_.is_specialised) turn_into_reshapes();
    merge_reshapes();
    bypass_copies();
    sweep();  // what merging left unread would count as a reader
    if (plan_.is_specialised) {
      absorb_outer_reshapes();
      sweep();
    }
    return std::move(plan_);
  }

 private:
  const Value& value(ValueIndex index) const {
    return index < graph_.values.size() ? graph_.values[index] : plan_.added[index - graph_.values.size()];
  }
  const PerTensorQuantization* quantization(ValueIndex index) const {
    return value(index).quantized_as<PerTensorQuantization>();
  }
  bool same_type(ValueIndex a, ValueIndex b) const;

  // How many nodes read a value, an output's caller included.
  std::vector<std::size_t> count_readers() const;
  // The index of the node that writes a value.
  std::vector<std::size_t> find_writers() const;
  void replace_reads(ValueIndex from, ValueIndex to);
  // The node before `node` that writes its first input, if nobody else reads that and it is internal.
  Node* sole_producer(const Node& node, const std::vector<std::size_t>& readers,
                      const std::vector<std::size_t>& writers);

  ValueIndex add_value(Value value, const Shape& shape);
  void split_requantisation();
  void fold_bounds();
  void fold_padding();
  void turn_into_reshapes();
  void merge_reshapes();
  void bypass_copies();
  void absorb_outer_reshapes();
  void sweep();

  const PayloadGraph& graph_;
  NodePlan plan_;
};

constexpr std::size_t kNobody = SIZE_MAX;

bool is_removed(const Node& node) {
  return node.num_outputs == 0;
}
void remove(Node& node) {
  node.num_inputs = node.num_outputs = 0;
}

bool Planner::same_type(ValueIndex a, ValueIndex b) const {
  const Value& x = value(a);
  const Value& y = value(b);
  // bfloat16 is computed as float32.
  const auto inside = [](const Value& v) {
    return v.type == xnnpack_payload::DataType::kBf16 ? xnnpack_payload::DataType::kFp32 : v.type;
  };
  if (inside(x) != inside(y)) return false;
  const auto* p = quantization(a);
  const auto* q = quantization(b);
  if ((p == nullptr) != (q == nullptr)) return false;
  return p == nullptr ? std::holds_alternative<std::monostate>(x.quantization)
                      : p->scale == q->scale && p->zero_point == q->zero_point;
}

std::vector<std::size_t> Planner::count_readers() const {
  std::vector<std::size_t> readers(plan_.shapes.size());
  for (const Node& node : plan_.nodes) {
    for (const ValueIndex input : node.input_ids()) {
      if (input != kNoValue) ++readers[input];
    }
  }
  for (const ValueIndex output : graph_.outputs)
    ++readers[output];
  return readers;
}

std::vector<std::size_t> Planner::find_writers() const {
  std::vector<std::size_t> writers(plan_.shapes.size(), kNobody);
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
    for (const ValueIndex output : plan_.nodes[i].output_ids())
      writers[output] = i;
  }
  return writers;
}

void Planner::replace_reads(ValueIndex from, ValueIndex to) {
  for (Node& node : plan_.nodes) {
    for (std::size_t i = 0; i < node.num_inputs; ++i) {
      if (node.inputs[i] == from) node.inputs[i] = to;
    }
  }
}

Node* Planner::sole_producer(const Node& node, const std::vector<std::size_t>& readers,
                             const std::vector<std::size_t>& writers) {
  const ValueIndex input = node.inputs[0];
  if (value(input).is_external() || readers[input] != 1 || writers[input] == kNobody) return nullptr;
  Node& producer = plan_.nodes[writers[input]];
  return producer.num_outputs == 1 ? &producer : nullptr;
}

bool moves_elements(NodeKind kind) {
  switch (kind) {
    case NodeKind::kStaticTranspose:
    case NodeKind::kStaticReshape:
    case NodeKind::kStaticSlice:
    case NodeKind::kStaticConstantPad:
    case NodeKind::kCopy: return true;
    default: return false;
  }
}

Node make_convert(const Node& cause, ValueIndex input, ValueIndex output) {
  Node convert;
  convert.kind = NodeKind::kConvert;
  convert.file_index = cause.file_index;
  convert.num_inputs = convert.num_outputs = 1;
  convert.inputs[0] = input;
  convert.outputs[0] = output;
  return convert;
}

ValueIndex Planner::add_value(Value value, const Shape& shape) {
  plan_.added.push_back(std::move(value));
  plan_.shapes.push_back(shape);
  return static_cast<ValueIndex>(plan_.shapes.size() - 1);
}

// Exporters once let views cross from one quantisation to another.
void Planner::split_requantisation() {
  std::vector<Node> nodes;
  for (Node& node : plan_.nodes) {
    const bool candidate = moves_elements(node.kind) && quantization(node.inputs[0]) != nullptr &&
                           quantization(node.outputs[0]) != nullptr &&
                           value(node.inputs[0]).type == value(node.outputs[0]).type;
    if (!candidate || same_type(node.inputs[0], node.outputs[0])) {
      nodes.push_back(std::move(node));
      continue;
    }
    // By way of float32: XNNPACK's own conversion between two int8 types rounds halves up, eager to even.
    Value moved = value(node.outputs[0]);
    moved.quantization = *quantization(node.inputs[0]);
    moved.is_output = false;
    Value real = moved;
    real.type = xnnpack_payload::DataType::kFp32;
    real.quantization = {};
    const Shape shape = plan_.shapes[node.outputs[0]];
    const ValueIndex moved_index = add_value(std::move(moved), shape);
    const ValueIndex real_index = add_value(std::move(real), shape);
    const Node from = make_convert(node, moved_index, real_index);
    const Node to = make_convert(node, real_index, node.outputs[0]);
    node.outputs[0] = moved_index;
    nodes.push_back(std::move(node));
    nodes.push_back(from);
    nodes.push_back(to);
  }
  plan_.nodes = std::move(nodes);
}

bool takes_bounds(NodeKind kind) {
  switch (kind) {
    case NodeKind::kClamp:
    case NodeKind::kFullyConnected:
    case NodeKind::kConv2d:
    case NodeKind::kDepthwiseConv2d:
    case NodeKind::kConvTranspose2d:
    case NodeKind::kAvgPooling2d:
    case NodeKind::kMaxPooling2d:
    case NodeKind::kAdd:
    case NodeKind::kSubtract:
    case NodeKind::kMultiply:
    case NodeKind::kDiv: return true;
    default: return false;
  }
}

void Planner::fold_bounds() {
  const auto readers = count_readers();
  const auto writers = find_writers();
  for (Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kClamp || !same_type(node.inputs[0], node.outputs[0])) continue;
    Node* producer = sole_producer(node, readers, writers);
    if (producer == nullptr || is_removed(*producer) || !takes_bounds(producer->kind)) continue;
    const float min = std::max(producer->range.min, node.range.min);
    const float max = std::min(producer->range.max, node.range.max);
    if (!(min < max)) continue;  // disjoint: the second bound decides alone
    producer->range = {min, max};
    producer->outputs[0] = node.outputs[0];
    remove(node);
    // `writers` still leads from the producer's new output to the removed Clamp: a Clamp after a Clamp is left alone.
  }
}

bool is_zero(float padding, const PerTensorQuantization* quantization) {
  if (quantization == nullptr) return padding == 0.0f;
  return std::nearbyint(padding / quantization->scale) == 0.0f;
}

void Planner::fold_padding() {
  const auto readers = count_readers();
  const auto writers = find_writers();
  for (Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kConv2d && node.kind != NodeKind::kDepthwiseConv2d) continue;
    if ((node.flags & xnnpack_payload::kFlagSamePadding) != 0) continue;
    Node* pad = sole_producer(node, readers, writers);
    if (pad == nullptr || pad->kind != NodeKind::kStaticConstantPad) continue;
    const auto& p = std::get<PadParams>(pad->params);
    const bool spatial = p.before.size() == 4 && (p.before[0] | p.after[0] | p.before[3] | p.after[3]) == 0;
    if (!spatial || !is_zero(p.value, quantization(node.inputs[0]))) continue;
    auto& c = std::get<ConvolutionParams>(node.params);
    c.pad_top += p.before[1];
    c.pad_bottom += p.after[1];
    c.pad_left += p.before[2];
    c.pad_right += p.after[2];
    node.inputs[0] = pad->inputs[0];
    remove(*pad);
  }
}

// Whether the output is the input's bytes under another shape.
bool keeps_bytes(const Node& node, const Shape& input, const Shape& output) {
  switch (node.kind) {
    case NodeKind::kStaticTranspose: {
      std::uint32_t last = 0;
      for (const std::uint32_t dim : std::get<TransposeParams>(node.params).permutation) {
        if (input[dim] == 1) continue;
        if (dim < last) return false;
        last = dim;
      }
      return true;
    }
    case NodeKind::kStaticSlice:
    case NodeKind::kStaticConstantPad: return input == output;
    case NodeKind::kStaticReshape:
    case NodeKind::kCopy: return true;
    default: return false;
  }
}

void Planner::turn_into_reshapes() {
  for (Node& node : plan_.nodes) {
    if (is_removed(node) || !moves_elements(node.kind)) continue;
    const Shape& output = plan_.shapes[node.outputs[0]];
    if (node.kind == NodeKind::kStaticReshape && output.numel() == 0) continue;
    if (output.numel() == 0 || !keeps_bytes(node, plan_.shapes[node.inputs[0]], output)) continue;
    ReshapeParams params;
    for (const std::int64_t size : output)
      params.shape.push_back(static_cast<std::uint32_t>(size));
    node.kind = NodeKind::kStaticReshape;
    node.params = std::move(params);
    node.flags = 0;
  }
}

void Planner::merge_reshapes() {
  const auto writers = find_writers();
  for (Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kStaticReshape || is_removed(node)) continue;
    const std::size_t writer = writers[node.inputs[0]];
    if (writer == kNobody || plan_.nodes[writer].kind != NodeKind::kStaticReshape) continue;
    node.inputs[0] = plan_.nodes[writer].inputs[0];
  }
}

// Copies, conversions from a type to itself and reshapes to the same shape.
void Planner::bypass_copies() {
  for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
    Node& node = plan_.nodes[i];
    if (is_removed(node)) continue;
    const bool copies = node.kind == NodeKind::kCopy || node.kind == NodeKind::kConvert ||
                        (plan_.is_specialised && node.kind == NodeKind::kStaticReshape);
    const ValueIndex input = node.inputs[0];
    const ValueIndex output = node.outputs[0];
    if (!copies || !same_type(input, output) || !(plan_.shapes[input] == plan_.shapes[output])) continue;
    if (!value(output).is_output) {
      replace_reads(output, input);
      remove(node);
      continue;
    }
    // Into an output: its producer writes there, unless the value is an input, a constant or another output.
    const std::size_t writer = find_writers()[input];
    if (writer == kNobody || value(input).is_external()) continue;
    for (ValueIndex& written : plan_.nodes[writer].outputs) {
      if (written == input) written = output;
    }
    remove(node);
    replace_reads(input, output);
  }
}

// XNNPACK gives a value one shape; that of an input or output of the delegate may be another inside than outside.
void Planner::absorb_outer_reshapes() {
  const auto readers = count_readers();
  const auto writers = find_writers();
  for (Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kStaticReshape || is_removed(node)) continue;
    const ValueIndex input = node.inputs[0];
    const ValueIndex output = node.outputs[0];
    if (!same_type(input, output)) continue;
    if (value(input).is_input && readers[input] == 1 && !value(output).is_output) {
      plan_.shapes[input] = Shape(plan_.shapes[output]);
      replace_reads(output, input);
      remove(node);
    } else if (value(output).is_output && !value(input).is_external() && readers[input] == 1 && readers[output] == 1 &&
               writers[input] != kNobody) {
      Node& producer = plan_.nodes[writers[input]];
      if (is_removed(producer)) continue;
      for (ValueIndex& written : producer.outputs) {
        if (written == input) written = output;
      }
      plan_.shapes[output] = Shape(plan_.shapes[input]);
      remove(node);
    }
  }
}

void Planner::sweep() {
  std::vector<bool> is_read(plan_.shapes.size());
  for (const ValueIndex output : graph_.outputs)
    is_read[output] = true;
  for (std::size_t i = plan_.nodes.size(); i-- > 0;) {
    Node& node = plan_.nodes[i];
    const bool needed = std::ranges::any_of(node.output_ids(), [&](ValueIndex output) { return is_read[output]; });
    if (!needed) {
      remove(node);
      continue;
    }
    for (const ValueIndex input : node.input_ids()) {
      if (input != kNoValue) is_read[input] = true;
    }
  }
  std::erase_if(plan_.nodes, is_removed);
}

}  // namespace

NodePlan plan_nodes(const PayloadGraph& graph, const std::vector<Shape>& shapes, bool specialise) {
  return Planner(graph, shapes, specialise).run();
}

}  // namespace pterun::backends::xnn
