// BatchMatrixMultiply: float, and dynamic int8 activations with a constant int8 operand.
#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {

Result<void> define_batch_matmul(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(
      builder.require_type(node, node.inputs[0], "first input", {DataType::kFp32, DataType::kFp16, DataType::kQdint8}));
  PTERUN_TRY(builder.require_type(node, node.inputs[1], "second input",
                                  {DataType::kFp32, DataType::kFp16, DataType::kQcint8}));
  PTERUN_TRY(builder.require_type(node, node.outputs[0], "output", {DataType::kFp32, DataType::kFp16}));
  const std::uint32_t flags = node.flags & xnnpack_payload::kFlagTransposeWeights;
  return builder.check(xnn_define_batch_matrix_multiply(builder.subgraph(), builder.id(node.inputs[0]),
                                                        builder.id(node.inputs[1]), builder.id(node.outputs[0]), flags),
                       node);
}

}  // namespace pterun::backends::xnn
