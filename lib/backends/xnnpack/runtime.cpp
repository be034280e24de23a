// Finding the node that XNNPACK refuses: it says only that one does.
#include "backends/xnnpack/runtime.h"

#include "xnnpack/library.h"

namespace pterun::backends::xnn {

Error diagnose(xnn_status status, const PayloadGraph& graph, const ConstantStore& constants, const NodePlan& plan) {
  Error general = xnnpack::status_error(status, "a runtime cannot be made");
  if (status == xnn_status_out_of_memory) return general;
  for (const Node& node : plan.nodes) {
    PayloadGraph alone;
    alone.values = graph.values;
    alone.values.insert(alone.values.end(), plan.added.begin(), plan.added.end());
    const NodePlan single{{node}, plan.shapes, {}, false};
    for (Value& value : alone.values)
      value.is_input = value.is_output = false;
    for (const ValueIndex input : node.input_ids()) {
      if (input == xnnpack_payload::kNoValue || alone.values[input].is_constant) continue;
      Value& value = alone.values[input];
      if (!value.is_input) value.external_id = alone.num_externs++;
      value.is_input = true;
    }
    for (const ValueIndex output : node.output_ids()) {
      alone.values[output].is_output = true;
      alone.values[output].external_id = alone.num_externs++;
    }
    SubgraphBuilder builder(alone, constants, single);
    const auto subgraph = builder.build();
    if (!subgraph) return subgraph.error();
    xnn_runtime_t made = nullptr;
    const xnn_status node_status = xnn_create_runtime_v3(subgraph->get(), nullptr, nullptr, kNoOperatorFusion, &made);
    const Runtime runtime(made);
    if (node_status != xnn_status_success) return builder.check(node_status, node).error();
  }
  return general;
}

}  // namespace pterun::backends::xnn
