// One node of a graph as a graph of its own, to run it by itself. An activation that is quantised dynamically exists
// only inside XNNPACK, so that the node which makes it comes along with its reader.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/xnnpack_payload/graph.h"
#include "base/error.h"

namespace pterun::xnnpack_payload {

// Whether a value can be handed over between nodes that run by themselves.
bool is_visible(const Value& value);

// What the node is computed from, in the order of its operands, each once: its inputs that are no constants; for one
// that is not visible, those of the node that makes it.
std::vector<ValueIndex> visible_inputs(const PayloadGraph& graph, const Node& node);

struct NodeGraph {
  PayloadGraph graph;    // inputs: the visible ones; outputs: the node's. The node stands last. Constants are borrowed
                         // from the graph that it was taken out of
  std::size_t node = 0;  // its position in `graph`
  std::vector<ValueIndex> inputs;  // beside graph.inputs: the values of the whole graph
};

// The node at that position of graph.nodes. Inputs have the dims of the whole graph's declared shapes.
// Errors: kInvalidArgument for a position that is none, with how many there are; kNotSupported for a node whose result
// is not visible, naming the node that reads it; kInvalidProgram as infer_declared_shapes.
Result<NodeGraph> take_node(const PayloadGraph& graph, std::size_t position);

}  // namespace pterun::xnnpack_payload
