// Sizes of a convolution over one to three spatial dimensions, read from the arguments of aten::convolution and
// checked.
#pragma once

#include <array>
#include <cstdint>

#include "operators/arguments.h"
#include "tensor/tensor.h"

namespace pterun::operators {

// Always three spatial dimensions: those that a 1-d or 2-d convolution lacks come first, with size and kernel 1.
using Spatial = std::array<std::int64_t, 3>;

inline std::int64_t volume(const Spatial& sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

struct ConvolutionGeometry {
  std::int64_t batch = 0;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t groups = 1;
  Spatial in{1, 1, 1};
  Spatial out{1, 1, 1};
  Spatial kernel{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial padding{0, 0, 0};
  Spatial dilation{1, 1, 1};
  Spatial output_padding{0, 0, 0};
  bool transposed = false;
  std::size_t spatial_rank = 2;

  std::int64_t group_in_channels() const { return in_channels / groups; }
  std::int64_t group_out_channels() const { return out_channels / groups; }
  Shape out_shape() const;
  double multiplications() const;
};

// Where the geometry's numbers stand in the argument list: stride, and behind it padding, dilation, transposed,
// output_padding, groups, in this order.
// Errors: kInvalidArgument for ranks, channels, negative or zero parameters and kernels larger than the padded input;
// kNotSupported for more than three spatial dimensions.
Result<ConvolutionGeometry> read_convolution(const Arguments& arguments, const Tensor& input, const Tensor& weight,
                                             std::size_t stride_argument);

}  // namespace pterun::operators
