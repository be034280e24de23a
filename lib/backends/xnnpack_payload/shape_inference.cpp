// Shape rules by node kind. Sizes come from files and from callers: every sum and product is bounded before it is used.
#include "backends/xnnpack_payload/shape_inference.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_parts.h"

namespace pterun::xnnpack_payload {
namespace {

constexpr std::int64_t kMaxDim = std::int64_t{1} << 40;  // keeps sums and products of two small factors in range

// One node's inference: its inputs' shapes, and errors that name it.
class Rule {
 public:
  Rule(const PayloadGraph& graph, const Node& node, std::span<Shape> shapes)
      : graph_(graph), node_(node), shapes_(shapes) {}

  Result<void> run();

 private:
  const Shape& in(std::size_t i) const { return shapes_[node_.inputs[i]]; }
  bool has_in(std::size_t i) const { return i < node_.num_inputs && node_.inputs[i] != kNoValue; }
  bool flag(std::uint32_t bit) const { return (node_.flags & bit) != 0; }

  std::unexpected<Error> error(const std::string& what) const {
    return fail(make_error(ErrorCode::kInvalidArgument, fmt::format("XNNPACK {}: {}", describe_node(node_), what))
                    .at("node", describe_node(node_)));
  }
  std::unexpected<Error> mismatch(const char* what, std::size_t input) const {
    return error(fmt::format("{}: input {} is {}", what, input, in(input).to_string()));
  }
  Result<void> set(Shape shape, std::size_t output = 0) {
    const auto elements = checked_numel(shape.span());
    if (!elements || *elements > (std::int64_t{1} << 59)) {
      return error(fmt::format("its output {} would be too large", shape.to_string()));
    }
    shapes_[node_.outputs[output]] = shape;
    return {};
  }

  Result<void> broadcast();
  Result<void> fully_connected();
  Result<void> convolution();
  Result<void> transposed_convolution();
  Result<void> check_filter(const ConvolutionParams& params, std::size_t filter, bool depthwise) const;
  Result<void> check_bias(std::int64_t channels) const;
  Result<void> pooling();
  Result<void> global_pooling();
  Result<void> matmul();
  Result<void> transpose();
  Result<void> reshape();
  Result<void> slice();
  Result<void> pad();
  Result<void> resize();
  Result<void> concatenate();

  const PayloadGraph& graph_;
  const Node& node_;
  std::span<Shape> shapes_;
};

Result<void> Rule::broadcast() {
  const Shape& a = in(0);
  const Shape& b = in(1);
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape result = Shape::filled(rank, 1);
  for (std::size_t i = 1; i <= rank; ++i) {
    const std::int64_t da = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t db = i <= b.rank() ? b[b.rank() - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return error(fmt::format("shapes {} and {} do not broadcast", a.to_string(), b.to_string()));
    }
    result[rank - i] = da == 1 ? db : da;
  }
  return set(result);
}

Result<void> Rule::check_bias(std::int64_t channels) const {
  if (!has_in(2)) return {};
  if (in(2).numel() != channels) return error(fmt::format("bias {} is not {} channels", in(2).to_string(), channels));
  return {};
}

Result<void> Rule::fully_connected() {
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

Result<void> Rule::check_filter(const ConvolutionParams& params, std::size_t filter, bool depthwise) const {
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

Result<void> Rule::convolution() {
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

Result<void> Rule::transposed_convolution() {
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

Result<void> Rule::pooling() {
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

Result<void> Rule::global_pooling() {
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

Result<void> Rule::matmul() {
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

Result<void> Rule::transpose() {
  const auto& permutation = std::get<TransposeParams>(node_.params).permutation;
  const Shape& input = in(0);
  if (permutation.size() != input.rank()) return mismatch("the permutation has another number of dims", 0);
  std::array<bool, kMaxRank> seen{};
  Shape result;
  for (const std::uint32_t dim : permutation) {
    if (dim >= input.rank() || std::exchange(seen[dim], true)) return error("perm is not a permutation");
    result.push_back(input[dim]);
  }
  return set(result);
}

Result<void> Rule::reshape() {
  const auto& sizes = std::get<ReshapeParams>(node_.params).shape;
  if (sizes.size() > kMaxRank) return error(fmt::format("new shape has {} dims", sizes.size()));
  Shape result;
  std::optional<std::size_t> inferred;
  for (const std::uint32_t size : sizes) {
    if (size == 0) {
      if (inferred) return error("two dims of the new shape are to be inferred");
      inferred = result.rank();
    }
    result.push_back(size == 0 ? 1 : size);
  }
  const auto known = checked_numel(result.span());
  const std::int64_t elements = in(0).numel();
  if (!known || (inferred ? elements % *known != 0 : elements != *known)) {
    return mismatch(fmt::format("does not fit into the new shape {}", fmt::join(sizes, "x")).c_str(), 0);
  }
  if (inferred) result[*inferred] = elements / *known;
  return set(result);
}

Result<void> Rule::slice() {
  const auto& params = std::get<SliceParams>(node_.params);
  const Shape& input = in(0);
  if (params.offsets.size() != input.rank()) return mismatch("the slice has another number of dims", 0);
  Shape result;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    const std::int64_t begin = params.offsets[i];
    const std::int64_t end = begin + params.sizes[i];
    const std::int64_t stop = end == 0 ? input[i] : std::min<std::int64_t>(end, input[i]);
    result.push_back(std::max<std::int64_t>(stop - begin, 0));
  }
  return set(result);
}

Result<void> Rule::pad() {
  const auto& params = std::get<PadParams>(node_.params);
  const Shape& input = in(0);
  if (params.before.size() != input.rank()) return mismatch("the padding has another number of dims", 0);
  Shape result;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    result.push_back(input[i] + params.before[i] + params.after[i]);
  }
  return set(result);
}

Result<void> Rule::resize() {
  const auto& params = std::get<ResizeParams>(node_.params);
  const Shape& input = in(0);
  if (input.rank() != 4) return mismatch("needs NHWC with four dims", 0);
  if (params.height == 0 || params.width == 0) return error("its new size is zero");
  if (input[1] == 0 || input[2] == 0) return mismatch("has no pixels", 0);
  return set(Shape{input[0], params.height, params.width, input[3]});
}

Result<void> Rule::concatenate() {
  const Shape& first = in(0);
  const auto rank = static_cast<std::int64_t>(first.rank());
  std::int64_t axis = std::get<ConcatenateParams>(node_.params).axis;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return mismatch("the axis does not exist", 0);
  const auto along = static_cast<std::size_t>(axis);
  Shape result = first;
  for (std::size_t i = 1; i < node_.num_inputs; ++i) {
    bool fits = in(i).rank() == first.rank();
    for (std::size_t d = 0; fits && d < first.rank(); ++d)
      fits = d == along || in(i)[d] == first[d];
    if (!fits) {
      return error(
          fmt::format("shapes {} and {} cannot be joined along dim {}", first.to_string(), in(i).to_string(), axis));
    }
    result[along] += in(i)[along];
  }
  return set(result);
}

Result<void> Rule::run() {
  using enum NodeKind;
  switch (node_.kind) {
    case kAdd:
    case kSubtract:
    case kMultiply:
    case kDiv:
    case kMinimum:
    case kMaximum:
    case kPReLU: return broadcast();
    case kSoftmax:
      if (in(0).rank() == 0) return mismatch("needs at least one dim", 0);
      return set(in(0));
    case kSigmoid:
    case kClamp:
    case kFloor:
    case kConvert:
    case kSquareRoot:
    case kCeiling:
    case kHardswish:
    case kLeakyReLU:
    case kNegate:
    case kSquare:
    case kELU:
    case kAbs:
    case kReciprocalSquareRoot:
    case kLog:
    case kGelu:
    case kTanh:
    case kExp:
    case kSin:
    case kCopy:
    case kCos: return set(in(0));
    case kFullyConnected: return fully_connected();
    case kConv2d:
    case kDepthwiseConv2d: return convolution();
    case kConvTranspose2d: return transposed_convolution();
    case kAvgPooling2d:
    case kMaxPooling2d:
    case kArgMaxPooling2d: return pooling();
    case kGlobalAvgPooling2d: return global_pooling();
    case kBatchMatrixMultiply: return matmul();
    case kStaticTranspose: return transpose();
    case kStaticReshape: return reshape();
    case kStaticSlice: return slice();
    case kStaticConstantPad: return pad();
    case kStaticResizeBilinear2D: return resize();
    case kConcatenate2:
    case kConcatenate3:
    case kConcatenate4:
    case kConcatenate5: return concatenate();
    case kScaledDotProductAttention: return set(in(0));  // [.., tokens, channels] of the query
  }
  return error("is of an unknown kind");
}

}  // namespace

Result<void> infer_node_shapes(const PayloadGraph& graph, const Node& node, std::span<Shape> shapes) {
  return Rule(graph, node, shapes).run();
}

Result<std::vector<Shape>> infer_shapes(const PayloadGraph& graph, std::span<const Shape> inputs) {
  std::vector<Shape> shapes(graph.values.size());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    shapes[i] = graph.values[i].dims;
  for (std::size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (inputs[i].rank() != value.dims.rank()) {
      return fail(make_error(ErrorCode::kInvalidArgument,
                             fmt::format("XNNPACK input {}: expected {} dims as in {}, found {}", value.external_id,
                                         value.dims.rank(), value.dims.to_string(), inputs[i].to_string())));
    }
    shapes[graph.inputs[i]] = inputs[i];
  }
  for (const Node& node : graph.nodes)
    PTERUN_TRY(infer_node_shapes(graph, node, shapes));
  return shapes;
}

Result<std::vector<Shape>> infer_declared_shapes(const PayloadGraph& graph) {
  std::vector<Shape> inputs;
  for (const ValueIndex input : graph.inputs)
    inputs.push_back(graph.values[input].dims);
  auto shapes = infer_shapes(graph, inputs);
  if (shapes) return shapes;
  Error error = std::move(shapes).error().with_blame(Blame::kProgram);
  error.code = ErrorCode::kInvalidProgram;
  return fail(std::move(error));
}

}  // namespace pterun::xnnpack_payload
