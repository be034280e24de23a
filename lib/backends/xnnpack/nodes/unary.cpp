// Elementwise nodes with one input, and Convert between types.
#include <fmt/format.h>

#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::SlopeParams;

xnn_unary_operator unary_operator(NodeKind kind) {
  switch (kind) {
    case NodeKind::kSigmoid: return xnn_unary_sigmoid;
    case NodeKind::kClamp: return xnn_unary_clamp;
    case NodeKind::kFloor: return xnn_unary_floor;
    case NodeKind::kSquareRoot: return xnn_unary_square_root;
    case NodeKind::kCeiling: return xnn_unary_ceiling;
    case NodeKind::kHardswish: return xnn_unary_hardswish;
    case NodeKind::kLeakyReLU: return xnn_unary_leaky_relu;
    case NodeKind::kNegate: return xnn_unary_negate;
    case NodeKind::kSquare: return xnn_unary_square;
    case NodeKind::kELU: return xnn_unary_elu;
    case NodeKind::kAbs: return xnn_unary_abs;
    case NodeKind::kReciprocalSquareRoot: return xnn_unary_reciprocal_square_root;
    case NodeKind::kLog: return xnn_unary_log;
    case NodeKind::kGelu: return xnn_unary_gelu;
    case NodeKind::kTanh: return xnn_unary_tanh;
    case NodeKind::kExp: return xnn_unary_exp;
    case NodeKind::kSin: return xnn_unary_sine;
    case NodeKind::kCos: return xnn_unary_cosine;
    default: return xnn_unary_invalid;
  }
}

}  // namespace

Result<void> define_unary(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(
      node, {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8, DataType::kInt32}));
  xnn_unary_params params{};
  const xnn_unary_params* used = nullptr;
  if (node.kind == NodeKind::kClamp) {
    params.clamp = {node.range.min, node.range.max};
    used = &params;
  } else if (node.kind == NodeKind::kLeakyReLU) {
    params.leaky_relu.negative_slope = std::get<SlopeParams>(node.params).slope;
    used = &params;
  } else if (node.kind == NodeKind::kELU) {
    params.elu.alpha = std::get<SlopeParams>(node.params).slope;
    used = &params;
  }
  return builder.check(xnn_define_unary(builder.subgraph(), unary_operator(node.kind), used, builder.id(node.inputs[0]),
                                        builder.id(node.outputs[0]), /*flags=*/0),
                       node);
}

Result<void> define_convert(SubgraphBuilder& builder, const Node& node) {
  const ValueIndex input = node.inputs[0];
  const ValueIndex output = node.outputs[0];
  if (builder.type(output) == DataType::kQdint8) {
    PTERUN_TRY(builder.require_type(node, input, "input", {DataType::kFp32, DataType::kFp16}));
  } else {
    const std::initializer_list<DataType> types = {DataType::kFp32, DataType::kFp16, DataType::kQint8,
                                                   DataType::kQuint8, DataType::kInt32};
    PTERUN_TRY(builder.require_type(node, input, "input", types));
    PTERUN_TRY(builder.require_type(node, output, "output", types));
  }
  // What a file says about packing the result for a certain kernel (flag 0x100) is not what this XNNPACK means by it.
  const bool is_plain_float = builder.type(input) == builder.type(output) &&
                              (builder.type(input) == DataType::kFp32 || builder.type(input) == DataType::kFp16);
  const std::uint32_t input_id = builder.id(input);
  const std::uint32_t output_id = builder.id(output);
  if (is_plain_float) return builder.check(xnn_define_copy(builder.subgraph(), input_id, output_id, 0), node);
  return builder.check(
      xnn_define_unary(builder.subgraph(), xnn_unary_convert, nullptr, input_id, output_id, /*flags=*/0), node);
}

}  // namespace pterun::backends::xnn
