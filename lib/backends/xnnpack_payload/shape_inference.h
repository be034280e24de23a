// Shapes of a payload's values for given input shapes, and whether nodes and shapes fit together. XNNPACK itself
// checks little of this (a wrong filter or bias size makes it read or write out of bounds), so that a graph must pass
// here before XNNPACK sees a shape.
#pragma once

#include <span>
#include <vector>

#include "backends/xnnpack_payload/graph.h"
#include "base/error.h"

namespace pterun::xnnpack_payload {

// The shape of every value, by value index, for these shapes of graph.inputs (same order).
// Errors: kInvalidArgument, naming the node and the shapes that do not fit, place "node".
Result<std::vector<Shape>> infer_shapes(const PayloadGraph& graph, std::span<const Shape> inputs);

// The shapes of the graph's own dims: static shapes, or the upper bounds. Errors as above, kInvalidProgram with blame
// kProgram.
Result<std::vector<Shape>> infer_declared_shapes(const PayloadGraph& graph);

// Writes the shapes of the node's outputs into `shapes`, given those of its inputs. Errors as infer_shapes.
Result<void> infer_node_shapes(const PayloadGraph& graph, const Node& node, std::span<Shape> shapes);

}  // namespace pterun::xnnpack_payload
