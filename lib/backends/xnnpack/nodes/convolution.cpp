// Conv2d, DepthwiseConv2d, ConvTranspose2d: float, static int8, and dynamic int8 activations with int8 weights.
#include <fmt/format.h>

#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::ConvolutionParams;

// Filter and bias must be constant, and of types that XNNPACK's own checks know.
Result<void> check_operands(SubgraphBuilder& builder, const Node& node) {
  const ValueIndex filter = node.inputs[1];
  const ValueIndex bias = node.inputs[2];
  PTERUN_TRY(
      builder.require_type(node, node.inputs[0], "input",
                           {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8, DataType::kQdint8}));
  PTERUN_TRY(builder.require_type(node, filter, "filter",
                                  {DataType::kFp32, DataType::kQint8, DataType::kQuint8, DataType::kQcint8}));
  PTERUN_TRY(builder.require_type(node, node.outputs[0], "output",
                                  {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8}));
  if (!builder.value(filter).is_constant) {
    return fail(node_error(ErrorCode::kNotSupported, node, "its filter is not constant"));
  }
  const auto* tensor = builder.value(filter).quantized_as<xnnpack_payload::PerTensorQuantization>();
  if (builder.type(filter) == DataType::kQint8 && tensor != nullptr && tensor->zero_point != 0) {
    return fail(node_error(ErrorCode::kNotSupported, node,
                           fmt::format("its qint8 filter has zero point {}; XNNPACK takes 0", tensor->zero_point)));
  }
  if (bias == xnnpack_payload::kNoValue) return {};
  if (!builder.value(bias).is_constant) {
    return fail(node_error(ErrorCode::kNotSupported, node, "its bias is not constant"));
  }
  return builder.require_type(node, bias, "bias", {DataType::kFp32, DataType::kQint32, DataType::kQcint32});
}

std::uint32_t convolution_flags(const Node& node) {
  return node.flags & xnnpack_payload::kFlagSamePadding;
}

}  // namespace

Result<void> define_convolution(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(check_operands(builder, node));
  const auto& p = std::get<ConvolutionParams>(node.params);
  return builder.check(
      xnn_define_convolution_2d(builder.subgraph(), p.pad_top, p.pad_right, p.pad_bottom, p.pad_left, p.kernel_height,
                                p.kernel_width, p.stride_height, p.stride_width, p.dilation_height, p.dilation_width,
                                p.groups, p.group_input_channels, p.group_output_channels, node.range.min,
                                node.range.max, builder.id(node.inputs[0]), builder.id(node.inputs[1]),
                                builder.id(node.inputs[2]), builder.id(node.outputs[0]), convolution_flags(node)),
      node);
}

Result<void> define_depthwise_convolution(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(check_operands(builder, node));
  const auto& p = std::get<ConvolutionParams>(node.params);
  const std::uint32_t depth_multiplier = p.group_output_channels / p.group_input_channels;
  return builder.check(
      xnn_define_depthwise_convolution_2d(
          builder.subgraph(), p.pad_top, p.pad_right, p.pad_bottom, p.pad_left, p.kernel_height, p.kernel_width,
          p.stride_height, p.stride_width, p.dilation_height, p.dilation_width, depth_multiplier,
          /*input_channels=*/p.groups, node.range.min, node.range.max, builder.id(node.inputs[0]),
          builder.id(node.inputs[1]), builder.id(node.inputs[2]), builder.id(node.outputs[0]), convolution_flags(node)),
      node);
}

Result<void> define_transposed_convolution(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(check_operands(builder, node));
  const auto& p = std::get<ConvolutionParams>(node.params);
  return builder.check(
      xnn_define_deconvolution_2d(builder.subgraph(), p.pad_top, p.pad_right, p.pad_bottom, p.pad_left, p.adjust_height,
                                  p.adjust_width, p.kernel_height, p.kernel_width, p.stride_height, p.stride_width,
                                  p.dilation_height, p.dilation_width, p.groups, p.group_input_channels,
                                  p.group_output_channels, node.range.min, node.range.max, builder.id(node.inputs[0]),
                                  builder.id(node.inputs[1]), builder.id(node.inputs[2]), builder.id(node.outputs[0]),
                                  /*flags=*/0),
      node);
}

}  // namespace pterun::backends::xnn
