// upsample_nearest2d, upsample_bilinear2d and its antialiased form. Both axes are independent: each has a table of
// which elements make up a position.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/resize_axis.h"
#include "operators/vector_call.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kBilinearDTypes = kFloats | DTypeSet{DType::kUInt8};

struct Resize {
  const Tensor* input = nullptr;
  Tensor* out = nullptr;
  ResizeAxis height, width;
  bool align_corners = false;
  bool antialias = false;

  std::int64_t planes() const { return input->size(0) * input->size(1); }
};

// Checks input and sizes, and shapes the output.
Result<void> set_up(const Arguments& arguments, const Shape& size, DTypeSet dtypes, Resize& call) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  const Tensor& input = *call.input;
  PTERUN_TRY(check_dtype(arguments, input, dtypes, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *call.out, input.dtype(), "out"));
  PTERUN_TRY(check_rank(arguments, input, 4, "input"));
  call.height.in = input.size(2);
  call.width.in = input.size(3);
  if (size.rank() != 2 || size[0] < 1 || size[1] < 1 || size[0] > kLargest || size[1] > kLargest ||
      call.height.in < 1 || call.width.in < 1) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "cannot resize " + input.describe() + " to size " + size.to_string()));
  }
  call.height.out = size[0];
  call.width.out = size[1];
  return resize_output(arguments, *call.out, {input.size(0), input.size(1), size[0], size[1]});
}

// The size: given, or from the scale factors, which then are remembered.
Result<Shape> read_size(const Arguments& arguments, std::size_t size_argument, std::size_t factors_argument,
                        Resize& call) {
  PTERUN_ASSIGN(const std::optional<Shape> size, arguments.optional_int_list(size_argument));
  if (size) return *size;
  if (arguments.is_none(factors_argument)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "neither output_size nor scale_factors is given"));
  }
  PTERUN_ASSIGN(const std::vector<double> factors, arguments.double_list(factors_argument));
  const bool fits = factors.size() == 2 && call.input->rank() == 4 &&
                    std::all_of(factors.begin(), factors.end(), [](double f) { return f > 0.0 && f < 1e9; });
  if (!fits) return fail(arguments.error(ErrorCode::kInvalidArgument, "scale_factors are not two positive numbers"));
  call.height.factor = factors[0];
  call.width.factor = factors[1];
  return Shape{static_cast<std::int64_t>(static_cast<double>(call.input->size(2)) * factors[0]),
               static_cast<std::int64_t>(static_cast<double>(call.input->size(3)) * factors[1])};
}

std::size_t plane_grain(const Resize& call) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, 8192 / (call.height.out * call.width.out)));
}

Result<void> upsample_nearest2d(ExecuteContext& context, const Arguments& arguments) {
  Resize call;
  PTERUN_ASSIGN(call.input, arguments.tensor(0));
  PTERUN_ASSIGN(call.out, arguments.tensor(3));
  PTERUN_ASSIGN(const Shape size, read_size(arguments, 1, 2, call));
  PTERUN_TRY(set_up(arguments, size, kBilinearDTypes, call));
  if (call.out->numel() == 0) return {};
  const std::vector<std::int64_t> rows = nearest_table(call.height);
  const std::vector<std::int64_t> columns = nearest_table(call.width);
  PTERUN_ASSIGN(const std::byte* from, row_major_elements(context, *call.input));
  PTERUN_ASSIGN(RowMajorOutput to, RowMajorOutput::open(context, *call.out));
  visit_word(dtype_size(call.input->dtype()), [&]<typename Word>() {
    const auto* elements = reinterpret_cast<const Word*>(from);
    auto* results = reinterpret_cast<Word*>(to.data());
    context.threads->parallel_for(
        static_cast<std::size_t>(call.planes()), plane_grain(call), [&](std::size_t begin, std::size_t end) {
          for (std::size_t plane = begin; plane < end; ++plane) {
            const Word* x = elements + plane * static_cast<std::size_t>(call.height.in * call.width.in);
            Word* out = results + plane * rows.size() * columns.size();
            for (const std::int64_t row : rows) {
              const Word* line = x + row * call.width.in;
              for (std::size_t i = 0; i < columns.size(); ++i)
                out[i] = line[columns[i]];
              out += columns.size();
            }
          }
        });
  });
  to.finish(context);
  return {};
}

template <typename T>
struct AddScaledRow {
  [[gnu::always_inline]] static inline void run(const T* x, std::int64_t n, T weight, bool first, T* sums) {
    if (first) {
      for (std::int64_t i = 0; i < n; ++i)
        sums[i] = x[i] * weight;
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        sums[i] += x[i] * weight;
    }
  }
};

// One output row after the other: the input rows that make it up are mixed, then the mix is resampled along the row.
template <typename T>
void resize_plane(const ResizeTable<T>& rows, const ResizeTable<T>& columns, std::int64_t in_width, const T* x, T* mix,
                  T* out) {
  for (std::size_t row = 0; row < rows.first.size(); ++row) {
    std::fill_n(mix, in_width, T{0});
    for (std::int64_t j = 0; j < rows.count[row]; ++j) {
      const T weight = rows.weights[row * static_cast<std::size_t>(rows.taps) + static_cast<std::size_t>(j)];
      call_vectorised<AddScaledRow<T>>(x + (rows.first[row] + j) * in_width, in_width, weight, j == 0, mix);
    }
    for (std::size_t i = 0; i < columns.first.size(); ++i) {
      const T* from = mix + columns.first[i];
      const T* weights = columns.weights.data() + static_cast<std::int64_t>(i) * columns.taps;
      T sum{0};
      for (std::int64_t j = 0; j < columns.count[i]; ++j)
        sum += from[j] * weights[j];
      *out++ = sum;
    }
  }
}

template <typename T>
Result<void> resize_floats(ExecuteContext& context, const Resize& call) {
  const auto table = call.antialias ? antialias_table<T> : linear_table<T>;
  const ResizeTable<T> rows = table(call.height, call.align_corners);
  const ResizeTable<T> columns = table(call.width, call.align_corners);
  PTERUN_ASSIGN(const T* x, compute_input<T>(context, *call.input));
  PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.out, kComputeOf<T>));
  const std::int64_t width = call.width.in;
  // A line to mix rows in for each plane, since planes are worked on at the same time.
  PTERUN_ASSIGN(std::byte * memory,
                context.scratch->allocate(static_cast<std::size_t>(call.planes() * width) * sizeof(T)));
  T* mixes = reinterpret_cast<T*>(memory);
  context.threads->parallel_for(
      static_cast<std::size_t>(call.planes()), plane_grain(call), [&](std::size_t begin, std::size_t end) {
        for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
          resize_plane<T>(rows, columns, width, x + plane * call.height.in * width, mixes + plane * width,
                          out.data<T>() + plane * call.height.out * call.width.out);
        }
      });
  return out.store(context);
}

std::uint8_t round_fixed(std::int32_t sum, int shift) {
  return static_cast<std::uint8_t>(std::clamp(sum >> shift, 0, 255));
}

// Rows first, rounded to bytes, then columns: the order that decides the roundings.
void resize_bytes_plane(const Resize& call, const FixedPointTable& rows, const FixedPointTable& columns,
                        const std::uint8_t* x, std::uint8_t* lines, std::uint8_t* out) {
  const std::int64_t width = call.width.out;
  for (std::int64_t y = 0; y < call.height.in; ++y) {
    for (std::int64_t i = 0; i < width; ++i) {
      const std::uint8_t* from = x + y * call.width.in + columns.table.first[static_cast<std::size_t>(i)];
      const std::int32_t* weights = columns.table.weights.data() + i * columns.table.taps;
      std::int32_t sum = (1 << columns.shift) >> 1;
      for (std::int64_t j = 0; j < columns.table.count[static_cast<std::size_t>(i)]; ++j)
        sum += from[j] * weights[j];
      lines[y * width + i] = round_fixed(sum, columns.shift);
    }
  }
  for (std::int64_t y = 0; y < call.height.out; ++y) {
    const std::uint8_t* from = lines + rows.table.first[static_cast<std::size_t>(y)] * width;
    const std::int32_t* weights = rows.table.weights.data() + y * rows.table.taps;
    for (std::int64_t i = 0; i < width; ++i) {
      std::int32_t sum = (1 << rows.shift) >> 1;
      for (std::int64_t j = 0; j < rows.table.count[static_cast<std::size_t>(y)]; ++j) {
        sum += from[j * width + i] * weights[j];
      }
      out[y * width + i] = round_fixed(sum, rows.shift);
    }
  }
}

Result<void> resize_bytes(ExecuteContext& context, const Resize& call) {
  const auto table = call.antialias ? antialias_table<double> : linear_table<double>;
  const FixedPointTable rows = fixed_point_table(table(call.height, call.align_corners));
  const FixedPointTable columns = fixed_point_table(table(call.width, call.align_corners));
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, *call.input));
  PTERUN_ASSIGN(RowMajorOutput out, RowMajorOutput::open(context, *call.out));
  const std::int64_t lines_plane = call.height.in * call.width.out;
  PTERUN_ASSIGN(std::byte * lines, context.scratch->allocate(static_cast<std::size_t>(call.planes() * lines_plane)));
  context.threads->parallel_for(
      static_cast<std::size_t>(call.planes()), plane_grain(call), [&](std::size_t begin, std::size_t end) {
        for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
          resize_bytes_plane(call, rows, columns,
                             reinterpret_cast<const std::uint8_t*>(elements) + plane * call.height.in * call.width.in,
                             reinterpret_cast<std::uint8_t*>(lines) + plane * lines_plane,
                             reinterpret_cast<std::uint8_t*>(out.data()) + plane * call.height.out * call.width.out);
        }
      });
  out.finish(context);
  return {};
}

Result<void> resize_linear(ExecuteContext& context, const Arguments& arguments, const Shape& size, Resize& call) {
  PTERUN_TRY(set_up(arguments, size, kBilinearDTypes, call));
  if (call.out->numel() == 0) return {};
  if (call.input->dtype() == DType::kUInt8) return resize_bytes(context, call);
  return visit_float_compute(call.input->dtype(), [&]<typename T>() { return resize_floats<T>(context, call); });
}

Result<void> upsample_bilinear2d(ExecuteContext& context, const Arguments& arguments) {
  Resize call;
  PTERUN_ASSIGN(call.input, arguments.tensor(0));
  PTERUN_ASSIGN(call.align_corners, arguments.boolean(2));
  PTERUN_ASSIGN(call.out, arguments.tensor(4));
  PTERUN_ASSIGN(const Shape size, read_size(arguments, 1, 3, call));
  return resize_linear(context, arguments, size, call);
}

Result<void> upsample_bilinear2d_aa(ExecuteContext& context, const Arguments& arguments) {
  Resize call;
  call.antialias = true;
  PTERUN_ASSIGN(call.input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape size, arguments.int_list(1));
  PTERUN_ASSIGN(call.align_corners, arguments.boolean(2));
  PTERUN_ASSIGN(call.height.factor, arguments.optional_number(3));
  PTERUN_ASSIGN(call.width.factor, arguments.optional_number(4));
  PTERUN_ASSIGN(call.out, arguments.tensor(5));
  // An image of that size already is copied, in any dtype, as eager does.
  if (call.input->rank() == 4 && size == Shape{call.input->size(2), call.input->size(3)}) {
    PTERUN_TRY(check_same_dtype(arguments, *call.input, *call.out));
    PTERUN_TRY(resize_output(arguments, *call.out, call.input->shape()));
    return copy_elements(*call.input, *call.out);
  }
  for (const ResizeAxis* axis : {&call.height, &call.width}) {
    // The filter's width is the inverse of the factor.
    if (axis->factor && !(*axis->factor > 1e-9)) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "a scale is not a positive number"));
    }
  }
  return resize_linear(context, arguments, size, call);
}

constexpr OperatorRow kRows[] = {
    {"aten::upsample_nearest2d.vec_out", kBilinearDTypes, upsample_nearest2d},
    {"aten::upsample_bilinear2d.vec_out", kBilinearDTypes, upsample_bilinear2d},
    {"aten::_upsample_bilinear2d_aa.out", kBilinearDTypes, upsample_bilinear2d_aa},
};

}  // namespace

std::span<const OperatorRow> upsample_family() {
  return kRows;
}

}  // namespace pterun::operators
