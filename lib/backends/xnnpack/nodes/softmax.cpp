// Softmax over the last dimension.
#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {

Result<void> define_softmax(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, {DataType::kFp32, DataType::kFp16}));
  return builder.check(
      xnn_define_softmax(builder.subgraph(), builder.id(node.inputs[0]), builder.id(node.outputs[0]), /*flags=*/0),
      node);
}

}  // namespace pterun::backends::xnn
