// Unary and binary nodes, PReLU and softmax.
#include <algorithm>
#include <cmath>

#include "backends/interpreter/kernels.h"
#include "backends/interpreter/window.h"

namespace pterun::backends::interpreter {
namespace {

using xnnpack_payload::Node;
using xnnpack_payload::NodeKind;

double slope_of(const Node& node) {
  return std::get<xnnpack_payload::SlopeParams>(node.params).slope;
}

double unary(const Node& node, double x) {
  switch (node.kind) {
    case NodeKind::kAbs: return std::abs(x);
    case NodeKind::kCeiling: return std::ceil(x);
    case NodeKind::kClamp: return clamp_to(node, x);
    case NodeKind::kCos: return std::cos(x);
    case NodeKind::kELU: return x > 0 || std::isnan(x) ? x : slope_of(node) * std::expm1(x);
    case NodeKind::kExp: return std::exp(x);
    case NodeKind::kFloor: return std::floor(x);
    case NodeKind::kGelu: return x * 0.5 * (1.0 + std::erf(x * M_SQRT1_2));
    case NodeKind::kHardswish: return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0;
    case NodeKind::kLeakyReLU: return x >= 0 || std::isnan(x) ? x : slope_of(node) * x;
    case NodeKind::kLog: return std::log(x);
    case NodeKind::kNegate: return -x;
    case NodeKind::kReciprocalSquareRoot: return 1.0 / std::sqrt(x);
    case NodeKind::kSigmoid: return 1.0 / (1.0 + std::exp(-x));
    case NodeKind::kSin: return std::sin(x);
    case NodeKind::kSquare: return x * x;
    case NodeKind::kSquareRoot: return std::sqrt(x);
    case NodeKind::kTanh: return std::tanh(x);
    default: return x;
  }
}

double binary(const Node& node, double a, double b) {
  const bool any_nan = std::isnan(a) || std::isnan(b);
  switch (node.kind) {
    case NodeKind::kAdd: return clamp_to(node, a + b);
    case NodeKind::kSubtract: return clamp_to(node, a - b);
    case NodeKind::kMultiply: return clamp_to(node, a * b);
    case NodeKind::kDiv: return clamp_to(node, a / b);
    case NodeKind::kMaximum: return any_nan ? NAN : std::max(a, b);
    case NodeKind::kMinimum: return any_nan ? NAN : std::min(a, b);
    default: return NAN;
  }
}

// The index into an operand of `shape` that element `index` of `out` is computed from, by broadcasting.
std::size_t broadcast_index(std::size_t index, const Shape& out, const Shape& shape) {
  std::size_t result = 0;
  std::size_t stride = 1;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    const std::size_t dim = out.rank() - 1 - i;
    const auto coordinate = index % static_cast<std::size_t>(out[dim]);
    index /= static_cast<std::size_t>(out[dim]);
    if (i >= shape.rank()) continue;
    const auto size = static_cast<std::size_t>(shape[shape.rank() - 1 - i]);
    if (size > 1) result += coordinate * stride;
    stride *= size;
  }
  return result;
}

template <typename Compute>
void for_pairs(const NodeCall& call, const Compute& compute) {
  const Shape& out = call.output_shapes[0];
  const auto count = static_cast<std::size_t>(out.numel());
  for (std::size_t i = 0; i < count; ++i) {
    const double a = (*call.inputs[0])[broadcast_index(i, out, call.input_shapes[0])];
    const double b = (*call.inputs[1])[broadcast_index(i, out, call.input_shapes[1])];
    call.outputs[0]->push_back(compute(a, b));
  }
}

}  // namespace

void run_unary(const NodeCall& call) {
  for (const double x : *call.inputs[0])
    call.outputs[0]->push_back(unary(*call.node, x));
}

void run_binary(const NodeCall& call) {
  for_pairs(call, [&](double a, double b) { return binary(*call.node, a, b); });
}

void run_prelu(const NodeCall& call) {
  for_pairs(call, [](double x, double slope) { return x < 0 ? x * slope : x; });
}

// Over the last dimension.
void run_softmax(const NodeCall& call) {
  const Shape& shape = call.input_shapes[0];
  const auto width = static_cast<std::size_t>(shape[shape.rank() - 1]);
  const Reals& input = *call.inputs[0];
  Reals& output = *call.outputs[0];
  output.resize(input.size());
  for (std::size_t row = 0; width != 0 && row < input.size(); row += width) {
    double largest = input[row];
    for (std::size_t i = 1; i < width; ++i)
      largest = std::max(largest, input[row + i]);
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i)
      sum += output[row + i] = std::exp(input[row + i] - largest);
    for (std::size_t i = 0; i < width; ++i)
      output[row + i] /= sum;
  }
}

}  // namespace pterun::backends::interpreter
