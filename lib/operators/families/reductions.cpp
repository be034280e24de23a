// Sums, means, products and any. Floats add up in double, so that a sum of many float32 keeps float32's precision
// whatever their order; integers in int64, modulo 2^64 like eager.
#include <array>
#include <cstring>
#include <limits>

#include "operators/along.h"
#include "operators/complex_elementwise.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/promotion.h"
#include "operators/reduction.h"
#include "operators/vector_target.h"

namespace pterun::operators {
namespace {

// Enough independent sums to hide the latency of additions.
constexpr std::size_t kLanes = 16;

struct Sum {
  template <typename T>
  using State = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  static constexpr int kIdentity = 0;
  template <typename T>
  static T combine(T a, T b) {
    return wrap_add(a, b);
  }
};

// Products of float32 stay in float32: they overflow where eager's do.
struct Product {
  template <typename T>
  using State = T;
  static constexpr int kIdentity = 1;
  template <typename T>
  static T combine(T a, T b) {
    return wrap_mul(a, b);
  }
};

// Products of float16 are rounded at every step, so that they overflow where eager's do.
struct HalfProduct {
  template <typename T>
  using State = T;
  static constexpr int kIdentity = 1;
  template <typename T>
  static T combine(T a, T b) {
    return static_cast<T>(static_cast<float>(Half(static_cast<float>(a * b))));
  }
};

// A state is one Op::State<T>.
template <typename T, typename Op>
struct Fold {
  using State = typename Op::template State<T>;
  static constexpr State kIdentity = Op::kIdentity;

  static void start(void* states, std::size_t count) { std::fill_n(static_cast<State*>(states), count, kIdentity); }

  [[gnu::always_inline]] static inline void row(void* state, const void* values, std::size_t count) {
    const T* const x = static_cast<const T*>(values);
    State total = *static_cast<State*>(state);
    std::size_t i = 0;
    if (count >= kLanes) {
      std::array<State, kLanes> lanes;
      lanes.fill(kIdentity);
      for (; i + kLanes <= count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          lanes[lane] = Op::combine(lanes[lane], static_cast<State>(x[i + lane]));
      }
      for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane)
          lanes[lane] = Op::combine(lanes[lane], lanes[lane + half]);
      }
      total = Op::combine(total, lanes[0]);
    }
    for (; i < count; ++i)
      total = Op::combine(total, static_cast<State>(x[i]));
    *static_cast<State*>(state) = total;
  }

  [[gnu::always_inline]] static inline void columns(void* states, const void* values, std::size_t count) {
    const T* const x = static_cast<const T*>(values);
    State* const totals = static_cast<State*>(states);
    PTERUN_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i)
      totals[i] = Op::combine(totals[i], static_cast<State>(x[i]));
  }

  static void row_base(void* state, const void* values, std::size_t count) { row(state, values, count); }
  PTERUN_TARGET_AVX2 static void row_avx2(void* state, const void* values, std::size_t count) {
    row(state, values, count);
  }
  static void columns_base(void* states, const void* values, std::size_t count) { columns(states, values, count); }
  PTERUN_TARGET_AVX2 static void columns_avx2(void* states, const void* values, std::size_t count) {
    columns(states, values, count);
  }

  // The fold times `factor`, which is 1 for integers.
  static void finish(const void* states, std::size_t count, std::int64_t, double factor, void* results) {
    const State* const totals = static_cast<const State*>(states);
    State* const out = static_cast<State*>(results);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<State>)
        out[i] = totals[i];
      else
        out[i] = static_cast<State>(totals[i] * factor);
    }
  }

  static ReductionKernel kernel() {
    const bool base = vector_target() == VectorTarget::kBase;
    return {.load = kComputeOf<T>,
            .result = kComputeOf<State>,
            .state_size = sizeof(State),
            .start = start,
            .fold_row = base ? row_base : row_avx2,
            .fold_columns = base ? columns_base : columns_avx2,
            .finish = finish};
  }
};

// The kernel that folds in the precision of the result's dtype.
template <typename Op>
ReductionKernel fold_kernel(DType result) {
  return visit_compute(result, []<typename T>() { return Fold<T, Op>::kernel(); });
}

ReductionKernel product_kernel(DType result) {
  return result == DType::kFloat16 ? Fold<float, HalfProduct>::kernel() : fold_kernel<Product>(result);
}

// The number of inputs of one output.
double folded_count(const Tensor& input, std::uint32_t dims) {
  double count = 1;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    if (((dims >> i) & 1u) != 0) count *= static_cast<double>(input.size(i));
  }
  return count;
}

// Checks the dtypes of an input and an output of a sum or product in dtype `requested`.
Result<void> check_sum(const Arguments& arguments, const Tensor& input, std::size_t dtype_argument,
                       const Tensor& output) {
  PTERUN_TRY(check_dtype(arguments, 0, input, kAnyDType));
  PTERUN_ASSIGN(const auto requested, arguments.optional_dtype(dtype_argument));
  const bool kept = is_floating(input.dtype()) || is_complex(input.dtype());
  const DType natural = kept ? input.dtype() : DType::kInt64;
  return check_output_dtype(arguments, requested.value_or(natural), output);
}

// Folds in the precision of the output. Floats that are summed as integers are converted first, as eager does. Complex
// numbers are added up as pairs of numbers.
Result<void> fold(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::uint32_t dims,
                  bool keepdim, const ReductionKernel& kernel, double factor, Tensor& output) {
  if (is_complex(input.dtype()) && is_complex(output.dtype())) {
    PTERUN_TRY(check_same_dtype(arguments, input, output));
    if (input.rank() == kMaxRank) {
      return fail(arguments.error(ErrorCode::kNotSupported, "complex numbers in 16 dimensions cannot be summed"));
    }
    PTERUN_TRY(resize_output(arguments, output, reduced_shape(input.shape(), dims, keepdim)));
    PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, input));
    PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, output));
    const Tensor pairs = view_as_real(Tensor(input.dtype(), input.shape(), const_cast<std::byte*>(elements)));
    Tensor sums = view_as_real(Tensor(output.dtype(), output.shape(), target.data()));
    PTERUN_TRY(reduce(context, arguments, pairs, dims & ((1u << input.rank()) - 1), keepdim, kernel, factor, sums));
    target.finish(context);
    return {};
  }
  const bool real = !is_complex(input.dtype());
  if (real && (!is_floating(input.dtype()) || is_floating(output.dtype()))) {
    return reduce(context, arguments, input, dims, keepdim, kernel, factor, output);
  }
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements_as(context, input, output.dtype()));
  const Tensor converted(output.dtype(), input.shape(), const_cast<std::byte*>(elements));
  return reduce(context, arguments, converted, dims, keepdim, kernel, factor, output);
}

// The kernel that adds up numbers of the dtype, or their parts.
ReductionKernel sum_kernel(DType dtype) {
  return fold_kernel<Sum>(parts_of(dtype).dtype);
}

Result<void> sum(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_TRY(check_sum(arguments, *input, 3, *output));
  PTERUN_ASSIGN(const std::uint32_t dims, reduced_dims_argument(arguments, 1, input->rank()));
  return fold(context, arguments, *input, dims, keepdim, sum_kernel(output->dtype()), 1, *output);
}

// Divides in place by a complex number without an imaginary part, which makes NaN of infinities.
void divide_complex(Tensor& tensor, double divisor) {
  const std::size_t size = dtype_size(tensor.dtype());
  auto* element = static_cast<std::byte*>(tensor.mutable_raw_data());
  for (std::int64_t i = 0; i < tensor.numel(); ++i, element += size)
    store_complex(tensor.dtype(), divide(load_complex(tensor.dtype(), element), divisor), element);
}

Result<void> mean_over(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::uint32_t dims,
                       bool keepdim, std::size_t dtype_argument, Tensor& output) {
  PTERUN_TRY(check_sum(arguments, input, dtype_argument, output));
  if (!is_floating(output.dtype()) && !is_complex(output.dtype())) {
    return fail(arguments.error(ErrorCode::kInvalidType,
                                "a mean needs a floating dtype, not " + std::string(dtype_name(output.dtype()))));
  }
  const double count = folded_count(input, dims);
  if (is_complex(output.dtype())) {
    PTERUN_TRY(fold(context, arguments, input, dims, keepdim, sum_kernel(output.dtype()), 1, output));
    divide_complex(output, count);
    return {};
  }
  const double factor = 1.0 / count;  // infinite for none: 0 times infinity is NaN, as in eager
  return fold(context, arguments, input, dims, keepdim, sum_kernel(output.dtype()), factor, output);
}

Result<void> mean(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_ASSIGN(const std::uint32_t dims, reduced_dims_argument(arguments, 1, input->rank()));
  return mean_over(context, arguments, *input, dims, keepdim, 3, *output);
}

Result<void> mean_all(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  return mean_over(context, arguments, *input, ~0u, false, 1, *output);
}

// Products of complex numbers along a dimension.
Result<void> multiply_complex(ExecuteContext& context, const Arguments& arguments, const Tensor& input,
                              const Shape& shape, const Along& along, Tensor& output) {
  PTERUN_TRY(check_same_dtype(arguments, input, output));
  PTERUN_TRY(resize_output(arguments, output, shape));
  if (output.numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, input));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, output));
  const auto size = static_cast<std::int64_t>(dtype_size(input.dtype()));
  for (std::int64_t line = 0; line < along.lines(); ++line) {
    Complex product = 1;
    for (std::int64_t i = 0; i < along.count; ++i) {
      const std::byte* element = elements + (along.start_of(line) + i * along.inner) * size;
      product = multiply(product, load_complex(input.dtype(), element));
    }
    store_complex(output.dtype(), product, target.data() + line * size);
  }
  target.finish(context);
  return {};
}

Result<void> prod_all(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_sum(arguments, *input, 1, *output));
  if (is_complex(input->dtype()) && is_complex(output->dtype())) {
    Along whole;
    whole.count = input->numel();
    return multiply_complex(context, arguments, *input, {}, whole, *output);
  }
  return fold(context, arguments, *input, ~0u, false, product_kernel(output->dtype()), 1, *output);
}

Result<void> prod_dim(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t dim, arguments.integer(1));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_TRY(check_sum(arguments, *input, 3, *output));
  PTERUN_ASSIGN(const std::uint32_t dims, reduced_dims(arguments, {dim}, input->rank(), false));
  if (is_complex(input->dtype()) && is_complex(output->dtype())) {
    PTERUN_ASSIGN(const std::size_t along, wrap_dim(arguments, dim, input->rank()));
    const Shape shape = reduced_shape(input->shape(), dims, keepdim);
    return multiply_complex(context, arguments, *input, shape, Along(input->shape(), along), *output);
  }
  return fold(context, arguments, *input, dims, keepdim, product_kernel(output->dtype()), 1, *output);
}

// Whether any byte is not 0; states and values are bytes.
struct AnyFold {
  static void start(void* states, std::size_t count) { std::memset(states, 0, count); }
  static void row(void* state, const void* values, std::size_t count) {
    const auto* bytes = static_cast<const std::byte*>(values);
    std::uint64_t found = 0;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      found |= word;
    }
    for (; i < count; ++i)
      found |= static_cast<std::uint64_t>(bytes[i]);
    if (found != 0) *static_cast<Truth*>(state) = 1;
  }
  static void columns(void* states, const void* values, std::size_t count) {
    auto* found = static_cast<Truth*>(states);
    const auto* bytes = static_cast<const Truth*>(values);
    PTERUN_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i)
      found[i] |= bytes[i];
  }
  static void finish(const void* states, std::size_t count, std::int64_t, double, void* results) {
    const auto* found = static_cast<const Truth*>(states);
    for (std::size_t i = 0; i < count; ++i)
      static_cast<Truth*>(results)[i] = found[i] != 0 ? 1 : 0;
  }
};

constexpr ReductionKernel kAny = {.load = Compute::kTruth,
                                  .result = Compute::kTruth,
                                  .state_size = 1,
                                  .start = AnyFold::start,
                                  .fold_row = AnyFold::row,
                                  .fold_columns = AnyFold::columns,
                                  .finish = AnyFold::finish};

Result<void> any_over(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::uint32_t dims,
                      bool keepdim, Tensor& output) {
  PTERUN_TRY(check_dtype(arguments, 0, input, kAnyDType));
  PTERUN_TRY(check_output_dtype(arguments, DType::kBool, output));
  return reduce(context, arguments, input, dims, keepdim, kAny, 0, output);
}

Result<void> any_dim(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t dim, arguments.integer(1));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_ASSIGN(const std::uint32_t dims, reduced_dims(arguments, {dim}, input->rank(), false));
  return any_over(context, arguments, *input, dims, keepdim, *output);
}

Result<void> any_dims(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  // An empty list reduces nothing here, as in eager.
  PTERUN_ASSIGN(const std::uint32_t dims, reduced_dims_argument(arguments, 1, input->rank(), false));
  return any_over(context, arguments, *input, dims, keepdim, *output);
}

Result<void> any_all(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(1));
  return any_over(context, arguments, *input, ~0u, false, *output);
}

constexpr OperatorRow kRows[] = {
    {"aten::sum.IntList_out", kAnyDType, sum},     {"aten::mean.out", kAnyDType, mean},
    {"aten::mean.dtype_out", kAnyDType, mean_all}, {"aten::prod.out", kAnyDType, prod_all},
    {"aten::prod.int_out", kAnyDType, prod_dim},   {"aten::any.out", kAnyDType, any_dim},
    {"aten::any.dims_out", kAnyDType, any_dims},   {"aten::any.all_out", kAnyDType, any_all},
};

}  // namespace

std::span<const OperatorRow> reductions_family() {
  return kRows;
}

}  // namespace pterun::operators
