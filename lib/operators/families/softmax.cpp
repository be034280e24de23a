// _softmax, _log_softmax and glu along one dimension. Rows are reduced with vectors; along another dimension than the
// last, a block of neighbouring columns is reduced at a time.
#include <algorithm>
#include <cmath>
#include <limits>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/row_softmax.h"
#include "operators/vector_math.h"

namespace pterun::operators {
namespace {

// A tensor as outer * size * inner elements, `size` being the dimension worked along.
struct Split {
  std::int64_t outer = 1, size = 1, inner = 1;
};

Split split_at(const Shape& shape, std::size_t dim) {
  Split split;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    (i < dim ? split.outer : i == dim ? split.size : split.inner) *= shape[i];
  }
  return split;
}

template <typename T, bool kLog>
struct SoftmaxRows {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t rows, std::int64_t n, T* out) {
    for (std::int64_t row = 0; row < rows; ++row, x += n, out += n) {
      const T largest = row_maximum(x, n);
      const T sum = row_exp(x, n, largest, kLog ? nullptr : out);
      const T factor = kLog ? std::log(sum) : T{1} / sum;
      std::int64_t i = 0;
      for (; i + kWidth<T> <= n; i += kWidth<T>) {
        vector_at(out + i) = kLog ? vector_at(x + i) - largest - factor : vector_at(out + i) * factor;
      }
      for (; i < n; ++i)
        out[i] = kLog ? x[i] - largest - factor : out[i] * factor;
    }
  }
};

// One vector of columns, `inner` elements apart from row to row.
template <typename T, bool kLog>
struct SoftmaxColumns {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t n, std::int64_t inner, T* out) {
    Vector<T> largest = vector_at(x);
    for (std::int64_t i = 1; i < n; ++i) {
      const Vector<T> value = vector_at(x + i * inner);
      largest = value > largest ? value : largest;
    }
    Vector<T> sum{};
    for (std::int64_t i = 0; i < n; ++i) {
      Vector<T> value = vector_at(x + i * inner) - largest;
      exp_block<T>(value);
      sum += value;
      if (!kLog) vector_at(out + i * inner) = value;
    }
    if (kLog) {
      for (std::int64_t lane = 0; lane < kWidth<T>; ++lane)
        sum[lane] = std::log(sum[lane]);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Vector<T>& result = vector_at(out + i * inner);
      result = kLog ? vector_at(x + i * inner) - largest - sum : result / sum;
    }
  }
};

template <typename T, bool kLog>
void softmax_column(const T* x, std::int64_t n, std::int64_t inner, T* out) {
  T largest = x[0];
  for (std::int64_t i = 1; i < n; ++i)
    largest = std::max(largest, x[i * inner]);
  T sum{};
  for (std::int64_t i = 0; i < n; ++i) {
    const T value = std::exp(x[i * inner] - largest);
    sum += value;
    if (!kLog) out[i * inner] = value;
  }
  const T log_sum = kLog ? std::log(sum) : T{};
  for (std::int64_t i = 0; i < n; ++i) {
    out[i * inner] = kLog ? x[i * inner] - largest - log_sum : out[i * inner] / sum;
  }
}

template <typename T, bool kLog>
void softmax(ThreadPool& threads, const Split& split, const T* x, T* out) {
  const std::int64_t slab = split.size * split.inner;
  if (split.inner == 1) {
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 4096 / split.size));
    threads.parallel_for(static_cast<std::size_t>(split.outer), grain, [&](std::size_t begin, std::size_t end) {
      const auto first = static_cast<std::int64_t>(begin);
      const auto rows = static_cast<std::int64_t>(end) - first;
      call_vectorised<SoftmaxRows<T, kLog>>(x + first * slab, rows, split.size, out + first * slab);
    });
    return;
  }
  const std::int64_t blocks = (split.inner + kWidth<T> - 1) / kWidth<T>;
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 4096 / (split.size * kWidth<T>)));
  threads.parallel_for(static_cast<std::size_t>(split.outer * blocks), grain, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
      const std::int64_t column = i % blocks * kWidth<T>;
      const std::int64_t at = i / blocks * slab + column;
      const std::int64_t columns = std::min(kWidth<T>, split.inner - column);
      if (columns == kWidth<T>) {
        call_vectorised<SoftmaxColumns<T, kLog>>(x + at, split.size, split.inner, out + at);
        continue;
      }
      for (std::int64_t c = 0; c < columns; ++c) {
        softmax_column<T, kLog>(x + at + c, split.size, split.inner, out + at + c);
      }
    }
  });
}

template <bool kLog>
Result<void> softmax_operator(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t dim_argument, arguments.integer(1));
  PTERUN_ASSIGN(const bool half_to_float, arguments.boolean(2));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *out, half_to_float ? DType::kFloat32 : input->dtype(), "out"));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, dim_argument, input->rank()));
  PTERUN_TRY(resize_output(arguments, *out, input->shape()));
  if (input->numel() == 0) return {};
  const Split split = split_at(input->shape(), dim);
  return visit_float_compute(input->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* x, compute_input<T>(context, *input));
    PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, *out, kComputeOf<T>));
    softmax<T, kLog>(*context.threads, split, x, results.data<T>());
    return results.store(context);
  });
}

// The first half of the dimension times the sigmoid of the second.
template <typename T>
struct GluLoop {
  [[gnu::always_inline]] static inline void run(const T* value, const T* gate, std::int64_t n, T* out) {
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = value[i] * vector_sigmoid(gate[i]);
  }
};

Result<void> glu(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t dim_argument, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(2));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "out"));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, dim_argument, input->rank()));
  if (input->rank() == 0 || input->size(dim) % 2 != 0) {
    return fail(
        arguments.error(ErrorCode::kInvalidArgument,
                        "input " + input->describe() + " cannot be halved along dimension " + std::to_string(dim)));
  }
  Shape shape = input->shape();
  shape[dim] /= 2;
  PTERUN_TRY(resize_output(arguments, *out, shape));
  if (out->numel() == 0) return {};
  const Split split = split_at(shape, dim);
  const std::int64_t half = split.size * split.inner;
  return visit_float_compute(input->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* x, compute_input<T>(context, *input));
    PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, *out, kComputeOf<T>));
    T* to = results.data<T>();
    context.threads->parallel_for(
        static_cast<std::size_t>(split.outer), static_cast<std::size_t>(std::max<std::int64_t>(1, 4096 / half)),
        [&](std::size_t begin, std::size_t end) {
          for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
            call_vectorised<GluLoop<T>>(x + 2 * i * half, x + (2 * i + 1) * half, half, to + i * half);
          }
        });
    return results.store(context);
  });
}

constexpr OperatorRow kRows[] = {
    {"aten::_softmax.out", kFloats, softmax_operator<false>},
    {"aten::_log_softmax.out", kFloats, softmax_operator<true>},
    {"aten::glu.out", kFloats, glu},
};

}  // namespace

std::span<const OperatorRow> softmax_family() {
  return kRows;
}

}  // namespace pterun::operators
