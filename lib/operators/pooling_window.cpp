// Reads and checks the windows of 2-d pooling.
#include "operators/pooling_window.h"

#include <algorithm>
#include <string>

namespace pterun::operators {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 30;

// A list with one number for both axes or one for each; empty leaves `height` and `width` as they are.
Result<void> read_pair(const Arguments& arguments, std::size_t argument, std::string_view what, std::int64_t least,
                       std::int64_t& height, std::int64_t& width) {
  PTERUN_ASSIGN(const Shape list, arguments.int_list(argument));
  if (list.rank() == 0) return {};
  const bool fits = list.rank() <= 2 && std::all_of(list.begin(), list.end(), [&](std::int64_t value) {
                      return value >= least && value <= kLargest;
                    });
  if (!fits) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " " + list.to_string() +
                                                                 " is not one or two numbers of at least " +
                                                                 std::to_string(least)));
  }
  height = list[0];
  width = list[list.rank() - 1];
  return {};
}

Result<void> measure(const Arguments& arguments, bool ceil_mode, PoolingAxis& axis) {
  const std::int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  const std::int64_t room = axis.in + 2 * axis.padding - reach + (ceil_mode ? axis.stride - 1 : 0);
  axis.out = room < 0 ? 0 : room / axis.stride + 1;
  // A window that begins in the padding behind the input is dropped.
  if (ceil_mode && axis.out > 0 && (axis.out - 1) * axis.stride >= axis.in + axis.padding) --axis.out;
  if (axis.padding > axis.kernel / 2) {
    return fail(arguments.error(
        ErrorCode::kInvalidArgument,
        "padding " + std::to_string(axis.padding) + " is more than half the kernel of " + std::to_string(axis.kernel)));
  }
  if (axis.out < 1) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "a window over " + std::to_string(reach) + " elements does not fit into " +
                                    std::to_string(axis.in) + " with padding " + std::to_string(axis.padding)));
  }
  return {};
}

}  // namespace

Shape PoolingWindow::out_shape(const Tensor& input) const {
  Shape shape = input.shape();
  shape[shape.rank() - 2] = height.out;
  shape[shape.rank() - 1] = width.out;
  return shape;
}

Result<PoolingWindow> PoolingWindow::read(const Arguments& arguments, const Tensor& input, std::size_t first,
                                          bool has_dilation) {
  const std::size_t rank = input.rank();
  if (rank != 3 && rank != 4) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "input is " + input.describe() + ", expected [C, H, W] or [N, C, H, W]"));
  }
  for (std::size_t i = rank - 3; i < rank; ++i) {
    if (input.size(i) == 0 || input.size(i) > kLargest) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "cannot pool input " + input.describe()));
    }
  }
  PoolingWindow window;
  PoolingAxis& height = window.height;
  PoolingAxis& width = window.width;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    window.planes *= input.size(i);
  height.in = input.size(rank - 2);
  width.in = input.size(rank - 1);
  PTERUN_TRY(read_pair(arguments, first, "kernel_size", 1, height.kernel, width.kernel));
  height.stride = height.kernel;
  width.stride = width.kernel;
  PTERUN_TRY(read_pair(arguments, first + 1, "stride", 1, height.stride, width.stride));
  PTERUN_TRY(read_pair(arguments, first + 2, "padding", 0, height.padding, width.padding));
  if (has_dilation) PTERUN_TRY(read_pair(arguments, first + 3, "dilation", 1, height.dilation, width.dilation));
  PTERUN_ASSIGN(const bool ceil_mode, arguments.boolean(first + (has_dilation ? 4 : 3)));
  PTERUN_TRY(measure(arguments, ceil_mode, height));
  PTERUN_TRY(measure(arguments, ceil_mode, width));
  return window;
}

PositionRange positions_inside(std::int64_t count, std::int64_t start, std::int64_t stride, std::int64_t size) {
  const std::int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
  const std::int64_t last = start >= size ? 0 : (size - start + stride - 1) / stride;
  const std::int64_t begin = std::min(first, count);
  return {begin, std::clamp(last, begin, count)};
}

}  // namespace pterun::operators
