// max_pool2d_with_indices and its gradient. A row of windows is built up from rows of input elements, so that the
// inner loop runs along the output.
#include <algorithm>
#include <limits>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/pooling_window.h"
#include "operators/vector_call.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kPoolDTypes = kIntegers | kFloats;

// best[i] = max(best[i], x[i * stride]) with the place of the winner; the first of equals wins, and NaN all.
template <typename T>
struct MaximumLoop {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t stride, std::int64_t place, std::int64_t count,
                                                T* best, std::int64_t* places) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = x[i * stride];
      const bool take = value > best[i] || value != value;
      best[i] = take ? value : best[i];
      places[i] = take ? place + i * stride : places[i];
    }
  }
};

template <typename T>
constexpr T least_value() {
  if constexpr (std::numeric_limits<T>::has_infinity) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::min();
  }
}

// The first element of a window that lies inside the input: what wins when nothing is larger than -infinity.
std::int64_t first_inside(const PoolingAxis& axis, std::int64_t position) {
  std::int64_t at = axis.start(position);
  if (at < 0) at += (-at + axis.dilation - 1) / axis.dilation * axis.dilation;
  return at;
}

template <typename T>
void pool_plane(const PoolingWindow& window, const T* x, T* out, std::int64_t* places) {
  const PoolingAxis& height = window.height;
  const PoolingAxis& width = window.width;
  for (std::int64_t row = 0; row < height.out; ++row, out += width.out, places += width.out) {
    const std::int64_t top = first_inside(height, row);
    for (std::int64_t i = 0; i < width.out; ++i) {
      out[i] = least_value<T>();
      places[i] = top * width.in + first_inside(width, i);
    }
    for (std::int64_t ky = 0; ky < height.kernel; ++ky) {
      const std::int64_t y = height.start(row) + ky * height.dilation;
      if (y < 0 || y >= height.in) continue;
      for (std::int64_t kx = 0; kx < width.kernel; ++kx) {
        const std::int64_t start = kx * width.dilation - width.padding;
        const PositionRange range = positions_inside(width.out, start, width.stride, width.in);
        if (range.first >= range.last) continue;
        const std::int64_t place = y * width.in + start + range.first * width.stride;
        call_vectorised<MaximumLoop<T>>(x + place, width.stride, place, range.last - range.first, out + range.first,
                                        places + range.first);
      }
    }
  }
}

Result<void> max_pool2d_with_indices(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(6));
  PTERUN_ASSIGN(Tensor * indices, arguments.tensor(7));
  PTERUN_TRY(check_dtype(arguments, *input, kPoolDTypes, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "out"));
  PTERUN_TRY(check_dtype_is(arguments, *indices, DType::kInt64, "indices"));
  PTERUN_ASSIGN(const PoolingWindow window, PoolingWindow::read(arguments, *input, 1, true));
  PTERUN_TRY(resize_output(arguments, *out, window.out_shape(*input)));
  PTERUN_TRY(resize_output(arguments, *indices, window.out_shape(*input)));
  if (out->numel() == 0) return {};
  return visit_compute(input->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* x, compute_input<T>(context, *input));
    PTERUN_ASSIGN(ComputeOutput values, ComputeOutput::open(context, *out, kComputeOf<T>));
    PTERUN_ASSIGN(ComputeOutput places, ComputeOutput::open(context, *indices, Compute::kInt64));
    const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 4096 / window.out_plane()));
    context.threads->parallel_for(
        static_cast<std::size_t>(window.planes), grain, [&](std::size_t begin, std::size_t end) {
          for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
            pool_plane<T>(window, x + plane * window.in_plane(), values.data<T>() + plane * window.out_plane(),
                          places.data<std::int64_t>() + plane * window.out_plane());
          }
        });
    PTERUN_TRY(values.store(context));
    return places.store(context);
  });
}

Result<void> check_places(const Arguments& arguments, const std::int64_t* places, std::int64_t count,
                          std::int64_t size) {
  const auto* outside = std::find_if(places, places + count, [&](std::int64_t at) { return at < 0 || at >= size; });
  if (outside == places + count) return {};
  return fail(arguments.error(
      ErrorCode::kInvalidArgument,
      "index " + std::to_string(*outside) + " is outside a plane of " + std::to_string(size) + " elements"));
}

Result<void> max_pool2d_backward(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* grad, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* indices, arguments.tensor(7));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(8));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *grad, input->dtype(), "grad_output"));
  PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "grad_input"));
  PTERUN_TRY(check_dtype_is(arguments, *indices, DType::kInt64, "indices"));
  PTERUN_ASSIGN(const PoolingWindow window, PoolingWindow::read(arguments, *input, 2, true));
  PTERUN_TRY(check_shape(arguments, *grad, window.out_shape(*input), "grad_output"));
  PTERUN_TRY(check_shape(arguments, *indices, window.out_shape(*input), "indices"));
  PTERUN_TRY(resize_output(arguments, *out, input->shape()));
  if (out->numel() == 0) return {};
  PTERUN_ASSIGN(const std::int64_t* places, compute_input<std::int64_t>(context, *indices));
  PTERUN_TRY(check_places(arguments, places, indices->numel(), window.in_plane()));
  return visit_float_compute(input->dtype(), [&]<typename T>() -> Result<void> {
    PTERUN_ASSIGN(const T* from, compute_input<T>(context, *grad));
    PTERUN_ASSIGN(ComputeOutput sums, ComputeOutput::open(context, *out, kComputeOf<T>));
    T* to = sums.data<T>();
    std::fill_n(to, out->numel(), T{0});
    for (std::int64_t i = 0; i < grad->numel(); ++i)
      to[i / window.out_plane() * window.in_plane() + places[i]] += from[i];
    return sums.store(context);
  });
}

constexpr OperatorRow kRows[] = {
    {"aten::max_pool2d_with_indices.out", kPoolDTypes, max_pool2d_with_indices},
    {"aten::max_pool2d_with_indices_backward.grad_input", kFloats, max_pool2d_backward},
};

}  // namespace

std::span<const OperatorRow> max_pool_family() {
  return kRows;
}

}  // namespace pterun::operators
