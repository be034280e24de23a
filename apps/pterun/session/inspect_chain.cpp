// Numbers are positions in the file.
#include "pterun/session/inspect_chain.h"

#include "backends/xnnpack_payload/shape_inference.h"

namespace pterun::app {

std::vector<report::InspectInstruction> list_instructions(const program::MethodPlan& plan) {
  std::vector<report::InspectInstruction> list;
  for (std::size_t chain = 0; chain < plan.chains.size(); ++chain) {
    for (std::size_t index = 0; index < plan.chains[chain].size(); ++index) {
      const program::Instruction& instruction = plan.chains[chain][index];
      if (const auto* call = std::get_if<program::KernelCall>(&instruction)) {
        list.push_back({chain, index, std::string(plan.operators[call->op]), std::nullopt});
      } else if (const auto* delegate = std::get_if<program::DelegateCall>(&instruction)) {
        list.push_back({chain, index, std::string(plan.delegates[delegate->delegate].id), delegate->delegate});
      }
    }
  }
  return list;
}

std::vector<report::InspectNode> list_nodes(const xnnpack_payload::PayloadGraph& graph) {
  const auto shapes = xnnpack_payload::infer_declared_shapes(graph);
  std::vector<report::InspectNode> list;
  for (const xnnpack_payload::Node& node : graph.nodes) {
    report::InspectNode& item = list.emplace_back();
    item.kind = node_kind_name(node.kind);
    for (const xnnpack_payload::ValueIndex output : node.output_ids()) {
      if (!item.output.empty()) item.output += ", ";
      item.output += data_type_name(graph.values[output].type);
      if (shapes) item.output += (*shapes)[output].to_string();
    }
  }
  return list;
}

}  // namespace pterun::app
