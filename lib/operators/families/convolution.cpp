// aten::convolution. float32 in one or two dimensions runs on XNNPACK, its weights packed once when they are constants:
// pointwise convolutions as matrix products and common depthwise ones in NCHW, the rest in NHWC with transposed
// activations, unless those are channels-last already. Everything else multiplies unrolled images (columns.h).
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "operators/block_copy.h"
#include "operators/checks.h"
#include "operators/columns.h"
#include "operators/compute_operands.h"
#include "operators/convolution_geometry.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/xnnpack_operator.h"

namespace pterun::operators {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr DTypeSet kConvolutionDTypes = kIntegers | kFloats;

struct Convolution {
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;  // null: none
  Tensor* out = nullptr;
  ConvolutionGeometry geometry;
};

Result<Convolution> read(const Arguments& arguments) {
  Convolution call;
  PTERUN_ASSIGN(call.input, arguments.tensor(0));
  PTERUN_ASSIGN(call.weight, arguments.tensor(1));
  PTERUN_ASSIGN(call.bias, arguments.optional_tensor(2));
  PTERUN_ASSIGN(call.out, arguments.tensor(9));
  PTERUN_TRY(check_dtype(arguments, *call.input, kConvolutionDTypes, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *call.weight, call.input->dtype(), "weight"));
  PTERUN_TRY(check_dtype_is(arguments, *call.out, call.input->dtype(), "out"));
  PTERUN_ASSIGN(call.geometry, read_convolution(arguments, *call.input, *call.weight, 3));
  if (call.bias != nullptr) {
    PTERUN_TRY(check_dtype_is(arguments, *call.bias, call.input->dtype(), "bias"));
    PTERUN_TRY(check_shape(arguments, *call.bias, {call.geometry.out_channels}, "bias"));
  }
  return call;
}

// Whether the channels lie innermost.
bool is_channels_last(const Tensor& tensor) {
  std::array<std::uint8_t, kMaxRank> order{};
  const std::size_t rank = tensor.rank();
  for (std::size_t i = 1; i + 1 < rank; ++i)
    order[i] = static_cast<std::uint8_t>(i + 1);
  order[rank - 1] = 1;
  return same_layout(tensor.shape(), tensor.dim_order(), *DimOrder::from(std::span(order).first(rank)));
}

// Sizes and strides of an activation as N, H, W, C; a 1-d one has height 1.
struct Nhwc {
  Shape sizes;
  Strides strides;
};

Nhwc as_nhwc(const Tensor& tensor) {
  const Strides s = tensor.strides();
  if (tensor.rank() == 3) return {{tensor.size(0), 1, tensor.size(2), tensor.size(1)}, {s[0], 0, s[2], s[1]}};
  return {{tensor.size(0), tensor.size(2), tensor.size(3), tensor.size(1)}, {s[0], s[2], s[3], s[1]}};
}

// The activation as NHWC: its own memory or a transposed copy.
Result<const float*> nhwc_input(ExecuteContext& context, const Tensor& tensor) {
  if (is_channels_last(tensor) && !tensor.is_constant()) return tensor.data<float>();
  PTERUN_ASSIGN(std::byte * copy, context.scratch->allocate(tensor.nbytes()));
  const Nhwc view = as_nhwc(tensor);
  copy_block(*context.threads, sizeof(float), view.sizes, tensor.raw_data(), view.strides, copy,
             strides_of(view.sizes, DimOrder::contiguous(4)));
  return reinterpret_cast<const float*>(copy);
}

class ConvolutionKernel final : public Kernel {
 public:
  Result<void> prepare(PrepareContext& context, const Arguments& arguments);
  Result<void> execute(ExecuteContext& context, const Arguments& arguments) override;

 private:
  // How float32 in one or two dimensions is computed.
  enum class Method : std::uint8_t { kNone, kPointwise, kDepthwiseNchw, kNhwc, kNhwcTransposed };

  Result<void> create(ThreadPool& threads, const Arguments& arguments, const Convolution& call);
  Result<void> create_pointwise(const Arguments& arguments, const Convolution& call);
  bool create_depthwise(const Convolution& call);
  Result<void> create_nhwc(ThreadPool& threads, const Arguments& arguments, const Convolution& call);
  Result<void> reshape(const Arguments& arguments, const ConvolutionGeometry& geometry, pthreadpool_t pool);
  Result<void> run(ExecuteContext& context, const Arguments& arguments, const Convolution& call);
  Result<void> run_pointwise(ExecuteContext& context, const Arguments& arguments, const Convolution& call,
                             pthreadpool_t pool);
  Result<void> run_depthwise(ExecuteContext& context, const Arguments& arguments, const Convolution& call,
                             pthreadpool_t pool);
  Result<void> run_nhwc(ExecuteContext& context, const Arguments& arguments, const Convolution& call,
                        pthreadpool_t pool);

  Method method_ = Method::kNone;
  bool keep_ = false;  // weight and bias are constants: the operator serves every execution
  XnnOperator op_;
  AlignedBuffer pointwise_weight_;
  ConvolutionGeometry reshaped_;  // batch and input sizes that op_ was last reshaped to
  std::size_t workspace_bytes_ = 0;
};

bool suits_xnnpack(const Convolution& call) {
  const ConvolutionGeometry& g = call.geometry;
  if (call.input->dtype() != DType::kFloat32 || g.spatial_rank > 2) return false;
  if (call.input->numel() == 0 || call.weight->numel() == 0 || call.out->numel() == 0) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    if (g.output_padding[i] >= g.stride[i] && g.output_padding[i] != 0) return false;
  }
  return true;
}

bool is_pointwise(const Convolution& call) {
  const ConvolutionGeometry& g = call.geometry;
  const Spatial ones{1, 1, 1};
  const Spatial zeros{0, 0, 0};
  return !g.transposed && g.groups == 1 && g.kernel == ones && g.stride == ones && g.padding == zeros;
}

Result<void> ConvolutionKernel::prepare(PrepareContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Convolution call, read(arguments));
  keep_ = call.weight->is_constant() && (call.bias == nullptr || call.bias->is_constant());
  if (!keep_ || !suits_xnnpack(call)) return {};
  return create(*context.threads, arguments, call);
}

Result<void> ConvolutionKernel::create(ThreadPool& threads, const Arguments& arguments, const Convolution& call) {
  PTERUN_TRY(xnnpack::initialize());
  reshaped_.batch = -1;
  const bool nchw = call.input->is_row_major() && call.out->is_row_major() && !is_channels_last(*call.input);
  if (nchw && is_pointwise(call)) return create_pointwise(arguments, call);
  if (nchw && create_depthwise(call)) return {};
  return create_nhwc(threads, arguments, call);
}

Result<void> ConvolutionKernel::create_pointwise(const Arguments& arguments, const Convolution& call) {
  // XNNPACK reads past the end of its left operand, which the constant's mapping does not allow.
  PTERUN_ASSIGN(pointwise_weight_, AlignedBuffer::allocate(call.weight->nbytes()));
  std::memcpy(pointwise_weight_.data(), call.weight->raw_data(), call.weight->nbytes());
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_batch_matrix_multiply_nc_f32(0, &op);
  op_.reset(op);
  method_ = Method::kPointwise;
  return xnn_check(arguments, status, "create batch matrix multiply");
}

// XNNPACK has few depthwise kernels in NCHW: 3x3 and 5x5 with strides 1 and 2.
bool ConvolutionKernel::create_depthwise(const Convolution& call) {
  const ConvolutionGeometry& g = call.geometry;
  if (g.transposed || g.group_in_channels() != 1 || g.group_out_channels() != 1) return false;
  if (g.kernel[1] != g.kernel[2] || (g.kernel[1] != 3 && g.kernel[1] != 5)) return false;
  const auto pad_y = static_cast<std::uint32_t>(g.padding[1]);
  const auto pad_x = static_cast<std::uint32_t>(g.padding[2]);
  const auto channels = static_cast<std::size_t>(g.groups);
  const auto kernel = static_cast<std::uint32_t>(g.kernel[1]);
  xnn_operator_t op = nullptr;
  const xnn_status status = xnn_create_convolution2d_nchw_f32(
      pad_y, pad_x, pad_y, pad_x, kernel, kernel, static_cast<std::uint32_t>(g.stride[1]),
      static_cast<std::uint32_t>(g.stride[2]), static_cast<std::uint32_t>(g.dilation[1]),
      static_cast<std::uint32_t>(g.dilation[2]), static_cast<std::uint32_t>(g.groups), 1, 1, channels, channels,
      call.weight->data<float>(), call.bias == nullptr ? nullptr : call.bias->data<float>(), -kInfinity, kInfinity, 0,
      nullptr, nullptr, &op);
  op_.reset(op);
  if (status != xnn_status_success) return false;
  method_ = Method::kDepthwiseNchw;
  return true;
}

// The weight as groups, output channels, height, width, input channels.
void reorder_weight(ThreadPool& threads, const Convolution& call, float* to) {
  const ConvolutionGeometry& g = call.geometry;
  const Strides s = call.weight->strides();
  const std::int64_t height_step = g.spatial_rank == 2 ? s[2] : 0;
  const std::int64_t width_step = s[call.weight->rank() - 1];
  const std::int64_t in = g.group_in_channels();
  const std::int64_t out = g.group_out_channels();
  const Shape sizes{g.groups, out, g.kernel[1], g.kernel[2], in};
  const Strides from = g.transposed ? Strides{in * s[0], s[1], height_step, width_step, s[0]}
                                    : Strides{out * s[0], s[0], height_step, width_step, s[1]};
  copy_block(threads, sizeof(float), sizes, call.weight->raw_data(), from, to,
             strides_of(sizes, DimOrder::contiguous(5)));
}

Result<void> ConvolutionKernel::create_nhwc(ThreadPool& threads, const Arguments& arguments, const Convolution& call) {
  const ConvolutionGeometry& g = call.geometry;
  PTERUN_ASSIGN(const AlignedBuffer weight, AlignedBuffer::allocate(call.weight->nbytes()));
  auto* kernel = reinterpret_cast<float*>(weight.data());
  reorder_weight(threads, call, kernel);
  const float* bias = call.bias == nullptr ? nullptr : call.bias->data<float>();
  const auto u32 = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto in = static_cast<std::size_t>(g.group_in_channels());
  const auto out = static_cast<std::size_t>(g.group_out_channels());
  const auto create = g.transposed ? xnn_create_deconvolution2d_nhwc_f32 : xnn_create_convolution2d_nhwc_f32;
  xnn_operator_t op = nullptr;
  const xnn_status status =
      create(u32(g.padding[1]), u32(g.padding[2]), u32(g.padding[1]), u32(g.padding[2]), u32(g.kernel[1]),
             u32(g.kernel[2]), u32(g.stride[1]), u32(g.stride[2]), u32(g.dilation[1]), u32(g.dilation[2]),
             u32(g.groups), in, out, static_cast<std::size_t>(g.in_channels), static_cast<std::size_t>(g.out_channels),
             kernel, bias, -kInfinity, kInfinity, 0, nullptr, nullptr, &op);
  op_.reset(op);
  method_ = g.transposed ? Method::kNhwcTransposed : Method::kNhwc;
  return xnn_check(arguments, status, "create convolution");
}

Result<void> ConvolutionKernel::reshape(const Arguments& arguments, const ConvolutionGeometry& g, pthreadpool_t pool) {
  if (reshaped_.batch == g.batch && reshaped_.in == g.in) return {};
  reshaped_.batch = -1;
  const auto batch = static_cast<std::size_t>(g.batch);
  const auto height = static_cast<std::size_t>(g.in[1]);
  const auto width = static_cast<std::size_t>(g.in[2]);
  std::size_t alignment = 0;
  xnn_status status = xnn_status_success;
  workspace_bytes_ = 0;
  switch (method_) {
    case Method::kPointwise: {
      const std::size_t one = 1;
      status = xnn_reshape_batch_matrix_multiply_nc_f32(
          op_.get(), 1, &one, &batch, static_cast<std::size_t>(g.out_channels), static_cast<std::size_t>(g.in_channels),
          height * width, &workspace_bytes_, &alignment, pool);
      break;
    }
    case Method::kDepthwiseNchw:
      status = xnn_reshape_convolution2d_nchw_f32(op_.get(), batch, height, width, nullptr, nullptr, pool);
      break;
    case Method::kNhwc:
      status = xnn_reshape_convolution2d_nhwc_f32(op_.get(), batch, height, width, &workspace_bytes_, &alignment,
                                                  nullptr, nullptr, pool);
      break;
    case Method::kNhwcTransposed:
      status = xnn_reshape_deconvolution2d_nhwc_f32(
          op_.get(), batch, height, width, static_cast<std::uint32_t>(g.output_padding[1]),
          static_cast<std::uint32_t>(g.output_padding[2]), nullptr, nullptr, pool);
      break;
    case Method::kNone: break;
  }
  PTERUN_TRY(xnn_check(arguments, status, "reshape convolution"));
  reshaped_ = g;
  return {};
}

Result<void> ConvolutionKernel::run_pointwise(ExecuteContext& context, const Arguments& arguments,
                                              const Convolution& call, pthreadpool_t pool) {
  PTERUN_ASSIGN(std::byte * workspace, context.scratch->allocate(workspace_bytes_));
  float* out = call.out->mutable_data<float>();
  PTERUN_TRY(xnn_check(
      arguments,
      xnn_setup_batch_matrix_multiply_nc_f32(op_.get(), workspace, reinterpret_cast<float*>(pointwise_weight_.data()),
                                             call.input->data<float>(), out),
      "set up batch matrix multiply"));
  PTERUN_TRY(xnn_check(arguments, xnn_run_operator(op_.get(), pool), "run batch matrix multiply"));
  if (call.bias == nullptr) return {};
  const float* bias = call.bias->data<float>();
  const ConvolutionGeometry& g = call.geometry;
  const std::int64_t positions = volume(g.out);
  const auto planes = static_cast<std::size_t>(g.batch * g.out_channels);
  context.threads->parallel_for(planes, static_cast<std::size_t>(32768 / positions + 1),
                                [&](std::size_t begin, std::size_t end) {
                                  for (std::size_t plane = begin; plane < end; ++plane) {
                                    const float add = bias[plane % static_cast<std::size_t>(g.out_channels)];
                                    float* line = out + static_cast<std::int64_t>(plane) * positions;
                                    for (std::int64_t i = 0; i < positions; ++i)
                                      line[i] += add;
                                  }
                                });
  return {};
}

Result<void> ConvolutionKernel::run_depthwise(ExecuteContext& context, const Arguments& arguments,
                                              const Convolution& call, pthreadpool_t pool) {
  PTERUN_ASSIGN(const float* input, padded_input(context, *call.input));
  PTERUN_TRY(xnn_check(arguments, xnn_setup_convolution2d_nchw_f32(op_.get(), input, call.out->mutable_data<float>()),
                       "set up convolution"));
  return xnn_check(arguments, xnn_run_operator(op_.get(), pool), "run convolution");
}

Result<void> ConvolutionKernel::run_nhwc(ExecuteContext& context, const Arguments& arguments, const Convolution& call,
                                         pthreadpool_t pool) {
  PTERUN_ASSIGN(const float* input, nhwc_input(context, *call.input));
  float* out = call.out->mutable_data<float>();
  const bool direct = is_channels_last(*call.out);
  if (!direct) {
    PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(call.out->nbytes()));
    out = reinterpret_cast<float*>(memory);
  }
  if (method_ == Method::kNhwcTransposed) {
    PTERUN_TRY(xnn_check(arguments, xnn_setup_deconvolution2d_nhwc_f32(op_.get(), input, out), "set up convolution"));
  } else {
    PTERUN_ASSIGN(std::byte * workspace, context.scratch->allocate(workspace_bytes_));
    PTERUN_TRY(
        xnn_check(arguments, xnn_setup_convolution2d_nhwc_f32(op_.get(), workspace, input, out), "set up convolution"));
  }
  PTERUN_TRY(xnn_check(arguments, xnn_run_operator(op_.get(), pool), "run convolution"));
  if (direct) return {};
  const Nhwc view = as_nhwc(*call.out);
  copy_block(*context.threads, sizeof(float), view.sizes, out, strides_of(view.sizes, DimOrder::contiguous(4)),
             call.out->mutable_raw_data(), view.strides);
  return {};
}

Result<void> ConvolutionKernel::run(ExecuteContext& context, const Arguments& arguments, const Convolution& call) {
  pthreadpool_t pool = pool_for(*context.threads, call.geometry.multiplications());
  PTERUN_TRY(reshape(arguments, call.geometry, pool));
  switch (method_) {
    case Method::kPointwise: return run_pointwise(context, arguments, call, pool);
    case Method::kDepthwiseNchw: return run_depthwise(context, arguments, call, pool);
    case Method::kNhwc:
    case Method::kNhwcTransposed:
    case Method::kNone: break;
  }
  return run_nhwc(context, arguments, call, pool);
}

template <typename T>
Result<void> run_unrolled(ExecuteContext& context, const Convolution& call) {
  PTERUN_ASSIGN(const T* input, compute_input<T>(context, *call.input));
  PTERUN_ASSIGN(const T* weight, compute_input<T>(context, *call.weight));
  PTERUN_ASSIGN(const T* bias, optional_compute_input<T>(context, call.bias));
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.out, kComputeOf<T>));
  PTERUN_TRY(convolve<T>(context, call.geometry, input, weight, bias, out.data<T>()));
  return out.store(context);
}

Result<void> ConvolutionKernel::execute(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Convolution call, read(arguments));
  PTERUN_TRY(resize_output(arguments, *call.out, call.geometry.out_shape()));
  if (call.out->numel() == 0) return {};
  if (!suits_xnnpack(call)) {
    return visit_compute(call.input->dtype(), [&]<typename T>() { return run_unrolled<T>(context, call); });
  }
  if (op_ == nullptr || !keep_) PTERUN_TRY(create(*context.threads, arguments, call));
  return run(context, arguments, call);
}

Result<std::unique_ptr<Kernel>> prepare_convolution(PrepareContext& context, const Arguments& arguments) {
  auto kernel = std::make_unique<ConvolutionKernel>();
  PTERUN_TRY(kernel->prepare(context, arguments));
  return kernel;
}

constexpr OperatorRow kRows[] = {
    {"aten::convolution.out", kConvolutionDTypes, nullptr, prepare_convolution},
};

}  // namespace

std::span<const OperatorRow> convolution_family() {
  return kRows;
}

}  // namespace pterun::operators
