// The scale of what a delegate gives: the step between neighbouring numbers of a quantised result.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/xnnpack_payload/graph.h"

namespace pterun::xnnpack_payload {

// The scale of the output with this external id: its own, or for a float output the scale of the quantised value that
// it was converted from, seen through nodes that only move elements or clamp them. Nothing when it was computed in
// floating point, has a scale per channel, or is no output.
std::optional<double> output_scale(const PayloadGraph& graph, std::uint32_t external_id);

}  // namespace pterun::xnnpack_payload
