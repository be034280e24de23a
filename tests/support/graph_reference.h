// What an XNNPACK payload's graph computes, slowly and obviously, in double: the judge of the delegate's numbers.
// Quantised values are rounded and clamped to their stored integers at every node, as the exporter's graph does.
#pragma once

#include <map>
#include <vector>

#include "backends/xnnpack_payload/graph.h"

namespace pterun::test {

// Real values of every value of the graph by index, given those of graph.inputs (by value index, row-major, physical
// order). Constants are dequantised.
std::map<xnnpack_payload::ValueIndex, std::vector<double>> compute_reference(
    const xnnpack_payload::PayloadGraph& graph,
    const std::map<xnnpack_payload::ValueIndex, std::vector<double>>& inputs, const std::vector<Shape>& shapes);

}  // namespace pterun::test
