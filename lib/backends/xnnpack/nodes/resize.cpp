// StaticResizeBilinear2D.
#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {

Result<void> define_resize(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8}));
  const auto& params = std::get<xnnpack_payload::ResizeParams>(node.params);
  const std::uint32_t flags = node.flags & (xnnpack_payload::kFlagAlignCorners | xnnpack_payload::kFlagLegacyResize);
  return builder.check(
      xnn_define_static_resize_bilinear_2d(builder.subgraph(), params.height, params.width, builder.id(node.inputs[0]),
                                           builder.id(node.outputs[0]), flags),
      node);
}

}  // namespace pterun::backends::xnn
