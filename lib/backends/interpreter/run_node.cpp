// From a node to its kernel's call.
#include "backends/interpreter/run_node.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/interpreter/kernels.h"

namespace pterun::backends::interpreter {
namespace {

using xnnpack_payload::Node;
using xnnpack_payload::ValueIndex;

Error no_kernel(const Node& node) {
  return program_error(ErrorCode::kNotImplemented,
                       fmt::format("node {} ({}) is not implemented", node.file_index, node_kind_name(node.kind)));
}

}  // namespace

Result<void> run_node(const xnnpack_payload::PayloadGraph& graph, const Node& node, std::span<const Shape> shapes,
                      std::vector<Reals>& reals) {
  const NodeKernel kernel = kernel_of(node.kind);
  if (kernel == nullptr) return fail(no_kernel(node));
  NodeCall call;
  call.node = &node;
  for (const ValueIndex value : node.input_ids()) {
    const bool absent = value == xnnpack_payload::kNoValue;
    call.inputs.push_back(absent ? nullptr : &reals[value]);
    call.input_shapes.push_back(absent ? Shape{} : shapes[value]);
  }
  call.inputs.resize(std::max<std::size_t>(call.inputs.size(), 3), nullptr);
  for (const ValueIndex value : node.output_ids()) {
    reals[value].clear();
    call.outputs.push_back(&reals[value]);
    call.output_shapes.push_back(shapes[value]);
  }
  kernel(call);
  for (const ValueIndex value : node.output_ids())
    round_to_type(graph.values[value], shapes[value], reals[value]);
  return {};
}

Result<void> check_kernels(const xnnpack_payload::PayloadGraph& graph) {
  for (const Node& node : graph.nodes) {
    if (kernel_of(node.kind) == nullptr) return fail(no_kernel(node));
  }
  return {};
}

}  // namespace pterun::backends::interpreter
