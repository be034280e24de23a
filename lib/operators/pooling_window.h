// The windows of 2-d pooling, read from the arguments and checked.
#pragma once

#include <cstdint>

#include "operators/arguments.h"
#include "tensor/tensor.h"

namespace pterun::operators {

struct PoolingAxis {
  std::int64_t in = 0, out = 0, kernel = 1, stride = 1, padding = 0, dilation = 1;

  // First element of window `position`, before clipping.
  std::int64_t start(std::int64_t position) const { return position * stride - padding; }
};

struct PoolingWindow {
  std::int64_t planes = 1;  // product of the dimensions in front of height and width
  PoolingAxis height, width;

  std::int64_t in_plane() const { return height.in * width.in; }
  std::int64_t out_plane() const { return height.out * width.out; }
  // The input's shape with the output's height and width.
  Shape out_shape(const Tensor& input) const;

  // Arguments kernel_size, stride, padding at `first` and behind it; dilation (where `has_dilation`) and ceil_mode
  // follow. Input [C, H, W] or [N, C, H, W]. Errors: kInvalidArgument as in eager: sizes of 0 (but N), kernels and
  // strides below 1, padding beyond half the kernel, an output without elements.
  static Result<PoolingWindow> read(const Arguments& arguments, const Tensor& input, std::size_t first,
                                    bool has_dilation);
};

// Number of the first position, and one behind the last, of `count` positions whose element start + position * stride
// lies inside [0, size).
struct PositionRange {
  std::int64_t first, last;
};
PositionRange positions_inside(std::int64_t count, std::int64_t start, std::int64_t stride, std::int64_t size);

}  // namespace pterun::operators
