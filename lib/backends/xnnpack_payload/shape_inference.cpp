// Shape rules by node kind. Sizes come from files and from callers: every sum and product is bounded before it is used.
#include "backends/xnnpack_payload/shape_inference.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack_payload/shape_rule.h"

namespace pterun::xnnpack_payload {

Result<void> ShapeRule::broadcast() {
  const Shape& a = in(0);
  const Shape& b = in(1);
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape result = Shape::filled(rank, 1);
  for (std::size_t i = 1; i <= rank; ++i) {
    const std::int64_t da = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t db = i <= b.rank() ? b[b.rank() - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return error(fmt::format("shapes {} and {} do not broadcast", a.to_string(), b.to_string()));
    }
    result[rank - i] = da == 1 ? db : da;
  }
  return set(result);
}

Result<void> ShapeRule::run() {
  using enum NodeKind;
  switch (node_.kind) {
    case kAdd:
    case kSubtract:
    case kMultiply:
    case kDiv:
    case kMinimum:
    case kMaximum:
    case kPReLU: return broadcast();
    case kSoftmax:
      if (in(0).rank() == 0) return mismatch("needs at least one dim", 0);
      return set(in(0));
    case kSigmoid:
    case kClamp:
    case kFloor:
    case kConvert:
    case kSquareRoot:
    case kCeiling:
    case kHardswish:
    case kLeakyReLU:
    case kNegate:
    case kSquare:
    case kELU:
    case kAbs:
    case kReciprocalSquareRoot:
    case kLog:
    case kGelu:
    case kTanh:
    case kExp:
    case kSin:
    case kCopy:
    case kCos: return set(in(0));
    case kFullyConnected: return fully_connected();
    case kConv2d:
    case kDepthwiseConv2d: return convolution();
    case kConvTranspose2d: return transposed_convolution();
    case kAvgPooling2d:
    case kMaxPooling2d:
    case kArgMaxPooling2d: return pooling();
    case kGlobalAvgPooling2d: return global_pooling();
    case kBatchMatrixMultiply: return matmul();
    case kStaticTranspose: return transpose();
    case kStaticReshape: return reshape();
    case kStaticSlice: return slice();
    case kStaticConstantPad: return pad();
    case kStaticResizeBilinear2D: return resize();
    case kConcatenate2:
    case kConcatenate3:
    case kConcatenate4:
    case kConcatenate5: return concatenate();
    case kScaledDotProductAttention: return set(in(0));  // [.., tokens, channels] of the query
  }
  return error("is of an unknown kind");
}

Result<void> infer_node_shapes(const PayloadGraph& graph, const Node& node, std::span<Shape> shapes) {
  return ShapeRule(graph, node, shapes).run();
}

Result<std::vector<Shape>> infer_shapes(const PayloadGraph& graph, std::span<const Shape> inputs) {
  std::vector<Shape> shapes(graph.values.size());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    shapes[i] = graph.values[i].dims;
  for (std::size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (inputs[i].rank() != value.dims.rank()) {
      return fail(make_error(ErrorCode::kInvalidArgument,
                             fmt::format("XNNPACK input {}: expected {} dims as in {}, found {}", value.external_id,
                                         value.dims.rank(), value.dims.to_string(), inputs[i].to_string())));
    }
    shapes[graph.inputs[i]] = inputs[i];
  }
  for (const Node& node : graph.nodes)
    PTERUN_TRY(infer_node_shapes(graph, node, shapes));
  return shapes;
}

Result<std::vector<Shape>> infer_declared_shapes(const PayloadGraph& graph) {
  std::vector<Shape> inputs;
  for (const ValueIndex input : graph.inputs)
    inputs.push_back(graph.values[input].dims);
  auto shapes = infer_shapes(graph, inputs);
  if (shapes) return shapes;
  Error error = std::move(shapes).error().with_blame(Blame::kProgram);
  error.code = ErrorCode::kInvalidProgram;
  return fail(std::move(error));
}

}  // namespace pterun::xnnpack_payload
