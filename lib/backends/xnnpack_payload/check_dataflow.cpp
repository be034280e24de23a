// Order and uniqueness of writes: XNNPACK runs nodes in the order given, and reads whatever lies in a value's memory.
#include <vector>

#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_parts.h"

namespace pterun::xnnpack_payload {
namespace {

std::unexpected<Error> dataflow_error(const Node& node, const std::string& what) {
  return fail(
      program_error(ErrorCode::kInvalidProgram, fmt::format("XNNPACK payload: {}: {}", describe_node(node), what))
          .at("node", describe_node(node)));
}

}  // namespace

Result<void> check_dataflow(const PayloadGraph& graph) {
  std::vector<bool> written(graph.values.size());
  for (std::size_t i = 0; i < written.size(); ++i)
    written[i] = graph.values[i].is_constant || graph.values[i].is_input;

  for (const Node& node : graph.nodes) {
    for (const ValueIndex input : node.input_ids()) {
      if (input == kNoValue || written[input]) continue;
      return dataflow_error(node, fmt::format("reads value {} before any node writes it", graph.values[input].id));
    }
    for (const ValueIndex output : node.output_ids()) {
      const Value& value = graph.values[output];
      if (value.is_constant || value.is_input) {
        return dataflow_error(
            node, fmt::format("writes value {}, which is {}", value.id, value.is_constant ? "constant" : "an input"));
      }
      if (written[output]) return dataflow_error(node, fmt::format("writes value {} a second time", value.id));
      written[output] = true;
    }
  }
  for (const ValueIndex output : graph.outputs) {
    if (!written[output]) {
      return fail(value_error(graph.values[output].id, "is an output, but no node writes it"));
    }
  }
  return {};
}

}  // namespace pterun::xnnpack_payload
