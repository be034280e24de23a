// Variance and mean with variance. Mean and squared deviations are kept in double and merged block by block, which is
// exact enough however far the values lie from zero.
#include <algorithm>
#include <array>
#include <cmath>

#include "operators/complex_elementwise.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/promotion.h"
#include "operators/reduction.h"
#include "operators/vector_target.h"

namespace pterun::operators {
namespace {

struct Moments {
  double count = 0;
  double mean = 0;
  double deviations = 0;  // sum of squared differences from the mean
};

// Merges two sets of values (Chan, Golub, LeVeque: Updating formulae, 1979).
void merge(Moments& into, const Moments& other) {
  if (other.count == 0) return;
  const double count = into.count + other.count;
  const double delta = other.mean - into.mean;
  into.mean += delta * (other.count / count);
  into.deviations += other.deviations + delta * delta * (into.count * other.count / count);
  into.count = count;
}

constexpr std::size_t kLanes = 8;

// Sum over the array of (x - shift) or its square, in lanes.
template <bool kSquare>
double shifted_sum(const double* x, std::size_t count, double shift) {
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = x[i + lane] - shift;
      lanes[lane] += kSquare ? value * value : value;
    }
  }
  double total = 0;
  for (; i < count; ++i)
    total += kSquare ? (x[i] - shift) * (x[i] - shift) : x[i] - shift;
  for (const double lane : lanes)
    total += lane;
  return total;
}

// As eager's running mean: an infinity that is not the last value makes it NaN.
double running_mean(const double* x, std::size_t count) {
  double mean = 0;
  for (std::size_t i = 0; i < count; ++i)
    mean += (x[i] - mean) / static_cast<double>(i + 1);
  return mean;
}

void start(void* states, std::size_t count) {
  std::fill_n(static_cast<Moments*>(states), count, Moments{});
}

void fold_row(void* state, const void* values, std::size_t count) {
  const auto* x = static_cast<const double*>(values);
  Moments block;
  block.count = static_cast<double>(count);
  block.mean = shifted_sum<false>(x, count, 0) / block.count;
  if (std::isinf(block.mean)) block.mean = running_mean(x, count);
  block.deviations = shifted_sum<true>(x, count, block.mean);
  merge(*static_cast<Moments*>(state), block);
}

void fold_columns(void* states, const void* values, std::size_t count) {
  auto* moments = static_cast<Moments*>(states);
  const auto* x = static_cast<const double*>(values);
  for (std::size_t i = 0; i < count; ++i) {
    Moments& m = moments[i];
    m.count += 1;
    const double delta = x[i] - m.mean;
    m.mean += delta / m.count;
    m.deviations += delta * (x[i] - m.mean);
  }
}

void finish_variance(const void* states, std::size_t count, std::int64_t folded, double correction, void* results) {
  const auto* moments = static_cast<const Moments*>(states);
  const double divisor = std::max(0.0, static_cast<double>(folded) - correction);
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(results)[i] = moments[i].deviations / divisor;
}

void finish_mean(const void* states, std::size_t count, std::int64_t folded, double, void* results) {
  const auto* moments = static_cast<const Moments*>(states);
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(results)[i] = folded == 0 ? 0.0 / static_cast<double>(folded) : moments[i].mean;
}

constexpr ReductionKernel kVariance = {.load = Compute::kDouble,
                                       .result = Compute::kDouble,
                                       .state_size = sizeof(Moments),
                                       .start = start,
                                       .fold_row = fold_row,
                                       .fold_columns = fold_columns,
                                       .finish = finish_variance};

// Real and imaginary parts are reduced side by side. A complex output takes both (means), a real one their sum
// (variances).
Result<void> reduce_complex(ExecuteContext& context, const Arguments& arguments, const Tensor& input,
                            std::uint32_t dims, bool keepdim, const ReductionKernel& kernel, double parameter,
                            Tensor& output) {
  if (input.rank() == kMaxRank) {
    return fail(arguments.error(ErrorCode::kNotSupported, "complex numbers in 16 dimensions cannot be reduced"));
  }
  Shape shape = reduced_shape(input.shape(), dims, keepdim);
  PTERUN_TRY(resize_output(arguments, output, shape));
  shape.push_back(2);
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, input));
  PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(static_cast<std::size_t>(shape.numel()) * 8));
  const Tensor parts = view_as_real(Tensor(input.dtype(), input.shape(), const_cast<std::byte*>(elements)));
  Tensor pairs(DType::kFloat64, shape, memory);
  PTERUN_TRY(reduce(context, arguments, parts, dims & ((1u << input.rank()) - 1), keepdim, kernel, parameter, pairs));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, output));
  const std::size_t size = dtype_size(output.dtype());
  for (std::int64_t i = 0; i < output.numel(); ++i) {
    const double* pair = pairs.data<double>() + 2 * i;
    const Complex value = is_complex(output.dtype()) ? Complex(pair[0], pair[1]) : Complex(pair[0] + pair[1]);
    store_complex(output.dtype(), value, target.data() + static_cast<std::size_t>(i) * size);
  }
  target.finish(context);
  return {};
}

Result<void> reduce_moments(ExecuteContext& context, const Arguments& arguments, const Tensor& input,
                            const ReductionKernel& kernel, double parameter, bool keepdim, DType result,
                            Tensor& output) {
  PTERUN_TRY(check_dtype(arguments, 0, input, kFloats | kComplex));
  PTERUN_TRY(check_output_dtype(arguments, result, output));
  PTERUN_ASSIGN(const std::uint32_t dims, reduced_dims_argument(arguments, 1, input.rank()));
  return (is_complex(input.dtype()) ? reduce_complex : reduce)(context, arguments, input, dims, keepdim, kernel,
                                                               parameter, output);
}

Result<void> variance(ExecuteContext& context, const Arguments& arguments, double correction, bool keepdim,
                      std::size_t first_output) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(first_output));
  return reduce_moments(context, arguments, *input, kVariance, correction, keepdim, parts_of(input->dtype()).dtype,
                        *output);
}

Result<void> var_correction(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const auto correction, arguments.optional_number(2));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(3));
  return variance(context, arguments, correction.value_or(1), keepdim, 4);
}

Result<void> var(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const bool unbiased, arguments.boolean(2));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(3));
  return variance(context, arguments, unbiased ? 1 : 0, keepdim, 4);
}

Result<void> var_mean(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const auto correction, arguments.optional_number(2));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(3));
  PTERUN_ASSIGN(Tensor * mean, arguments.tensor(5));
  PTERUN_TRY(check_output_dtype(arguments, input->dtype(), *mean));
  PTERUN_TRY(variance(context, arguments, correction.value_or(1), keepdim, 4));
  ReductionKernel kernel = kVariance;
  kernel.finish = finish_mean;
  return reduce_moments(context, arguments, *input, kernel, 0, keepdim, input->dtype(), *mean);
}

constexpr OperatorRow kRows[] = {
    {"aten::var.out", kFloats | kComplex, var},
    {"aten::var.correction_out", kFloats | kComplex, var_correction},
    {"aten::var_mean.correction_out", kFloats | kComplex, var_mean},
};

}  // namespace

std::span<const OperatorRow> variance_family() {
  return kRows;
}

}  // namespace pterun::operators
