// Distances between rows (cdist, pdist) under any p-norm, and allclose.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/checked.h"
#include "operators/broadcast.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

// Sum (or maximum) of `term` of the differences of two rows, in lanes that the compiler turns into vectors.
template <typename T, typename Term>
T fold_differences(const T* a, const T* b, std::int64_t count, const Term& term) {
  constexpr std::int64_t kLanes = 8;
  std::array<T, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = term(lanes[lane], std::abs(a[i + lane] - b[i + lane]));
  }
  for (std::int64_t lane = 0; i < count; ++i, ++lane)
    lanes[lane] = term(lanes[lane], std::abs(a[i] - b[i]));
  T total = lanes[0];
  for (std::int64_t lane = 1; lane < kLanes; ++lane) {
    // The lanes' own folds are merged by addition, but for the maximum, which is its own merge.
    total = term.kIsMaximum ? term(total, lanes[lane]) : total + lanes[lane];
  }
  return total;
}

struct Count {
  static constexpr bool kIsMaximum = false;
  template <typename T>
  T operator()(T total, T x) const {
    return total + (x != 0 ? T{1} : T{0});
  }
};
struct Absolute {
  static constexpr bool kIsMaximum = false;
  template <typename T>
  T operator()(T total, T x) const {
    return total + x;
  }
};
struct Square {
  static constexpr bool kIsMaximum = false;
  template <typename T>
  T operator()(T total, T x) const {
    return total + x * x;
  }
};
struct Maximum {
  static constexpr bool kIsMaximum = true;
  template <typename T>
  T operator()(T total, T x) const {
    return x > total ? x : total;
  }
};
template <typename P>
struct Power {
  static constexpr bool kIsMaximum = false;
  P p;
  P operator()(P total, P x) const { return total + std::pow(x, p); }
};

template <typename T>
T distance(const T* a, const T* b, std::int64_t count, double p) {
  if (p == 0) return fold_differences(a, b, count, Count{});
  if (p == 1) return fold_differences(a, b, count, Absolute{});
  if (p == 2) return std::sqrt(fold_differences(a, b, count, Square{}));
  if (std::isinf(p)) return fold_differences(a, b, count, Maximum{});
  const T power = static_cast<T>(p);
  return std::pow(fold_differences(a, b, count, Power<T>{power}), 1 / power);
}

Result<double> read_norm(const Arguments& arguments, std::size_t argument) {
  PTERUN_ASSIGN(const double p, arguments.number(argument));
  if (p >= 0) return p;
  return fail(arguments.error(ErrorCode::kInvalidArgument, "a norm of p = " + std::to_string(p)));
}

// Distances of `items` pairs of rows to the output: rows(n) gives the two row numbers of item n.
template <typename T, typename Rows>
Result<void> write_distances(ExecuteContext& context, const T* first, const T* second, std::int64_t width, double p,
                             Tensor& output, const Rows& rows) {
  const auto items = static_cast<std::size_t>(output.numel());
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, output));
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(width, 1)));
  const auto size = dtype_size(output.dtype());
  const StoreBlock store = store_block(kComputeOf<T>, output.dtype());
  context.threads->parallel_for(items, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const auto [a, b] = rows(static_cast<std::int64_t>(n));
      const T value = distance(first + a * width, second + b * width, width, p);
      store(&value, target.data() + n * size, 1, 1);
    }
  });
  target.finish(context);
  return {};
}

// Rows of the last dimension of `tensor`, broadcast to leading dimensions `batch`, as T.
template <typename T>
Result<const T*> batch_rows(ExecuteContext& context, const Tensor& tensor, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(tensor.size(tensor.rank() - 2));
  shape.push_back(tensor.size(tensor.rank() - 1));
  PTERUN_ASSIGN(const std::byte* elements, broadcast_elements(context, tensor, shape));
  if (tensor.dtype() == kDTypeOf<T>) return reinterpret_cast<const T*>(elements);
  const auto count = static_cast<std::size_t>(shape.numel());
  PTERUN_ASSIGN(std::byte * converted, context.scratch->allocate(count * sizeof(T)));
  convert_elements(tensor.dtype(), elements, kDTypeOf<T>, converted, count);
  return reinterpret_cast<const T*>(converted);
}

Result<void> cdist(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* first, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* second, arguments.tensor(1));
  PTERUN_ASSIGN(const double p, read_norm(arguments, 2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_TRY(check_dtype(arguments, 0, *first, kFloats));
  PTERUN_TRY(check_same_dtype(arguments, *first, *second));
  PTERUN_TRY(check_same_dtype(arguments, *first, *output));
  const auto mismatch = [&] {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                first->describe() + " and " + second->describe() + " hold no rows of one width"));
  };
  if (first->rank() < 2 || second->rank() < 2) return mismatch();
  const std::size_t rank1 = first->rank();
  const std::size_t rank2 = second->rank();
  const std::int64_t width = first->size(rank1 - 1);
  const auto batch =
      broadcast_shapes(Shape(first->shape().span().first(rank1 - 2)), Shape(second->shape().span().first(rank2 - 2)));
  if (!batch || second->size(rank2 - 1) != width) return mismatch();
  const std::int64_t rows1 = first->size(rank1 - 2);
  const std::int64_t rows2 = second->size(rank2 - 2);
  Shape shape = *batch;
  shape.push_back(rows1);
  shape.push_back(rows2);
  PTERUN_TRY(resize_output(arguments, *output, shape));
  if (output->numel() == 0) return {};
  return visit_float_compute(first->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* a, batch_rows<T>(context, *first, *batch));
    PTERUN_ASSIGN(const T* b, batch_rows<T>(context, *second, *batch));
    return write_distances(context, a, b, width, p, *output, [rows1, rows2](std::int64_t n) {
      const std::int64_t row = n / rows2;
      return std::pair(row, row / rows1 * rows2 + n % rows2);
    });
  });
}

// Distances between row i and every row behind it, for all i in turn.
Result<void> pdist(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const double p, read_norm(arguments, 1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kFloats));
  PTERUN_TRY(check_same_dtype(arguments, *self, *output));
  if (self->rank() != 2) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "needs a matrix, the input is " + self->describe()));
  }
  const std::int64_t rows = self->size(0);
  PTERUN_TRY(resize_output(arguments, *output, {rows < 2 ? 0 : rows * (rows - 1) / 2}));
  if (output->numel() == 0) return {};
  return visit_float_compute(self->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* x, batch_rows<T>(context, *self, {}));
    return write_distances(context, x, x, self->size(1), p, *output, [rows](std::int64_t n) {
      std::int64_t row = 0;
      while (n >= rows - 1 - row)
        n -= rows - 1 - row++;
      return std::pair(row, row + 1 + n);
    });
  });
}

// |a - b| <= atol + rtol * |b| for all elements; equal infinities are close, NaN only if `equal_nan`.
Result<void> allclose(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* other, arguments.tensor(1));
  PTERUN_ASSIGN(const double rtol, arguments.number(2));
  PTERUN_ASSIGN(const double atol, arguments.number(3));
  PTERUN_ASSIGN(const bool equal_nan, arguments.boolean(4));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(6));  // 5 is a placeholder of the schema
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAllDTypes));
  PTERUN_TRY(check_same_dtype(arguments, *self, *other));
  if (output->dtype() != DType::kBool || output->numel() != 1 || self->shape() != other->shape()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "cannot compare " + self->describe() + " and " +
                                                                 other->describe() + " into " + output->describe()));
  }
  PTERUN_ASSIGN(const std::byte* a_elements, row_major_elements_as(context, *self, DType::kFloat64));
  PTERUN_ASSIGN(const std::byte* b_elements, row_major_elements_as(context, *other, DType::kFloat64));
  const auto* a = reinterpret_cast<const double*>(a_elements);
  const auto* b = reinterpret_cast<const double*>(b_elements);
  bool close = true;
  for (std::int64_t i = 0; i < self->numel() && close; ++i) {
    const bool finite = std::isfinite(a[i]) && std::isfinite(b[i]);
    close = a[i] == b[i] || (finite && std::abs(a[i] - b[i]) <= atol + rtol * std::abs(b[i])) ||
            (equal_nan && std::isnan(a[i]) && std::isnan(b[i]));
  }
  *output->mutable_data<bool>() = close;
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::_cdist_forward.out", kFloats, cdist},
    {"aten::_pdist_forward.out", kFloats, pdist},
    {"aten::allclose.out", kAllDTypes, allclose},
    {"aten::allclose.Tensor", kAllDTypes, allclose},  // its returned tensor stands where the other has its output
};

}  // namespace

std::span<const OperatorRow> distances_family() {
  return kRows;
}

}  // namespace pterun::operators
