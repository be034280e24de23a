// grid_sampler_2d: every output pixel is read from the input at a place given by the grid, between pixels.
#include <algorithm>
#include <cmath>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

enum class Interpolation : std::uint8_t { kBilinear, kNearest, kBicubic };
enum class Padding : std::uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  std::int64_t height = 0, width = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
  DType dtype = DType::kFloat32;  // of the tensors: places are rounded to it at every step
};

// Reads of one output pixel: offsets in a plane and weights.
template <typename T>
struct Taps {
  int count = 0;
  std::int64_t offset[16];
  T weight[16];

  void add(const Sampling& sampling, std::int64_t y, std::int64_t x, T w) {
    if (y < 0 || y >= sampling.height || x < 0 || x >= sampling.width) return;
    offset[count] = y * sampling.width + x;
    weight[count++] = w;
  }
};

// The whole number below; places beyond any image, and NaN, become one that is outside every image.
template <typename T>
std::int64_t floor_place(T value) {
  constexpr T kFar{1e9};
  return value > -kFar && value < kFar ? static_cast<std::int64_t>(std::floor(value)) : -1000000000;
}

// The value of the tensors' dtype that stands for a place. Eager computes places of float16 and bfloat16 in these
// dtypes; in float, other pixels would be the nearest ones.
template <typename T>
T in_dtype(const Sampling& sampling, T value) {
  if (sampling.dtype == DType::kFloat32 || sampling.dtype == DType::kFloat64) return value;
  std::byte element[sizeof(T)];
  store_one<T>(sampling.dtype, value, element);
  return load_one<T>(sampling.dtype, element);
}

// -1 … 1 to pixels.
template <typename T>
T to_pixels(T coordinate, std::int64_t size, const Sampling& sampling) {
  const auto rounded = [&](T value) { return in_dtype(sampling, value); };
  const T pixels = rounded(static_cast<T>(size));
  const T moved = rounded(coordinate + 1);
  if (sampling.align_corners) return rounded(rounded(moved / 2) * rounded(pixels - 1));
  return rounded(rounded(rounded(moved * pixels) - 1) / 2);
}

// Folds back at `low` and `low + span`.
template <typename T>
T reflect(T value, T low, T span, const Sampling& sampling) {
  if (span <= T{0}) return T{0};
  const auto rounded = [&](T number) { return in_dtype(sampling, number); };
  const T distance = std::abs(rounded(value - low));
  const T rest = rounded(std::fmod(distance, span));
  const T folds = std::floor(rounded(distance / span));
  return std::fmod(folds, T{2}) == T{0} ? rounded(rest + low) : rounded(rounded(span - rest) + low);
}

// Moves a place into the image as the padding says; zeros leave it where it is.
template <typename T>
T pad(T value, std::int64_t size, const Sampling& sampling) {
  if (sampling.padding == Padding::kZeros) return value;
  const T last = static_cast<T>(size - 1);
  if (sampling.padding == Padding::kReflection) {
    value = sampling.align_corners ? reflect(value, T{0}, last, sampling) : reflect(value, T{-0.5}, last + 1, sampling);
  }
  return std::min(last, std::max(value, T{0}));
}

template <typename T>
void cubic_weights(T t, T* weights) {
  constexpr T kA{-0.75};
  const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  weights[0] = far(t + 1);
  weights[1] = near(t);
  weights[2] = near(1 - t);
  weights[3] = far(2 - t);
}

template <typename T>
Taps<T> bicubic_taps(const Sampling& sampling, T y, T x) {
  Taps<T> taps;
  const std::int64_t top = floor_place(y);
  const std::int64_t left = floor_place(x);
  T row_weights[4], column_weights[4];
  cubic_weights(y - std::floor(y), row_weights);
  cubic_weights(x - std::floor(x), column_weights);
  for (std::int64_t r = 0; r < 4; ++r) {
    const std::int64_t row = floor_place(pad(static_cast<T>(top - 1 + r), sampling.height, sampling));
    for (std::int64_t c = 0; c < 4; ++c) {
      const std::int64_t column = floor_place(pad(static_cast<T>(left - 1 + c), sampling.width, sampling));
      taps.add(sampling, row, column, row_weights[r] * column_weights[c]);
    }
  }
  return taps;
}

template <typename T>
Taps<T> taps_of(const Sampling& sampling, T grid_x, T grid_y) {
  T x = to_pixels(grid_x, sampling.width, sampling);
  T y = to_pixels(grid_y, sampling.height, sampling);
  if (sampling.interpolation == Interpolation::kBicubic) return bicubic_taps(sampling, y, x);
  x = pad(x, sampling.width, sampling);
  y = pad(y, sampling.height, sampling);
  Taps<T> taps;
  if (sampling.interpolation == Interpolation::kNearest) {
    taps.add(sampling, floor_place(std::nearbyint(y)), floor_place(std::nearbyint(x)), T{1});
    return taps;
  }
  const std::int64_t top = floor_place(y);
  const std::int64_t left = floor_place(x);
  const T down = y - static_cast<T>(top);
  const T right = x - static_cast<T>(left);
  taps.add(sampling, top, left, (1 - down) * (1 - right));
  taps.add(sampling, top, left + 1, (1 - down) * right);
  taps.add(sampling, top + 1, left, down * (1 - right));
  taps.add(sampling, top + 1, left + 1, down * right);
  return taps;
}

template <typename T>
Result<void> sample(ExecuteContext& context, const Sampling& sampling, const Tensor& input, const Tensor& grid,
                    Tensor& out) {
  PTERUN_ASSIGN(const T* x, compute_input<T>(context, input));
  PTERUN_ASSIGN(const T* places, compute_input<T>(context, grid));
  PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, out, kComputeOf<T>));
  const std::int64_t channels = input.size(1);
  const std::int64_t in_plane = sampling.height * sampling.width;
  const std::int64_t out_plane = out.size(2) * out.size(3);
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(channels, 1)));
  context.threads->parallel_for(
      static_cast<std::size_t>(out.size(0) * out_plane), grain, [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
          const Taps<T> taps = taps_of<T>(sampling, places[2 * i], places[2 * i + 1]);
          const std::int64_t image = i / out_plane;
          const T* from = x + image * channels * in_plane;
          T* to = results.data<T>() + image * channels * out_plane + i % out_plane;
          for (std::int64_t c = 0; c < channels; ++c, from += in_plane, to += out_plane) {
            T sum{0};
            for (int tap = 0; tap < taps.count; ++tap)
              sum += from[taps.offset[tap]] * taps.weight[tap];
            *to = sum;
          }
        }
      });
  return results.store(context);
}

Result<void> grid_sampler_2d(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* grid, arguments.tensor(1));
  PTERUN_ASSIGN(const std::int64_t interpolation, arguments.integer(2));
  PTERUN_ASSIGN(const std::int64_t padding, arguments.integer(3));
  Sampling sampling;
  PTERUN_ASSIGN(sampling.align_corners, arguments.boolean(4));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(5));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *grid, input->dtype(), "grid"));
  PTERUN_TRY(check_dtype_is(arguments, *out, input->dtype(), "out"));
  PTERUN_TRY(check_rank(arguments, *input, 4, "input"));
  PTERUN_TRY(check_rank(arguments, *grid, 4, "grid"));
  if (interpolation < 0 || interpolation > 2 || padding < 0 || padding > 2) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "interpolation mode " + std::to_string(interpolation) +
                                                                 " or padding mode " + std::to_string(padding) +
                                                                 " is not 0, 1 or 2"));
  }
  if (grid->size(0) != input->size(0) || grid->size(3) != 2 || input->size(2) < 1 || input->size(3) < 1) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "grid " + grid->describe() + " does not fit input " + input->describe()));
  }
  sampling.interpolation = static_cast<Interpolation>(interpolation);
  sampling.padding = static_cast<Padding>(padding);
  sampling.dtype = input->dtype();
  sampling.height = input->size(2);
  sampling.width = input->size(3);
  PTERUN_TRY(resize_output(arguments, *out, {input->size(0), input->size(1), grid->size(1), grid->size(2)}));
  if (out->numel() == 0) return {};
  return visit_float_compute(input->dtype(),
                             [&]<typename T>() { return sample<T>(context, sampling, *input, *grid, *out); });
}

constexpr OperatorRow kRows[] = {
    {"aten::grid_sampler_2d.out", kFloats, grid_sampler_2d},
};

}  // namespace

std::span<const OperatorRow> grid_sampler_family() {
  return kRows;
}

}  // namespace pterun::operators
