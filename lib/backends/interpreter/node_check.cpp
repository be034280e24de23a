// Nodes in order; what was seen replaces what was computed before the next node reads it.
#include "backends/interpreter/node_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "backends/interpreter/run_node.h"
#include "backends/xnnpack_payload/node_graph.h"

namespace pterun::backends::interpreter {
namespace {

using xnnpack_payload::kNoValue;
using xnnpack_payload::Node;
using xnnpack_payload::NodeKind;
using xnnpack_payload::PayloadGraph;
using xnnpack_payload::PerTensorQuantization;
using xnnpack_payload::ValueIndex;

double largest(const Reals& reals) {
  double result = 0;
  for (const double real : reals)
    if (std::isfinite(real)) result = std::max(result, std::abs(real));
  return result;
}

// The step of a dynamically quantised activation: its range over the 255 steps of 8 bits. The widest row counts.
double dynamic_step(const Reals& reals) {
  double low = 0;
  double high = 0;
  for (const double real : reals) {
    if (!std::isfinite(real)) continue;
    low = std::min(low, real);
    high = std::max(high, real);
  }
  return (high - low) / 255.0;
}

bool is_product(NodeKind kind) {
  switch (kind) {
    case NodeKind::kBatchMatrixMultiply:
    case NodeKind::kConv2d:
    case NodeKind::kConvTranspose2d:
    case NodeKind::kDepthwiseConv2d:
    case NodeKind::kFullyConnected: return true;
    default: return false;
  }
}

// See NodeCheck::rounding.
double rounding_of(const PayloadGraph& graph, const Node& node, const std::vector<Reals>& reals) {
  double rounding = 0;
  if (const auto* own = graph.values[node.outputs[0]].quantized_as<PerTensorQuantization>()) rounding = own->scale;
  for (const ValueIndex input : node.input_ids()) {
    if (input == kNoValue || graph.values[input].type != xnnpack_payload::DataType::kQdint8) continue;
    const double weight = is_product(node.kind) && node.inputs[1] != kNoValue ? largest(reals[node.inputs[1]]) : 1.0;
    rounding += dynamic_step(reals[input]) * weight;
  }
  return rounding;
}

// Indices moved about: not numbers of this graph.
bool is_integer(const xnnpack_payload::Value& value, const Tensor& seen) {
  return std::holds_alternative<std::monostate>(value.quantization) &&
         (seen.dtype() == DType::kInt32 || seen.dtype() == DType::kInt64);
}

bool holds_indices(const Node& node, std::size_t output) {
  return node.kind == NodeKind::kArgMaxPooling2d && output == 1;
}

class Checker {
 public:
  Checker(const PayloadGraph& graph, std::span<const Shape> shapes, std::span<const std::optional<Tensor>> seen)
      : graph_(graph), shapes_(shapes), seen_(seen), reals_(graph.values.size()) {}

  Result<void> run(const NodeVisitor& visitor) {
    if (shapes_.size() < graph_.values.size() || seen_.size() < graph_.values.size()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("the graph has {} values, {} were seen", graph_.values.size(), seen_.size()));
    }
    for (ValueIndex value = 0; value < graph_.values.size(); ++value) {
      if (graph_.values[value].is_constant) {
        PTERUN_ASSIGN(reals_[value], constant_reals(graph_.values[value]));
      } else if (graph_.values[value].is_input && seen_[value]) {
        PTERUN_ASSIGN(reals_[value], read_tensor(graph_.values[value], *seen_[value]));
      }
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      PTERUN_TRY(check(i, visitor));
    return {};
  }

 private:
  Result<void> check(std::size_t position, const NodeVisitor& visitor) {
    const Node& node = graph_.nodes[position];
    PTERUN_TRY(run_node(graph_, node, shapes_, reals_));
    for (std::size_t i = 0; i < node.output_ids().size(); ++i) {
      const ValueIndex output = node.output_ids()[i];
      if (!seen_[output] || holds_indices(node, i) || is_integer(graph_.values[output], *seen_[output])) continue;
      PTERUN_ASSIGN(Reals got, read_tensor(graph_.values[output], *seen_[output]));
      if (got.size() != reals_[output].size()) {
        return fail(ErrorCode::kInvalidArgument, fmt::format("node {} gives {} elements, {} were seen", position,
                                                             reals_[output].size(), got.size()));
      }
      const Reals want = std::move(reals_[output]);
      reals_[output] = std::move(got);
      NodeCheck result;
      result.node = &node;
      result.position = position;
      for (const ValueIndex input : xnnpack_payload::visible_inputs(graph_, node))
        result.inputs.push_back({input, &shapes_[input], &reals_[input]});
      result.output = {output, &shapes_[output], &reals_[output]};
      result.want = &want;
      result.dtype = seen_[output]->dtype();
      result.rounding = rounding_of(graph_, node, reals_);
      PTERUN_TRY(visitor(result));
    }
    return {};
  }

  const PayloadGraph& graph_;
  std::span<const Shape> shapes_;
  std::span<const std::optional<Tensor>> seen_;
  std::vector<Reals> reals_;  // by value: what was seen, or computed where nothing was
};

}  // namespace

Result<void> check_nodes(const PayloadGraph& graph, std::span<const Shape> shapes,
                         std::span<const std::optional<Tensor>> seen, const NodeVisitor& visitor) {
  return Checker(graph, shapes, seen).run(visitor);
}

}  // namespace pterun::backends::interpreter
