// Elementwise nodes with two inputs that broadcast, PReLU among them.
#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {
namespace {

xnn_binary_operator binary_operator(NodeKind kind) {
  switch (kind) {
    case NodeKind::kAdd: return xnn_binary_add;
    case NodeKind::kSubtract: return xnn_binary_subtract;
    case NodeKind::kMultiply: return xnn_binary_multiply;
    case NodeKind::kDiv: return xnn_binary_divide;
    case NodeKind::kMinimum: return xnn_binary_minimum;
    case NodeKind::kMaximum: return xnn_binary_maximum;
    case NodeKind::kPReLU: return xnn_binary_prelu;
    default: return xnn_binary_invalid;
  }
}

bool has_range(NodeKind kind) {
  return kind == NodeKind::kAdd || kind == NodeKind::kSubtract || kind == NodeKind::kMultiply || kind == NodeKind::kDiv;
}

}  // namespace

Result<void> define_binary(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(
      node, {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8, DataType::kInt32}));
  const xnn_binary_params params = {node.range.min, node.range.max};
  const bool bounded = has_range(node.kind) && !node.range.is_unbounded();
  if (bounded && builder.type(node.outputs[0]) == DataType::kInt32) {
    return fail(node_error(ErrorCode::kNotSupported, node, "an int32 result cannot be bounded"));
  }
  return builder.check(xnn_define_binary(builder.subgraph(), binary_operator(node.kind), bounded ? &params : nullptr,
                                         builder.id(node.inputs[0]), builder.id(node.inputs[1]),
                                         builder.id(node.outputs[0]), /*flags=*/0),
                       node);
}

}  // namespace pterun::backends::xnn
