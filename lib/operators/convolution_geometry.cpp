// Reads and checks the parameters of a convolution.
#include "operators/convolution_geometry.h"

#include <string>

namespace pterun::operators {
namespace {

// Sizes and parameters up to here multiply without overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 30;

// A list with one number for all spatial dimensions or one for each; empty keeps the default.
Result<void> read_list(const Arguments& arguments, std::size_t argument, std::int64_t least, std::size_t rank,
                       std::string_view what, Spatial& values) {
  PTERUN_ASSIGN(const Shape list, arguments.int_list(argument));
  if (list.rank() == 0) return {};
  if (list.rank() != 1 && list.rank() != rank) {
    return fail(arguments.error(
        ErrorCode::kInvalidArgument,
        std::string(what) + " " + list.to_string() + " does not have " + std::to_string(rank) + " numbers"));
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t value = list[list.rank() == 1 ? 0 : i];
    if (value < least || value > kLargest) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " " + list.to_string() +
                                                                   " has a number outside [" + std::to_string(least) +
                                                                   ", " + std::to_string(kLargest) + "]"));
    }
    values[3 - rank + i] = value;
  }
  return {};
}

Result<void> read_sizes(const Arguments& arguments, const Tensor& input, const Tensor& weight,
                        ConvolutionGeometry& geometry) {
  const std::size_t rank = input.rank();
  if (rank < 3 || rank > 5) {
    return fail(arguments.error(ErrorCode::kNotSupported,
                                "input is " + input.describe() + "; convolutions have 1 to 3 spatial dimensions"));
  }
  if (weight.rank() != rank) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "weight is " + weight.describe() + ", the input " + input.describe()));
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (input.size(i) > kLargest || weight.size(i) > kLargest || (i >= 2 && weight.size(i) == 0)) {
      return fail(arguments.error(ErrorCode::kInvalidArgument,
                                  "cannot convolve " + input.describe() + " with " + weight.describe()));
    }
  }
  geometry.spatial_rank = rank - 2;
  geometry.batch = input.size(0);
  geometry.in_channels = input.size(1);
  for (std::size_t i = 2; i < rank; ++i) {
    geometry.in[3 - rank + i] = input.size(i);
    geometry.kernel[3 - rank + i] = weight.size(i);
  }
  return {};
}

Result<void> check_channels(const Arguments& arguments, const Tensor& input, const Tensor& weight,
                            ConvolutionGeometry& geometry) {
  const std::int64_t groups = geometry.groups;
  geometry.out_channels = geometry.transposed ? weight.size(1) * groups : weight.size(0);
  const std::int64_t in_channels = geometry.transposed ? weight.size(0) : weight.size(1) * groups;
  if (in_channels != geometry.in_channels || geometry.in_channels % groups != 0 ||
      geometry.out_channels % groups != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "weight " + weight.describe() + " with " +
                                                                 std::to_string(groups) +
                                                                 " groups does not fit the input " + input.describe()));
  }
  return {};
}

Result<void> compute_out(const Arguments& arguments, ConvolutionGeometry& g) {
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = g.dilation[i] * (g.kernel[i] - 1) + 1;
    if (g.transposed) {
      g.out[i] = (g.in[i] - 1) * g.stride[i] - 2 * g.padding[i] + reach + g.output_padding[i];
    } else {
      g.out[i] = g.in[i] + 2 * g.padding[i] < reach ? 0 : (g.in[i] + 2 * g.padding[i] - reach) / g.stride[i] + 1;
    }
    if (g.out[i] < (g.transposed ? 0 : 1)) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "the kernel reaches over " + std::to_string(reach) +
                                                                   " elements, more than the padded input of " +
                                                                   std::to_string(g.in[i] + 2 * g.padding[i])));
    }
  }
  return {};
}

}  // namespace

Shape ConvolutionGeometry::out_shape() const {
  Shape shape{batch, out_channels};
  for (std::size_t i = 3 - spatial_rank; i < 3; ++i)
    shape.push_back(out[i]);
  return shape;
}

double ConvolutionGeometry::multiplications() const {
  const Spatial& positions = transposed ? in : out;
  return static_cast<double>(batch) * static_cast<double>(out_channels) * static_cast<double>(group_in_channels()) *
         static_cast<double>(volume(kernel)) * static_cast<double>(volume(positions));
}

Result<ConvolutionGeometry> read_convolution(const Arguments& arguments, const Tensor& input, const Tensor& weight,
                                             std::size_t stride_argument) {
  ConvolutionGeometry geometry;
  PTERUN_TRY(read_sizes(arguments, input, weight, geometry));
  const std::size_t rank = geometry.spatial_rank;
  PTERUN_TRY(read_list(arguments, stride_argument, 1, rank, "stride", geometry.stride));
  PTERUN_TRY(read_list(arguments, stride_argument + 1, 0, rank, "padding", geometry.padding));
  PTERUN_TRY(read_list(arguments, stride_argument + 2, 1, rank, "dilation", geometry.dilation));
  PTERUN_ASSIGN(geometry.transposed, arguments.boolean(stride_argument + 3));
  if (geometry.transposed) {
    PTERUN_TRY(read_list(arguments, stride_argument + 4, 0, rank, "output_padding", geometry.output_padding));
  }
  PTERUN_ASSIGN(geometry.groups, arguments.integer(stride_argument + 5));
  if (geometry.groups < 1 || geometry.groups > kLargest) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "groups is " + std::to_string(geometry.groups) + ", expected 1 or more"));
  }
  PTERUN_TRY(check_channels(arguments, input, weight, geometry));
  PTERUN_TRY(compute_out(arguments, geometry));
  return geometry;
}

}  // namespace pterun::operators
