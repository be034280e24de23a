// What several kernels share: clamping to a node's bounds, and where a window begins.
#pragma once

#include <cstdint>

#include "backends/interpreter/kernels.h"

namespace pterun::backends::interpreter {

// Clamps to the node's output range like XNNPACK and eager: NaN stays NaN.
double clamp_to(const xnnpack_payload::Node& node, double x);

// One dimension of a convolution or pooling window.
struct WindowSide {
  std::int64_t size = 0;
  std::int64_t stride = 0;
  std::int64_t dilation = 0;
};

struct Padding {
  std::int64_t top = 0;
  std::int64_t left = 0;
};

// The padding before the first element: the node's own, or with the flag TensorFlow's "SAME", as much as makes the
// output ceil(input / stride), the odd pixel behind. Activations are NHWC.
Padding padding_of(const NodeCall& call, const Padding& explicit_padding, const WindowSide& height,
                   const WindowSide& width);

}  // namespace pterun::backends::interpreter
