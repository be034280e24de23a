// avg_pool2d and _adaptive_avg_pool2d.
#include <algorithm>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/pooling_window.h"
#include "operators/row_statistics.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kAveragePoolDTypes = kFloats | DTypeSet{DType::kInt64};

template <typename T>
struct AddLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t stride, std::int64_t count, T* sums) {
    if (stride == 1) {
      for (std::int64_t i = 0; i < count; ++i)
        sums[i] = wrap_add(sums[i], x[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i)
        sums[i] = wrap_add(sums[i], x[i * stride]);
    }
  }
};

struct Divisor {
  bool count_include_pad = true;
  std::optional<std::int64_t> fixed;

  // Elements of the window along one axis that count.
  std::int64_t along(const PoolingAxis& axis, std::int64_t position) const {
    const std::int64_t start = axis.start(position);
    const std::int64_t end = std::min(start + axis.kernel, axis.in + axis.padding);
    return count_include_pad ? end - start : std::min(end, axis.in) - std::max<std::int64_t>(start, 0);
  }
  std::int64_t of(const PoolingWindow& window, std::int64_t row, std::int64_t column) const {
    return fixed ? *fixed : along(window.height, row) * along(window.width, column);
  }
};

template <typename T>
void average_plane(const PoolingWindow& window, const Divisor& divisor, const T* x, T* out) {
  const PoolingAxis& height = window.height;
  const PoolingAxis& width = window.width;
  for (std::int64_t row = 0; row < height.out; ++row, out += width.out) {
    std::fill_n(out, width.out, T{0});
    for (std::int64_t ky = 0; ky < height.kernel; ++ky) {
      const std::int64_t y = height.start(row) + ky;
      if (y < 0 || y >= height.in) continue;
      for (std::int64_t kx = 0; kx < width.kernel; ++kx) {
        const PositionRange range = positions_inside(width.out, kx - width.padding, width.stride, width.in);
        if (range.first >= range.last) continue;
        const T* from = x + y * width.in + kx - width.padding + range.first * width.stride;
        call_vectorised<AddLoop<T>>(from, width.stride, range.last - range.first, out + range.first);
      }
    }
    for (std::int64_t i = 0; i < width.out; ++i)
      out[i] /= static_cast<T>(divisor.of(window, row, i));
  }
}

Result<void> avg_pool2d(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  Divisor divisor;
  PTERUN_ASSIGN(divisor.count_include_pad, arguments.boolean(5));
  PTERUN_ASSIGN(divisor.fixed, arguments.optional_integer(6));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(7));
  PTERUN_TRY(check_dtype(arguments, *input, kAveragePoolDTypes, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "out"));
  if (divisor.fixed == 0) return fail(arguments.error(ErrorCode::kInvalidArgument, "divisor_override is 0"));
  PTERUN_ASSIGN(const PoolingWindow window, PoolingWindow::read(arguments, *input, 1, false));
  PTERUN_TRY(resize_output(arguments, *out, window.out_shape(*input)));
  if (out->numel() == 0) return {};
  return visit_compute(input->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* x, compute_input<T>(context, *input));
    PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, *out, kComputeOf<T>));
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 4096 / window.out_plane()));
    context.threads->parallel_for(
        static_cast<std::size_t>(window.planes), grain, [&](std::size_t begin, std::size_t end) {
          for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
            average_plane<T>(window, divisor, x + plane * window.in_plane(),
                             results.data<T>() + plane * window.out_plane());
          }
        });
    return results.store(context);
  });
}

template <typename T>
struct RowSumLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t count, T* sum) {
    *sum += row_sum<T, false>(x, count, T{0});
  }
};

struct AdaptiveAxis {
  std::int64_t in = 0, out = 0;
  std::int64_t start(std::int64_t i) const { return i * in / out; }
  std::int64_t end(std::int64_t i) const { return ((i + 1) * in + out - 1) / out; }
};

template <typename T>
void adaptive_plane(const AdaptiveAxis& height, const AdaptiveAxis& width, const T* x, T* out) {
  for (std::int64_t row = 0; row < height.out; ++row) {
    for (std::int64_t column = 0; column < width.out; ++column) {
      const std::int64_t rows = height.end(row) - height.start(row);
      const std::int64_t columns = width.end(column) - width.start(column);
      T sum{0};
      if (columns == width.in) {
        call_vectorised<RowSumLoop<T>>(x + height.start(row) * width.in, rows * columns, &sum);
      } else {
        for (std::int64_t y = height.start(row); y < height.end(row); ++y) {
          for (std::int64_t i = width.start(column); i < width.end(column); ++i)
            sum += x[y * width.in + i];
        }
      }
      out[row * width.out + column] = sum / static_cast<T>(rows * columns);
    }
  }
}

Result<void> adaptive_avg_pool2d(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape size, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(2));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "out"));
  const std::size_t rank = input->rank();
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  if ((rank != 3 && rank != 4) || size.rank() != 2 || size[0] < 0 || size[1] < 0 || size[0] > kLargest ||
      size[1] > kLargest || input->size(rank - 1) < 1 || input->size(rank - 2) < 1) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "cannot pool input " + input->describe() + " to size " + size.to_string()));
  }
  Shape shape = input->shape();
  const AdaptiveAxis height{shape[rank - 2], size[0]};
  const AdaptiveAxis width{shape[rank - 1], size[1]};
  shape[rank - 2] = height.out;
  shape[rank - 1] = width.out;
  PTERUN_TRY(resize_output(arguments, *out, shape));
  if (out->numel() == 0) return {};
  return visit_float_compute(input->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* x, compute_input<T>(context, *input));
    PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, *out, kComputeOf<T>));
    const std::int64_t planes = out->numel() / (height.out * width.out);
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 16384 / (height.in * width.in)));
    context.threads->parallel_for(static_cast<std::size_t>(planes), grain, [&](std::size_t begin, std::size_t end) {
      for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
        adaptive_plane<T>(height, width, x + plane * height.in * width.in,
                          results.data<T>() + plane * height.out * width.out);
      }
    });
    return results.store(context);
  });
}

constexpr OperatorRow kRows[] = {
    {"aten::avg_pool2d.out", kAveragePoolDTypes, avg_pool2d},
    {"aten::_adaptive_avg_pool2d.out", kFloats, adaptive_avg_pool2d},
};

}  // namespace

std::span<const OperatorRow> average_pool_family() {
  return kRows;
}

}  // namespace pterun::operators
