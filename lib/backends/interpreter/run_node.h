// One node on its plain kernel.
#pragma once

#include <span>
#include <vector>

#include "backends/interpreter/real_values.h"
#include "backends/xnnpack_payload/graph.h"
#include "base/error.h"

namespace pterun::backends::interpreter {

// Computes the node's outputs from its inputs and rounds them to their types. `shapes` and `reals` are by value.
// Errors: kNotImplemented naming the node (blame kProgram).
Result<void> run_node(const xnnpack_payload::PayloadGraph& graph, const xnnpack_payload::Node& node,
                      std::span<const Shape> shapes, std::vector<Reals>& reals);

// Whether every node has a kernel. Errors: as above.
Result<void> check_kernels(const xnnpack_payload::PayloadGraph& graph);

}  // namespace pterun::backends::interpreter
