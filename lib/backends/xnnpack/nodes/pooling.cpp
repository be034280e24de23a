// Pooling nodes, over windows and over whole images.
#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::PoolingParams;

std::uint32_t pooling_flags(const Node& node) {
  return node.flags & xnnpack_payload::kFlagSamePadding;
}

}  // namespace

Result<void> define_average_pooling(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, {DataType::kFp32, DataType::kFp16}));
  const auto& p = std::get<PoolingParams>(node.params);
  return builder.check(xnn_define_average_pooling_2d(
                           builder.subgraph(), p.pad_top, p.pad_right, p.pad_bottom, p.pad_left, p.window_height,
                           p.window_width, p.stride_height, p.stride_width, node.range.min, node.range.max,
                           builder.id(node.inputs[0]), builder.id(node.outputs[0]), pooling_flags(node)),
                       node);
}

Result<void> define_max_pooling(SubgraphBuilder& builder, const Node& node) {
  const auto& p = std::get<PoolingParams>(node.params);
  // XNNPACK refuses a window of one pixel; the average over it is the same.
  if (p.window_height == 1 && p.window_width == 1) return define_average_pooling(builder, node);
  PTERUN_TRY(builder.require_same_type(node, {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8}));
  return builder.check(
      xnn_define_max_pooling_2d(builder.subgraph(), p.pad_top, p.pad_right, p.pad_bottom, p.pad_left, p.window_height,
                                p.window_width, p.stride_height, p.stride_width, p.dilation_height, p.dilation_width,
                                node.range.min, node.range.max, builder.id(node.inputs[0]), builder.id(node.outputs[0]),
                                pooling_flags(node)),
      node);
}

Result<void> define_argmax_pooling(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_type(node, node.inputs[0], "input", {DataType::kFp32}));
  PTERUN_TRY(builder.require_type(node, node.outputs[0], "output", {DataType::kFp32}));
  PTERUN_TRY(builder.require_type(node, node.outputs[1], "index output", {DataType::kFp32, DataType::kInt32}));
  const auto& p = std::get<PoolingParams>(node.params);
  return builder.check(
      xnn_define_argmax_pooling_2d(builder.subgraph(), p.pad_top, p.pad_right, p.pad_bottom, p.pad_left,
                                   p.window_height, p.window_width, builder.id(node.inputs[0]),
                                   builder.id(node.outputs[0]), builder.id(node.outputs[1]), pooling_flags(node)),
      node);
}

Result<void> define_global_average_pooling(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8}));
  const auto rank = static_cast<std::int64_t>(builder.shape(node.inputs[0]).rank());
  const std::int64_t axes[] = {rank - 3, rank - 2};
  const std::uint32_t flags = node.flags & xnnpack_payload::kFlagKeepDims;
  std::uint32_t output = builder.id(node.outputs[0]);
  const bool bounded = !node.range.is_unbounded();
  if (bounded) {
    PTERUN_TRY(builder.require_type(node, node.outputs[0], "bounded output", {DataType::kFp32, DataType::kFp16}));
    PTERUN_ASSIGN(output, builder.add_value(node, builder.type(node.outputs[0]), builder.shape(node.outputs[0])));
  }
  PTERUN_TRY(builder.check(xnn_define_static_reduce_v2(builder.subgraph(), xnn_reduce_mean, 2, axes,
                                                       builder.id(node.inputs[0]), output, flags),
                           node));
  if (!bounded) return {};
  xnn_unary_params params{};
  params.clamp = {node.range.min, node.range.max};
  return builder.check(
      xnn_define_unary(builder.subgraph(), xnn_unary_clamp, &params, output, builder.id(node.outputs[0]), /*flags=*/0),
      node);
}

}  // namespace pterun::backends::xnn
