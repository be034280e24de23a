// Shapes of fully connected, convolution, pooling and matrix product nodes, and whether their filters fit.
#include <algorithm>
#include <optional>

#include "backends/xnnpack_payload/shape_rule.h"

namespace pterun::xnnpack_payload {
namespace {

// Output size along one axis of a window that slides; XNNPACK lets a window larger than the padded input yield one
// output for convolution, which reads zeros only: eager refuses it, and so do we.
std::optional<std::int64_t> sliding_size(std::int64_t input, std::int64_t padding, std::int64_t window,
                                         std::int64_t stride, std::int64_t dilation) {
  const std::int64_t reach = (window - 1) * dilation + 1;
  if (input > kMaxDim || input + padding < reach) return std::nullopt;
  return (input + padding - reach) / stride + 1;
}

std::int64_t same_size(std::int64_t input, std::int64_t stride) {
  return (input + stride - 1) / stride;
}

}  // namespace

Result<void> ShapeRule::check_bias(std::int64_t channels) const {
  if (!has_in(2)) return {};
  if (in(2).numel() != channels) return error(fmt::format("bias {} is not {} channels", in(2).to_string(), channels));
  return {};
}

Result<void> ShapeRule::fully_connected() {
  const Shape& input = in(0);
  const Shape& filter = in(1);
  if (filter.rank() != 2) return mismatch("the filter needs two dims", 1);
  const bool transposed = flag(kFlagTransposeWeights);
  const std::int64_t in_channels = filter[transposed ? 0 : 1];
  const std::int64_t out_channels = filter[transposed ? 1 : 0];
  if (in_channels == 0 || out_channels == 0) return mismatch("the filter is empty", 1);
  PTERUN_TRY(check_bias(out_channels));
  if (flag(kFlagReshape2d)) {
    if (input.numel() % in_channels != 0)
      return mismatch(fmt::format("no multiple of {} elements", in_channels).c_str(), 0);
    return set(Shape{input.numel() / in_channels, out_channels});
  }
  if (input.rank() == 0 || input[input.rank() - 1] != in_channels) {
    return mismatch(fmt::format("the last dim is not the filter's {} input channels", in_channels).c_str(), 0);
  }
  Shape result = input;
  result[input.rank() - 1] = out_channels;
  return set(result);
}

Result<void> ShapeRule::check_filter(const ConvolutionParams& params, std::size_t filter, bool depthwise) const {
  const auto within = [](std::uint32_t value, std::uint32_t low) { return value >= low && value <= (1u << 24); };
  if (!within(params.kernel_height, 1) || !within(params.kernel_width, 1) || !within(params.stride_height, 1) ||
      !within(params.stride_width, 1) || !within(params.dilation_height, 1) || !within(params.dilation_width, 1) ||
      !within(params.groups, 1) || !within(params.group_input_channels, 1) ||
      !within(params.group_output_channels, 1)) {
    return error("kernel, stride, dilation, groups and channels must be at least 1");
  }
  for (const std::uint32_t amount : {params.pad_top, params.pad_right, params.pad_bottom, params.pad_left,
                                     params.adjust_height, params.adjust_width}) {
    if (!within(amount, 0)) return error(fmt::format("padding {} is too large", amount));
  }
  const std::int64_t outputs = std::int64_t{params.groups} * params.group_output_channels;
  const Shape expected = depthwise
                             ? Shape{1, params.kernel_height, params.kernel_width, outputs}
                             : Shape{outputs, params.kernel_height, params.kernel_width, params.group_input_channels};
  if (!(in(filter) == expected)) {
    return error(fmt::format("filter {} is not {}", in(filter).to_string(), expected.to_string()));
  }
  const Shape& input = in(0);
  if (input.rank() != 4) return mismatch("needs NHWC with four dims", 0);
  if (input[3] != std::int64_t{params.groups} * params.group_input_channels) {
    return mismatch(fmt::format("does not have {} x {} channels", params.groups, params.group_input_channels).c_str(),
                    0);
  }
  return check_bias(outputs);
}

Result<void> ShapeRule::convolution() {
  const auto& params = std::get<ConvolutionParams>(node_.params);
  const bool depthwise = node_.kind == NodeKind::kDepthwiseConv2d;
  PTERUN_TRY(check_filter(params, 1, depthwise));
  if (depthwise && params.group_input_channels != 1) {
    return error(fmt::format("a depthwise group has one input channel, not {}", params.group_input_channels));
  }
  const Shape& input = in(0);
  const std::int64_t channels = std::int64_t{params.groups} * params.group_output_channels;
  if (flag(kFlagSamePadding)) {
    if ((params.pad_top | params.pad_right | params.pad_bottom | params.pad_left) != 0) {
      return error("has both SAME and explicit padding");
    }
    return set(
        Shape{input[0], same_size(input[1], params.stride_height), same_size(input[2], params.stride_width), channels});
  }
  const auto height = sliding_size(input[1], std::int64_t{params.pad_top} + params.pad_bottom, params.kernel_height,
                                   params.stride_height, params.dilation_height);
  const auto width = sliding_size(input[2], std::int64_t{params.pad_left} + params.pad_right, params.kernel_width,
                                  params.stride_width, params.dilation_width);
  if (!height || !width) return mismatch("the kernel is larger than the padded input", 0);
  return set(Shape{input[0], *height, *width, channels});
}

Result<void> ShapeRule::transposed_convolution() {
  const auto& params = std::get<ConvolutionParams>(node_.params);
  PTERUN_TRY(check_filter(params, 1, false));
  const Shape& input = in(0);
  const auto size = [](std::int64_t in, std::int64_t stride, std::int64_t kernel, std::int64_t dilation,
                       std::int64_t adjust, std::int64_t padding) -> std::int64_t {
    if (in < 1 || in > kMaxDim) return 0;
    return stride * (in - 1) + adjust + (kernel - 1) * dilation + 1 - padding;
  };
  if (params.adjust_height >= params.stride_height || params.adjust_width >= params.stride_width) {
    return error("adds as many rows or columns as its stride");
  }
  const std::int64_t height = size(input[1], params.stride_height, params.kernel_height, params.dilation_height,
                                   params.adjust_height, std::int64_t{params.pad_top} + params.pad_bottom);
  const std::int64_t width = size(input[2], params.stride_width, params.kernel_width, params.dilation_width,
                                  params.adjust_width, std::int64_t{params.pad_left} + params.pad_right);
  if (height < 1 || width < 1) return mismatch("the padding leaves no output", 0);
  return set(Shape{input[0], height, width, std::int64_t{params.groups} * params.group_output_channels});
}

Result<void> ShapeRule::pooling() {
  const auto& params = std::get<PoolingParams>(node_.params);
  const Shape& input = in(0);
  if (input.rank() != 4) return mismatch("needs NHWC with four dims", 0);
  for (const std::uint32_t amount : {params.window_height, params.window_width, params.stride_height,
                                     params.stride_width, params.dilation_height, params.dilation_width}) {
    if (amount < 1 || amount > (1u << 24))
      return error(fmt::format("window, stride or dilation {} is impossible", amount));
  }
  for (const std::uint32_t amount : {params.pad_top, params.pad_right, params.pad_bottom, params.pad_left}) {
    if (amount > (1u << 24)) return error(fmt::format("padding {} is too large", amount));
  }
  std::optional<std::int64_t> height, width;
  if (flag(kFlagSamePadding)) {
    height = same_size(input[1], params.stride_height);
    width = same_size(input[2], params.stride_width);
  } else {
    height = sliding_size(input[1], std::int64_t{params.pad_top} + params.pad_bottom, params.window_height,
                          params.stride_height, params.dilation_height);
    width = sliding_size(input[2], std::int64_t{params.pad_left} + params.pad_right, params.window_width,
                         params.stride_width, params.dilation_width);
  }
  if (!height || !width) return mismatch("the window is larger than the padded input", 0);
  const Shape result{input[0], *height, *width, input[3]};
  if (node_.num_outputs == 2) PTERUN_TRY(set(result, 1));
  return set(result);
}

Result<void> ShapeRule::global_pooling() {
  const Shape& input = in(0);
  if (input.rank() < 3) return mismatch("needs at least three dims", 0);
  const std::size_t rank = input.rank();
  Shape result = input;
  if (flag(kFlagKeepDims)) {
    result[rank - 3] = result[rank - 2] = 1;
  } else {
    result[rank - 3] = input[rank - 1];
    result.resize(rank - 2);
  }
  return set(result);
}

Result<void> ShapeRule::matmul() {
  const Shape& a = in(0);
  const Shape& b = in(1);
  if (a.rank() < 2) return mismatch("needs at least two dims", 0);
  if (b.rank() < 2) return mismatch("needs at least two dims", 1);
  const bool transposed = flag(kFlagTransposeWeights);
  const std::int64_t k = b[b.rank() - (transposed ? 1 : 2)];
  const std::int64_t n = b[b.rank() - (transposed ? 2 : 1)];
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape result = Shape::filled(rank, 1);
  bool fits = a[a.rank() - 1] == k;
  for (std::size_t i = 3; i <= rank; ++i) {
    const std::int64_t da = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t db = i <= b.rank() ? b[b.rank() - i] : 1;
    fits = fits && (da == db || da == 1 || db == 1);
    result[rank - i] = da == 1 ? db : da;
  }
  if (!fits) return error(fmt::format("shapes {} and {} cannot be multiplied", a.to_string(), b.to_string()));
  result[rank - 2] = a[a.rank() - 2];
  result[rank - 1] = n;
  return set(result);
}

}  // namespace pterun::xnnpack_payload
