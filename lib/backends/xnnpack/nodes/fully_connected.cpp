// FullyConnected: float, static int8, and dynamic int8 activations with int8 or 4-bit weights.
#include <fmt/format.h>

#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {

Result<void> define_fully_connected(SubgraphBuilder& builder, const Node& node) {
  const ValueIndex input = node.inputs[0];
  const ValueIndex filter = node.inputs[1];
  const ValueIndex bias = node.inputs[2];
  const ValueIndex output = node.outputs[0];
  PTERUN_TRY(
      builder.require_type(node, input, "input",
                           {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8, DataType::kQdint8}));
  PTERUN_TRY(builder.require_type(node, filter, "filter",
                                  {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8,
                                   DataType::kQcint8, DataType::kQcint4, DataType::kQbint4}));
  PTERUN_TRY(builder.require_type(node, output, "output",
                                  {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8}));
  if (bias != xnnpack_payload::kNoValue) {
    PTERUN_TRY(builder.require_type(node, bias, "bias",
                                    {DataType::kFp32, DataType::kFp16, DataType::kQint32, DataType::kQcint32}));
  }
  const std::uint32_t flags = node.flags & (xnnpack_payload::kFlagTransposeWeights | xnnpack_payload::kFlagReshape2d);
  if (builder.type(filter) == DataType::kQbint4 && (flags & xnnpack_payload::kFlagTransposeWeights) != 0) {
    return fail(node_error(ErrorCode::kNotSupported, node, "a transposed filter with blockwise scales"));
  }
  const auto* tensor = builder.value(filter).quantized_as<xnnpack_payload::PerTensorQuantization>();
  if (builder.type(filter) == DataType::kQint8 && tensor != nullptr && tensor->zero_point != 0) {
    return fail(node_error(ErrorCode::kNotSupported, node,
                           fmt::format("its qint8 filter has zero point {}; XNNPACK takes 0", tensor->zero_point)));
  }
  return builder.check(xnn_define_fully_connected(builder.subgraph(), node.range.min, node.range.max, builder.id(input),
                                                  builder.id(filter), builder.id(bias), builder.id(output), flags),
                       node);
}

}  // namespace pterun::backends::xnn
