// Largest and smallest elements: over any dimensions (amax, amin, max, min), with their index along one (max.dim,
// min.dim), and the index alone (argmax, argmin). NaN counts as more extreme than everything; the first of equals wins.
#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/promotion.h"
#include "operators/reduction.h"
#include "operators/vector_target.h"

namespace pterun::operators {
namespace {

template <typename T>
constexpr bool is_nan(T value) {
  return value != value;
}

struct Largest {
  template <typename T>
  static constexpr T kIdentity =
      std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  template <typename T>
  static bool beats(T challenger, T best) {
    return challenger > best;
  }
};

struct Smallest {
  template <typename T>
  static constexpr T kIdentity =
      std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  template <typename T>
  static bool beats(T challenger, T best) {
    return challenger < best;
  }
};

// A NaN once taken stays: nothing beats it.
template <typename Op, typename T>
inline T better(T best, T challenger) {
  return Op::beats(challenger, best) || is_nan(challenger) ? challenger : best;
}

template <typename T, typename Op>
[[gnu::always_inline]] inline T extreme_of_row(T best, const T* x, std::size_t count) {
  constexpr std::size_t kLanes = 16;
  std::size_t i = 0;
  if (count >= kLanes) {
    std::array<T, kLanes> lanes;
    lanes.fill(Op::template kIdentity<T>);
    for (; i + kLanes <= count; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = better<Op>(lanes[lane], x[i + lane]);
    }
    for (const T lane : lanes)
      best = better<Op>(best, lane);
  }
  for (; i < count; ++i)
    best = better<Op>(best, x[i]);
  return best;
}

// States and results are values of T.
template <typename T, typename Op>
struct Extreme {
  static void start(void* states, std::size_t count) {
    std::fill_n(static_cast<T*>(states), count, Op::template kIdentity<T>);
  }
  static void row_base(void* state, const void* values, std::size_t count) {
    *static_cast<T*>(state) = extreme_of_row<T, Op>(*static_cast<T*>(state), static_cast<const T*>(values), count);
  }
  PTERUN_TARGET_AVX2 static void row_avx2(void* state, const void* values, std::size_t count) {
    *static_cast<T*>(state) = extreme_of_row<T, Op>(*static_cast<T*>(state), static_cast<const T*>(values), count);
  }
  static void columns(void* states, const void* values, std::size_t count) {
    T* const best = static_cast<T*>(states);
    const T* const x = static_cast<const T*>(values);
    PTERUN_INDEPENDENT
    for (std::size_t i = 0; i < count; ++i)
      best[i] = better<Op>(best[i], x[i]);
  }
  static void finish(const void* states, std::size_t count, std::int64_t, double, void* results) {
    std::copy_n(static_cast<const T*>(states), count, static_cast<T*>(results));
  }
  static ReductionKernel kernel() {
    return {.load = kComputeOf<T>,
            .result = kComputeOf<T>,
            .state_size = sizeof(T),
            .start = start,
            .fold_row = vector_target() == VectorTarget::kBase ? row_base : row_avx2,
            .fold_columns = columns,
            .finish = finish};
  }
};

Error no_elements(const Arguments& arguments, const Tensor& input) {
  return arguments.error(ErrorCode::kInvalidArgument, "nothing to choose from in " + input.describe());
}

template <typename Op>
Result<void> extreme_over(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::uint32_t dims,
                          bool keepdim, Tensor& output) {
  PTERUN_TRY(check_dtype(arguments, 0, input, kAllDTypes));
  PTERUN_TRY(check_output_dtype(arguments, input.dtype(), output));
  for (std::size_t i = 0; i < input.rank(); ++i) {
    if (((dims >> i) & 1u) != 0 && input.size(i) == 0) return fail(no_elements(arguments, input));
  }
  const ReductionKernel kernel = visit_compute(input.dtype(), []<typename T>() { return Extreme<T, Op>::kernel(); });
  return reduce(context, arguments, input, dims, keepdim, kernel, 0, output);
}

template <typename Op>
Result<void> extreme_dims(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_ASSIGN(const std::uint32_t dims, reduced_dims_argument(arguments, 1, input->rank()));
  return extreme_over<Op>(context, arguments, *input, dims, keepdim, *output);
}

template <typename Op>
Result<void> extreme_all(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(1));
  return extreme_over<Op>(context, arguments, *input, ~0u, false, *output);
}

// The search along one dimension of row-major memory [outer, count, inner], and where its results go: int64 indices,
// and values unless null, both row-major [outer, inner].
struct Search {
  const std::byte* data = nullptr;
  DType dtype = DType::kFloat32;
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;
  std::int64_t* indices = nullptr;
  std::byte* values = nullptr;
  DType value_dtype = DType::kFloat32;

  // `elements` values from `position`, in `buffer` unless they can be read in place.
  template <typename T>
  const T* load(std::int64_t position, std::size_t elements, T* buffer) const {
    const std::byte* from = data + position * static_cast<std::int64_t>(dtype_size(dtype));
    if (is_native(dtype, kComputeOf<T>)) return reinterpret_cast<const T*>(from);
    load_as<T>(dtype, from, 1, buffer, elements);
    return buffer;
  }
  template <typename T>
  void store(std::int64_t item, const T* found, std::size_t elements) const {
    if (values == nullptr) return;
    store_as<T>(value_dtype, found, values + item * static_cast<std::int64_t>(dtype_size(value_dtype)), 1, elements);
  }
};

constexpr std::size_t kColumns = 512;  // searched at once

// Whether the challenger, which comes later, is to replace the best.
template <typename Op, typename T>
bool replaces(T challenger, T best) {
  return Op::beats(challenger, best) || (is_nan(challenger) && !is_nan(best));
}

template <typename T, typename Op>
void search_rows(const Search& search, std::int64_t begin, std::int64_t end) {
  constexpr auto kStep = static_cast<std::int64_t>(kBlock);
  alignas(64) std::array<T, kBlock> buffer;
  const bool base = vector_target() == VectorTarget::kBase;
  for (std::int64_t item = begin; item < end; ++item) {
    T best = Op::template kIdentity<T>;
    std::int64_t index = 0;
    for (std::int64_t start = 0; start < search.count; start += kStep) {
      const auto count = static_cast<std::size_t>(std::min(kStep, search.count - start));
      const T* x = search.load<T>(item * search.count + start, count, buffer.data());
      T block = x[0];
      if (base)
        Extreme<T, Op>::row_base(&block, x, count);
      else
        Extreme<T, Op>::row_avx2(&block, x, count);
      if (start > 0 && !replaces<Op>(block, best)) continue;
      best = block;
      index = start + ((is_nan(block) ? std::find_if(x, x + count, is_nan<T>) : std::find(x, x + count, block)) - x);
    }
    search.indices[item] = index;
    search.store(item, &best, 1);
  }
}

template <typename T, typename Op>
void search_columns(const Search& search, std::int64_t begin, std::int64_t end) {
  constexpr auto kStep = static_cast<std::int64_t>(kColumns);
  alignas(64) std::array<T, kColumns> buffer;
  alignas(64) std::array<T, kColumns> best;
  alignas(64) std::array<std::int64_t, kColumns> index;
  const std::int64_t chunks = (search.inner + kStep - 1) / kStep;
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t first = item % chunks * kStep;
    const std::int64_t outer = item / chunks;
    const auto columns = static_cast<std::size_t>(std::min(kStep, search.inner - first));
    for (std::int64_t row = 0; row < search.count; ++row) {
      const T* x = search.load<T>((outer * search.count + row) * search.inner + first, columns, buffer.data());
      if (row == 0) {
        std::copy_n(x, columns, best.data());
        index.fill(0);
        continue;
      }
      for (std::size_t i = 0; i < columns; ++i) {
        const bool replace = replaces<Op>(x[i], best[i]);
        best[i] = replace ? x[i] : best[i];
        index[i] = replace ? row : index[i];
      }
    }
    std::copy_n(index.data(), columns, search.indices + outer * search.inner + first);
    search.store(outer * search.inner + first, best.data(), columns);
  }
}

template <typename T, typename Op>
void run_search(ThreadPool& threads, const Search& search) {
  constexpr std::int64_t kGrainElements = 1 << 15;
  constexpr auto kStep = static_cast<std::int64_t>(kColumns);
  const bool rows = search.inner == 1;
  const std::int64_t items = search.outer * (rows ? 1 : (search.inner + kStep - 1) / kStep);
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainElements / (search.count * (rows ? 1 : kStep)));
  threads.parallel_for(items, grain, [&](std::size_t begin, std::size_t end) {
    (rows ? search_rows<T, Op> : search_columns<T, Op>)(search, static_cast<std::int64_t>(begin),
                                                        static_cast<std::int64_t>(end));
  });
}

template <typename Op>
Result<void> find_along(ExecuteContext& context, const Arguments& arguments, const Tensor& input, bool whole,
                        std::size_t dim, Tensor* values, Tensor& positions) {
  if (positions.dtype() != DType::kInt64) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "indices have to be int64, not " + std::string(dtype_name(positions.dtype()))));
  }
  Search search;
  search.dtype = input.dtype();
  if (whole) {
    search.count = input.numel();
  } else {
    for (std::size_t i = 0; i < input.rank(); ++i)
      (i < dim ? search.outer : i == dim ? search.count : search.inner) *= input.size(i);
  }
  if (positions.numel() == 0) return {};
  if (search.count == 0) return fail(no_elements(arguments, input));
  PTERUN_ASSIGN(search.data, row_major_elements(context, input));
  PTERUN_ASSIGN(RowMajorOutput index_target, RowMajorOutput::open(context, positions));
  RowMajorOutput value_target;
  if (values != nullptr) {
    PTERUN_ASSIGN(value_target, RowMajorOutput::open(context, *values));
    search.value_dtype = values->dtype();
  }
  search.indices = reinterpret_cast<std::int64_t*>(index_target.data());
  search.values = value_target.data();
  visit_compute(input.dtype(), [&]<typename T>() { run_search<T, Op>(*context.threads, search); });
  index_target.finish(context);
  value_target.finish(context);
  return {};
}

// max.dim and min.dim: values and indices along one dimension.
template <typename Op>
Result<void> extreme_with_index(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * values, arguments.tensor(3));
  PTERUN_ASSIGN(Tensor * indices, arguments.tensor(4));
  PTERUN_TRY(check_dtype(arguments, 0, *input, kAllDTypes));
  PTERUN_TRY(check_same_dtype(arguments, *input, *values));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  const Shape shape = reduced_shape(input->shape(), 1u << dim, keepdim);
  PTERUN_TRY(resize_output(arguments, *values, shape));
  PTERUN_TRY(resize_output(arguments, *indices, shape));
  return find_along<Op>(context, arguments, *input, false, dim, values, *indices);
}

template <typename Op>
Result<void> position(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const auto given, arguments.optional_integer(1));
  PTERUN_ASSIGN(const bool keepdim, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, 0, *input, kAllDTypes));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given.value_or(0), input->rank()));
  PTERUN_TRY(resize_output(arguments, *output, reduced_shape(input->shape(), given ? 1u << dim : ~0u, keepdim)));
  return find_along<Op>(context, arguments, *input, !given, dim, nullptr, *output);
}

constexpr OperatorRow kRows[] = {
    {"aten::amax.out", kRealAndBool, extreme_dims<Largest>},
    {"aten::amin.out", kRealAndBool, extreme_dims<Smallest>},
    {"aten::max.unary_out", kRealAndBool, extreme_all<Largest>},
    {"aten::min.unary_out", kRealAndBool, extreme_all<Smallest>},
    {"aten::max.dim_max", kRealAndBool, extreme_with_index<Largest>},
    {"aten::min.dim_min", kRealAndBool, extreme_with_index<Smallest>},
    {"aten::argmax.out", kIntegers | kFloats, position<Largest>},
    {"aten::argmin.out", kIntegers | kFloats, position<Smallest>},
};

}  // namespace

std::span<const OperatorRow> extrema_family() {
  return kRows;
}

}  // namespace pterun::operators
