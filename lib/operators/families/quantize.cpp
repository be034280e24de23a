// quantized_decomposed: quantize and dequantize, per tensor, channel and token. Formulas and the precision of each
// step are those of PyTorch's decomposed reference (torch.ao.quantization.fx._decomposed).
#include <algorithm>
#include <cmath>
#include <span>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/vector_call.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kQuantized = {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32};

// One scale and zero point for all elements, or one for each channel: element i belongs to channel
// i / inner % channels.
struct Affine {
  std::span<const double> scale;
  std::span<const double> zero;  // empty: 0
  std::int64_t inner = 1;
  DType scale_dtype = DType::kFloat32;

  std::int64_t channels() const { return static_cast<std::int64_t>(scale.size()); }
  double zero_of(std::int64_t channel) const { return zero.empty() ? 0.0 : zero[static_cast<std::size_t>(channel)]; }
};

struct Bounds {
  double least = 0.0, most = 0.0;
};

// Calls body(first, count, channel) for runs of elements of one channel, on several threads.
template <typename Body>
void for_each_run(ThreadPool& threads, const Affine& affine, std::int64_t count, const Body& body) {
  constexpr std::size_t kGrain = 32768;
  threads.parallel_for(static_cast<std::size_t>(count), kGrain, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end);) {
      const std::int64_t left = affine.inner - i % affine.inner;
      const std::int64_t run = std::min({left, static_cast<std::int64_t>(end) - i, static_cast<std::int64_t>(kBlock)});
      body(i, run, i / affine.inner % affine.channels());
      i += run;
    }
  });
}

// Where the zero point is added: before rounding (per token) or after it.
template <typename T, bool kRoundSum>
struct QuantizeLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t n, T inverse, T zero, T least, T most,
                                                T* out) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T scaled = x[i] * inverse;
      const T value = kRoundSum ? std::nearbyint(scaled + zero) : std::nearbyint(scaled) + zero;
      // Comparisons that keep NaN, like clamp.
      const T low = value < least ? least : value;
      out[i] = low > most ? most : low;
    }
  }
};

template <typename T, bool kRoundSum>
Result<void> quantize_as(ExecuteContext& context, const Tensor& input, const Affine& affine, const Bounds& bounds,
                         Tensor& out) {
  PTERUN_ASSIGN(const T* x, compute_input<T>(context, input));
  PTERUN_ASSIGN(RowMajorOutput results, RowMajorOutput::open(context, out));
  const StoreBlock store = store_block(kComputeOf<T>, out.dtype());
  const auto element = static_cast<std::int64_t>(dtype_size(out.dtype()));
  for_each_run(*context.threads, affine, input.numel(), [&](std::int64_t at, std::int64_t count, std::int64_t channel) {
    T block[kBlock];
    const T inverse = static_cast<T>(1.0 / affine.scale[static_cast<std::size_t>(channel)]);
    call_vectorised<QuantizeLoop<T, kRoundSum>>(x + at, count, inverse, static_cast<T>(affine.zero_of(channel)),
                                                static_cast<T>(bounds.least), static_cast<T>(bounds.most), &block[0]);
    store(block, results.data() + at * element, 1, static_cast<std::size_t>(count));
  });
  results.finish(context);
  return {};
}

// The arguments quant_min, quant_max, dtype from `first` on, checked against the output.
Result<Bounds> read_bounds(const Arguments& arguments, std::size_t first, const Tensor& quantized,
                           std::string_view what) {
  PTERUN_ASSIGN(const std::int64_t least, arguments.integer(first));
  PTERUN_ASSIGN(const std::int64_t most, arguments.integer(first + 1));
  PTERUN_ASSIGN(const std::optional<DType> dtype, arguments.optional_dtype(first + 2));
  PTERUN_TRY(check_dtype(arguments, quantized, kQuantized, what));
  if (dtype) PTERUN_TRY(check_dtype_is(arguments, quantized, *dtype, what));
  if (least > most) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "quant_min " + std::to_string(least) + " is above quant_max " + std::to_string(most)));
  }
  return Bounds{static_cast<double>(least), static_cast<double>(most)};
}

// The elements of a tensor of scales or zero points, `count` of them.
Result<std::span<const double>> read_parameters(ExecuteContext& context, const Arguments& arguments,
                                                const Tensor& tensor, std::int64_t count, std::string_view what) {
  PTERUN_TRY(check_dtype(arguments, tensor, kFloats | kIntegers, what));
  if (tensor.numel() != count) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " is " + tensor.describe() +
                                                                 ", expected " + std::to_string(count) + " numbers"));
  }
  PTERUN_ASSIGN(const double* values, compute_input<double>(context, tensor));
  return std::span(values, static_cast<std::size_t>(count));
}

// Scale and zero point of a whole tensor, as numbers or as tensors of one number.
struct TensorAffine {
  double scale = 1.0, zero = 0.0;
};

Result<TensorAffine> read_tensor_affine(ExecuteContext& context, const Arguments& arguments, bool tensors) {
  TensorAffine affine;
  if (!tensors) {
    PTERUN_ASSIGN(affine.scale, arguments.number(1));
    PTERUN_ASSIGN(affine.zero, arguments.number(2));
    return affine;
  }
  PTERUN_ASSIGN(const Tensor* scale, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* zero, arguments.tensor(2));
  PTERUN_ASSIGN(const std::span<const double> scales, read_parameters(context, arguments, *scale, 1, "scale"));
  PTERUN_ASSIGN(const std::span<const double> zeros, read_parameters(context, arguments, *zero, 1, "zero_point"));
  return TensorAffine{scales[0], zeros[0]};
}

// Whether the reference computes in double: when the scales are a double tensor, or the input is double.
bool computes_in_double(const Tensor& input, const Affine& affine) {
  return input.dtype() == DType::kFloat64 || affine.scale_dtype == DType::kFloat64;
}

template <bool kRoundSum>
Result<void> quantize(ExecuteContext& context, const Tensor& input, const Affine& affine, const Bounds& bounds,
                      Tensor& out) {
  if (input.numel() == 0) return {};
  if (computes_in_double(input, affine)) return quantize_as<double, kRoundSum>(context, input, affine, bounds, out);
  return quantize_as<float, kRoundSum>(context, input, affine, bounds, out);
}

template <bool kTensors>
Result<void> quantize_per_tensor(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(6));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_ASSIGN(const TensorAffine one, read_tensor_affine(context, arguments, kTensors));
  PTERUN_ASSIGN(const Bounds bounds, read_bounds(arguments, 3, *out, "out"));
  PTERUN_TRY(resize_output(arguments, *out, input->shape()));
  const Affine affine{{&one.scale, 1}, {&one.zero, 1}, std::max<std::int64_t>(input->numel(), 1)};
  return quantize<false>(context, *input, affine, bounds, *out);
}

// Scales and zero points of the channels along an axis.
Result<Affine> read_channel_affine(ExecuteContext& context, const Arguments& arguments, const Tensor& input) {
  PTERUN_ASSIGN(const Tensor* scales, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* zeros, arguments.optional_tensor(2));
  PTERUN_ASSIGN(const std::int64_t axis_argument, arguments.integer(3));
  PTERUN_ASSIGN(const std::size_t axis, wrap_dim(arguments, axis_argument, input.rank()));
  const std::int64_t channels = input.rank() == 0 ? 1 : input.size(axis);
  Affine affine;
  affine.scale_dtype = scales->dtype();
  for (std::size_t i = axis + 1; i < input.rank(); ++i)
    affine.inner *= input.size(i);
  PTERUN_ASSIGN(affine.scale, read_parameters(context, arguments, *scales, channels, "scales"));
  if (zeros == nullptr) return affine;
  PTERUN_ASSIGN(affine.zero, read_parameters(context, arguments, *zeros, channels, "zero_points"));
  return affine;
}

// Scales and zero points of the rows.
Result<Affine> read_token_affine(ExecuteContext& context, const Arguments& arguments, const Tensor& input) {
  PTERUN_ASSIGN(const Tensor* scales, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* zeros, arguments.tensor(2));
  Affine affine;
  affine.scale_dtype = scales->dtype();
  affine.inner = input.rank() == 0 ? 1 : input.size(input.rank() - 1);
  const std::int64_t tokens = affine.inner == 0 ? scales->numel() : input.numel() / affine.inner;
  PTERUN_ASSIGN(affine.scale, read_parameters(context, arguments, *scales, tokens, "scales"));
  PTERUN_ASSIGN(affine.zero, read_parameters(context, arguments, *zeros, tokens, "zero_points"));
  return affine;
}

Result<void> quantize_per_channel(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(7));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_ASSIGN(const Affine affine, read_channel_affine(context, arguments, *input));
  PTERUN_ASSIGN(const Bounds bounds, read_bounds(arguments, 4, *out, "out"));
  PTERUN_TRY(resize_output(arguments, *out, input->shape()));
  return quantize<false>(context, *input, affine, bounds, *out);
}

Result<void> quantize_per_token(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(6));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_ASSIGN(const Affine affine, read_token_affine(context, arguments, *input));
  PTERUN_ASSIGN(const Bounds bounds, read_bounds(arguments, 3, *out, "out"));
  PTERUN_TRY(resize_output(arguments, *out, input->shape()));
  return quantize<true>(context, *input, affine, bounds, *out);
}

// Rounds a block to the output's dtype and back where that changes anything.
template <typename T>
void round_block(DType dtype, T* block, std::int64_t count) {
  if (is_native(dtype, kComputeOf<T>)) return;
  alignas(8) std::byte rounded[kBlock * 8];
  store_as<T>(dtype, block, rounded, 1, static_cast<std::size_t>(count));
  load_as<T>(dtype, rounded, 1, block, static_cast<std::size_t>(count));
}

// Each step in the output's dtype: input to it, minus the zero point, times the scale.
template <typename T>
Result<void> dequantize_tensor_as(ExecuteContext& context, const Tensor& input, const TensorAffine& one, Tensor& out) {
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, input));
  PTERUN_ASSIGN(RowMajorOutput results, RowMajorOutput::open(context, out));
  const auto from_size = static_cast<std::int64_t>(dtype_size(input.dtype()));
  const auto to_size = static_cast<std::int64_t>(dtype_size(out.dtype()));
  const Affine whole{{&one.scale, 1}, {}, input.numel()};
  const T zero = static_cast<T>(one.zero);
  const T scale = static_cast<T>(one.scale);
  for_each_run(*context.threads, whole, input.numel(), [&](std::int64_t at, std::int64_t count, std::int64_t) {
    T block[kBlock];
    load_as<T>(input.dtype(), elements + at * from_size, 1, block, static_cast<std::size_t>(count));
    round_block(out.dtype(), block, count);
    for (std::int64_t i = 0; i < count; ++i)
      block[i] -= zero;
    round_block(out.dtype(), block, count);
    for (std::int64_t i = 0; i < count; ++i)
      block[i] *= scale;
    store_as<T>(out.dtype(), block, results.data() + at * to_size, 1, static_cast<std::size_t>(count));
  });
  results.finish(context);
  return {};
}

// What the dequantizing operators share: a quantized input, the dtype asked for, an output of that dtype.
Result<void> prepare_dequantized(const Arguments& arguments, std::size_t bounds_argument, std::size_t dtype_argument,
                                 const Tensor& input, Tensor& out) {
  PTERUN_TRY(read_bounds(arguments, bounds_argument, input, "input"));
  PTERUN_ASSIGN(const std::optional<DType> dtype, arguments.optional_dtype(dtype_argument));
  PTERUN_TRY(check_dtype(arguments, out, kFloats, "out"));
  PTERUN_TRY(check_dtype_is(arguments, out, dtype.value_or(DType::kFloat32), "out"));
  return resize_output(arguments, out, input.shape());
}

template <bool kTensors>
Result<void> dequantize_per_tensor(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(7));
  PTERUN_ASSIGN(const TensorAffine one, read_tensor_affine(context, arguments, kTensors));
  PTERUN_TRY(prepare_dequantized(arguments, 3, 6, *input, *out));
  if (out->numel() == 0) return {};
  return visit_float_compute(out->dtype(),
                             [&]<typename T>() { return dequantize_tensor_as<T>(context, *input, one, *out); });
}

// (input - zero) exactly, times the scale in the scales' precision, then to the output's dtype.
template <typename T>
Result<void> dequantize_as(ExecuteContext& context, const Tensor& input, const Affine& affine, Tensor& out) {
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, input));
  PTERUN_ASSIGN(RowMajorOutput results, RowMajorOutput::open(context, out));
  const auto from_size = static_cast<std::int64_t>(dtype_size(input.dtype()));
  const auto to_size = static_cast<std::int64_t>(dtype_size(out.dtype()));
  for_each_run(*context.threads, affine, input.numel(), [&](std::int64_t at, std::int64_t count, std::int64_t channel) {
    double block[kBlock];
    T products[kBlock];
    load_as<double>(input.dtype(), elements + at * from_size, 1, block, static_cast<std::size_t>(count));
    const double zero = affine.zero_of(channel);
    const T scale = static_cast<T>(affine.scale[static_cast<std::size_t>(channel)]);
    for (std::int64_t i = 0; i < count; ++i)
      products[i] = static_cast<T>(block[i] - zero) * scale;
    store_as<T>(out.dtype(), products, results.data() + at * to_size, 1, static_cast<std::size_t>(count));
  });
  results.finish(context);
  return {};
}

Result<void> dequantize(ExecuteContext& context, const Tensor& input, const Affine& affine, Tensor& out) {
  if (out.numel() == 0) return {};
  return affine.scale_dtype == DType::kFloat64 ? dequantize_as<double>(context, input, affine, out)
                                               : dequantize_as<float>(context, input, affine, out);
}

Result<void> dequantize_per_channel(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(8));
  PTERUN_ASSIGN(const Affine affine, read_channel_affine(context, arguments, *input));
  PTERUN_TRY(prepare_dequantized(arguments, 4, 7, *input, *out));
  return dequantize(context, *input, affine, *out);
}

Result<void> dequantize_per_token(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(7));
  PTERUN_ASSIGN(const Affine affine, read_token_affine(context, arguments, *input));
  PTERUN_TRY(prepare_dequantized(arguments, 3, 6, *input, *out));
  return dequantize(context, *input, affine, *out);
}

constexpr OperatorRow kRows[] = {
    {"quantized_decomposed::quantize_per_tensor.out", kFloats, quantize_per_tensor<false>},
    {"quantized_decomposed::quantize_per_tensor.Tensor_out", kFloats, quantize_per_tensor<true>},
    {"quantized_decomposed::quantize_per_channel.out", kFloats, quantize_per_channel},
    {"quantized_decomposed::quantize_per_token.out", kFloats, quantize_per_token},
    {"quantized_decomposed::dequantize_per_tensor.out", kQuantized, dequantize_per_tensor<false>},
    {"quantized_decomposed::dequantize_per_tensor.Tensor_out", kQuantized, dequantize_per_tensor<true>},
    {"quantized_decomposed::dequantize_per_channel.out", kQuantized, dequantize_per_channel},
    {"quantized_decomposed::dequantize_per_token.out", kQuantized, dequantize_per_token},
};

}  // namespace

std::span<const OperatorRow> quantize_family() {
  return kRows;
}

}  // namespace pterun::operators
