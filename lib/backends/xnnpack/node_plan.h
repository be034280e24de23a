// What is built for XNNPACK from a payload's graph: the same values, with fewer and simpler nodes.
#pragma once

#include <vector>

#include "backends/xnnpack_payload/graph.h"

namespace pterun::backends::xnn {

using xnnpack_payload::Node;
using xnnpack_payload::PayloadGraph;
using xnnpack_payload::Value;
using xnnpack_payload::ValueIndex;

struct NodePlan {
  std::vector<Node> nodes;
  std::vector<Shape> shapes;  // of every value, added ones included: what XNNPACK is told
  std::vector<Value> added;   // values beyond the graph's; index graph.values.size() + i
  // Whether the plan holds for exactly these shapes; otherwise for all that the graph allows.
  bool is_specialised = false;
};

// The plan for values of these shapes (shape_inference.h). In every plan:
// - copies and bounds are folded into the nodes that write or read, zero padding into convolutions;
// - nodes that nobody reads are gone;
// - a node that moves int8 elements between two quantisations, which XNNPACK refuses, moves first and converts then.
// In a specialised one also:
// - transposes that only move dims of size 1 are reshapes, reshapes of reshapes are one;
// - reshapes of inputs and to outputs are gone: the input or output has the other shape inside.
NodePlan plan_nodes(const PayloadGraph& graph, const std::vector<Shape>& shapes, bool specialise);

}  // namespace pterun::backends::xnn
