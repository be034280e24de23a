// What of a program can be run by itself: instructions that compute, and the nodes of a delegate's graph, with the
// numbers that `pterun run --node` takes.
#pragma once

#include <vector>

#include "backends/xnnpack_payload/graph.h"
#include "program/program.h"
#include "report/inspect_report.h"

namespace pterun::app {

// Operator and delegate calls, in order.
std::vector<report::InspectInstruction> list_instructions(const program::MethodPlan& plan);

// All nodes, in order. Shapes are the declared ones; "" where they do not fit the nodes.
std::vector<report::InspectNode> list_nodes(const xnnpack_payload::PayloadGraph& graph);

}  // namespace pterun::app
