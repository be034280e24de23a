// Multiplications and bytes by node kind, at measured rates.
#include "backends/xnnpack/work_estimate.h"

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::ConvolutionParams;
using xnnpack_payload::Node;
using xnnpack_payload::NodeKind;
using xnnpack_payload::PayloadGraph;

// Measured on one core of a Sapphire Rapids server: float32 FullyConnected 62 products a ns, int8 252.
constexpr double kFloatProductsPerNs = 60;
constexpr double kInt8ProductsPerNs = 200;
constexpr double kElementsPerNs = 4;  // elementwise and moves
// Several times what waking costs. Products alone count: where one row waits for its weights, as in Silero's LSTM cell,
// a second thread gained 1 us of 23 on an idle machine, and lost 10 on a busy one.
constexpr double kNsPerNodeWorthThreads = 1200;

double products_per_output(const Node& node, const std::vector<Shape>& shapes) {
  switch (node.kind) {
    case NodeKind::kFullyConnected:
    case NodeKind::kBatchMatrixMultiply: {
      const Shape& input = shapes[node.inputs[0]];
      return input.rank() == 0 ? 1 : static_cast<double>(input[input.rank() - 1]);
    }
    case NodeKind::kConv2d:
    case NodeKind::kDepthwiseConv2d:
    case NodeKind::kConvTranspose2d: {
      const auto& p = std::get<ConvolutionParams>(node.params);
      return static_cast<double>(p.kernel_height) * p.kernel_width * p.group_input_channels;
    }
    default: return 0;
  }
}

double node_ns(const PayloadGraph& graph, const Node& node, const std::vector<Shape>& shapes) {
  const auto outputs = static_cast<double>(shapes[node.outputs[0]].numel());
  const double products = outputs * products_per_output(node, shapes);
  if (products == 0) return outputs / kElementsPerNs;
  const xnnpack_payload::Value& weights = graph.values[node.inputs[1]];
  const bool narrow = xnnpack_payload::data_type_bits(weights.type) <= 8;
  return products / (narrow ? kInt8ProductsPerNs : kFloatProductsPerNs);
}

// On one thread; right within a factor of three.
double estimate_ns(const PayloadGraph& graph, const std::vector<Shape>& shapes) {
  double total = 0;
  for (const Node& node : graph.nodes)
    total += node_ns(graph, node, shapes);
  return total;
}

}  // namespace

bool is_worth_threads(const PayloadGraph& graph, const std::vector<Shape>& shapes) {
  return estimate_ns(graph, shapes) >= kNsPerNodeWorthThreads * static_cast<double>(graph.nodes.size());
}

}  // namespace pterun::backends::xnn
