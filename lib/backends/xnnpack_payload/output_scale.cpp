// Following an output back to the value that has its scale.
#include "backends/xnnpack_payload/output_scale.h"

#include <algorithm>

namespace pterun::xnnpack_payload {
namespace {

const Node* writer_of(const PayloadGraph& graph, ValueIndex value) {
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.output_ids(), value) != node.output_ids().end()) return &node;
  }
  return nullptr;
}

bool keeps_steps(NodeKind kind) {
  switch (kind) {
    case NodeKind::kConvert:
    case NodeKind::kCopy:
    case NodeKind::kClamp:
    case NodeKind::kStaticReshape:
    case NodeKind::kStaticSlice:
    case NodeKind::kStaticTranspose: return true;
    default: return false;
  }
}

}  // namespace

std::optional<double> output_scale(const PayloadGraph& graph, std::uint32_t external_id) {
  const auto output =
      std::ranges::find(graph.outputs, external_id, [&](ValueIndex value) { return graph.values[value].external_id; });
  if (output == graph.outputs.end()) return std::nullopt;
  // Every value is written before it is read, so that the walk ends.
  for (ValueIndex value = *output;;) {
    if (const auto* own = graph.values[value].quantized_as<PerTensorQuantization>()) return double{own->scale};
    const Node* writer = writer_of(graph, value);
    if (writer == nullptr || !keeps_steps(writer->kind)) return std::nullopt;
    value = writer->inputs[0];
  }
}

}  // namespace pterun::xnnpack_payload
