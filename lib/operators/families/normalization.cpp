// native_layer_norm and native_group_norm: rows are normalised with their own mean and variance.
#include <algorithm>
#include <cmath>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/row_statistics.h"

namespace pterun::operators {
namespace {

std::size_t row_grain(std::int64_t row_elements) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(row_elements, 1)));
}

template <typename T>
struct LayerNormLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t rows, std::int64_t n, const T* weight,
                                                const T* bias, T eps, T* out, T* means, T* rstds) {
    for (std::int64_t row = 0; row < rows; ++row, x += n, out += n) {
      T mean, variance;
      row_moments(x, n, mean, variance);
      const T rstd = T{1} / std::sqrt(variance + eps);
      means[row] = mean;
      rstds[row] = rstd;
      std::int64_t i = 0;
      for (; i + kWidth<T> <= n; i += kWidth<T>) {
        Vector<T> value = (vector_at(x + i) - mean) * rstd;
        if (weight != nullptr) value *= vector_at(weight + i);
        if (bias != nullptr) value += vector_at(bias + i);
        vector_at(out + i) = value;
      }
      for (; i < n; ++i) {
        T value = (x[i] - mean) * rstd;
        if (weight != nullptr) value *= weight[i];
        if (bias != nullptr) value += bias[i];
        out[i] = value;
      }
    }
  }
};

// What both norms take. The bias follows the weight, the three outputs follow eps.
struct Operands {
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  double eps = 0.0;
  Tensor* out = nullptr;
  Tensor* mean = nullptr;
  Tensor* rstd = nullptr;

  Result<void> read(const Arguments& arguments, std::size_t weight_at, std::size_t eps_at) {
    PTERUN_ASSIGN(input, arguments.tensor(0));
    PTERUN_ASSIGN(weight, arguments.optional_tensor(weight_at));
    PTERUN_ASSIGN(bias, arguments.optional_tensor(weight_at + 1));
    PTERUN_ASSIGN(eps, arguments.number(eps_at));
    PTERUN_ASSIGN(out, arguments.tensor(eps_at + 1));
    PTERUN_ASSIGN(mean, arguments.tensor(eps_at + 2));
    PTERUN_ASSIGN(rstd, arguments.tensor(eps_at + 3));
    PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
    return check_dtype_is(arguments, *out, input->dtype(), "out");
  }
  Result<void> check_parameters(const Arguments& arguments, const Shape& shape) const {
    if (weight != nullptr) PTERUN_TRY(check_shape(arguments, *weight, shape, "weight"));
    if (bias != nullptr) PTERUN_TRY(check_shape(arguments, *bias, shape, "bias"));
    return {};
  }
};

struct LayerNorm : Operands {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

template <typename T>
Result<void> run_layer_norm(ExecuteContext& context, const LayerNorm& call) {
  PTERUN_ASSIGN(const T* x, compute_input<T>(context, *call.input));
  PTERUN_ASSIGN(const T* weight, optional_compute_input<T>(context, call.weight));
  PTERUN_ASSIGN(const T* bias, optional_compute_input<T>(context, call.bias));
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.out, kComputeOf<T>));
  PTERUN_ASSIGN(ComputeOutput mean, ComputeOutput::open(context, *call.mean, kComputeOf<T>));
  PTERUN_ASSIGN(ComputeOutput rstd, ComputeOutput::open(context, *call.rstd, kComputeOf<T>));
  const std::int64_t n = call.columns;
  const T eps = static_cast<T>(call.eps);
  context.threads->parallel_for(
      static_cast<std::size_t>(call.rows), row_grain(n), [&](std::size_t begin, std::size_t end) {
        const auto first = static_cast<std::int64_t>(begin);
        const auto rows = static_cast<std::int64_t>(end) - first;
        call_vectorised<LayerNormLoop<T>>(x + first * n, rows, n, weight, bias, eps, out.data<T>() + first * n,
                                          mean.data<T>() + first, rstd.data<T>() + first);
      });
  PTERUN_TRY(out.store(context));
  PTERUN_TRY(mean.store(context));
  return rstd.store(context);
}

// Rows of no elements: their mean is 0 and their rstd NaN, as in eager.
Result<void> fill_empty_statistics(ExecuteContext& context, Tensor& mean, Tensor& rstd) {
  PTERUN_ASSIGN(ComputeOutput means, ComputeOutput::open(context, mean, Compute::kDouble));
  PTERUN_ASSIGN(ComputeOutput rstds, ComputeOutput::open(context, rstd, Compute::kDouble));
  std::fill_n(means.data<double>(), mean.numel(), 0.0);
  std::fill_n(rstds.data<double>(), rstd.numel(), std::nan(""));
  PTERUN_TRY(means.store(context));
  return rstds.store(context);
}

Result<void> native_layer_norm(ExecuteContext& context, const Arguments& arguments) {
  LayerNorm call;
  PTERUN_TRY(call.read(arguments, 2, 4));
  PTERUN_ASSIGN(const Shape normalized, arguments.int_list(1));
  const Tensor& input = *call.input;
  const std::size_t rank = input.rank();
  const std::size_t kept = rank - std::min(normalized.rank(), rank);
  if (normalized.rank() == 0 || normalized.rank() > rank || Shape(input.shape().span().subspan(kept)) != normalized) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "normalized_shape " + normalized.to_string() +
                                                                 " is not the end of input " + input.describe()));
  }
  PTERUN_TRY(call.check_parameters(arguments, normalized));
  Shape statistics = input.shape();
  for (std::size_t i = 0; i < rank; ++i) {
    (i < kept ? call.rows : call.columns) *= input.size(i);
    if (i >= kept) statistics[i] = 1;
  }
  PTERUN_TRY(resize_output(arguments, *call.out, input.shape()));
  PTERUN_TRY(resize_output(arguments, *call.mean, statistics));
  PTERUN_TRY(resize_output(arguments, *call.rstd, statistics));
  if (call.rows == 0) return {};
  if (call.columns == 0) return fill_empty_statistics(context, *call.mean, *call.rstd);
  return visit_float_compute(input.dtype(), [&]<typename T>() { return run_layer_norm<T>(context, call); });
}

// One group after the other: `channels` rows of `n` elements share a mean and a variance.
template <typename T>
struct GroupNormLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t channels, std::int64_t n, const T* weight,
                                                const T* bias, T eps, T* out, T* mean, T* rstd) {
    T variance;
    row_moments(x, channels * n, *mean, variance);
    *rstd = T{1} / std::sqrt(variance + eps);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const T scale = weight == nullptr ? *rstd : *rstd * weight[channel];
      const T shift = (bias == nullptr ? T{0} : bias[channel]) - *mean * scale;
      row_scale_shift(x + channel * n, n, scale, shift, out + channel * n);
    }
  }
};

struct GroupNorm : Operands {
  std::int64_t batch = 0, channels = 0, positions = 0, groups = 0;
};

template <typename T>
Result<void> run_group_norm(ExecuteContext& context, const GroupNorm& call) {
  PTERUN_ASSIGN(const T* x, compute_input<T>(context, *call.input));
  PTERUN_ASSIGN(const T* weight, optional_compute_input<T>(context, call.weight));
  PTERUN_ASSIGN(const T* bias, optional_compute_input<T>(context, call.bias));
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.out, kComputeOf<T>));
  PTERUN_ASSIGN(ComputeOutput mean, ComputeOutput::open(context, *call.mean, kComputeOf<T>));
  PTERUN_ASSIGN(ComputeOutput rstd, ComputeOutput::open(context, *call.rstd, kComputeOf<T>));
  const std::int64_t channels = call.channels / call.groups;
  const std::int64_t elements = channels * call.positions;
  const T eps = static_cast<T>(call.eps);
  context.threads->parallel_for(
      static_cast<std::size_t>(call.batch * call.groups), row_grain(elements), [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
          const std::int64_t channel = i % call.groups * channels;
          const T* group_weight = weight == nullptr ? nullptr : weight + channel;
          const T* group_bias = bias == nullptr ? nullptr : bias + channel;
          call_vectorised<GroupNormLoop<T>>(x + i * elements, channels, call.positions, group_weight, group_bias, eps,
                                            out.data<T>() + i * elements, mean.data<T>() + i, rstd.data<T>() + i);
        }
      });
  PTERUN_TRY(out.store(context));
  PTERUN_TRY(mean.store(context));
  return rstd.store(context);
}

Result<void> native_group_norm(ExecuteContext& context, const Arguments& arguments) {
  GroupNorm call;
  PTERUN_TRY(call.read(arguments, 1, 7));
  PTERUN_ASSIGN(call.batch, arguments.integer(3));
  PTERUN_ASSIGN(call.channels, arguments.integer(4));
  PTERUN_ASSIGN(call.positions, arguments.integer(5));
  PTERUN_ASSIGN(call.groups, arguments.integer(6));
  const Tensor& input = *call.input;
  const Shape sizes{call.batch, call.channels, call.positions};
  const auto numel = checked_numel(sizes.span());
  if (!numel || *numel != input.numel() || input.rank() < 2 || input.size(0) != call.batch ||
      input.size(1) != call.channels || call.groups < 1 || call.channels % call.groups != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "input " + input.describe() + " is not [N, C, HxW] " +
                                                                 sizes.to_string() + " in " +
                                                                 std::to_string(call.groups) + " groups"));
  }
  PTERUN_TRY(call.check_parameters(arguments, {call.channels}));
  PTERUN_TRY(resize_output(arguments, *call.out, input.shape()));
  PTERUN_TRY(resize_output(arguments, *call.mean, {call.batch, call.groups}));
  PTERUN_TRY(resize_output(arguments, *call.rstd, {call.batch, call.groups}));
  if (call.batch == 0) return {};
  if (input.numel() == 0) return fill_empty_statistics(context, *call.mean, *call.rstd);
  return visit_float_compute(input.dtype(), [&]<typename T>() { return run_group_norm<T>(context, call); });
}

constexpr OperatorRow kRows[] = {
    {"aten::native_layer_norm.out", kFloats, native_layer_norm},
    {"aten::native_group_norm.out", kFloats, native_group_norm},
};

}  // namespace

std::span<const OperatorRow> normalization_family() {
  return kRows;
}

}  // namespace pterun::operators
