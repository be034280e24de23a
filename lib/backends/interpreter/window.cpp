// Bounds and padding, as their definitions.
#include "backends/interpreter/window.h"

#include <algorithm>
#include <cmath>

namespace pterun::backends::interpreter {
namespace {

std::int64_t same_padding(std::int64_t in, std::int64_t out, const WindowSide& side) {
  return std::max<std::int64_t>((out - 1) * side.stride + (side.size - 1) * side.dilation + 1 - in, 0) / 2;
}

}  // namespace

double clamp_to(const xnnpack_payload::Node& node, double x) {
  if (std::isnan(x)) return x;
  return std::min(std::max(x, static_cast<double>(node.range.min)), static_cast<double>(node.range.max));
}

Padding padding_of(const NodeCall& call, const Padding& explicit_padding, const WindowSide& height,
                   const WindowSide& width) {
  if ((call.node->flags & xnnpack_payload::kFlagSamePadding) == 0) return explicit_padding;
  const Shape& in = call.input_shapes[0];
  const Shape& out = call.output_shapes[0];
  return {same_padding(in[1], out[1], height), same_padding(in[2], out[2], width)};
}

}  // namespace pterun::backends::interpreter
