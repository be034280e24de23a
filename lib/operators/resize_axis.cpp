// Weights of resampled axes.
#include "operators/resize_axis.h"

#include <algorithm>
#include <cmath>

namespace pterun::operators {
namespace {

// Input elements per output element. Axes that keep their size are not resampled, whatever factor made the size.
template <typename T>
T step_of(const ResizeAxis& axis, bool align_corners) {
  if (axis.in == axis.out) return T{1};
  if (align_corners) return axis.out > 1 ? static_cast<T>(axis.in - 1) / static_cast<T>(axis.out - 1) : T{0};
  if (axis.factor && *axis.factor > 0.0) return static_cast<T>(1.0 / *axis.factor);
  return static_cast<T>(axis.in) / static_cast<T>(axis.out);
}

template <typename T>
ResizeTable<T> empty_table(const ResizeAxis& axis, std::int64_t taps) {
  ResizeTable<T> table;
  table.taps = taps;
  table.first.resize(static_cast<std::size_t>(axis.out));
  table.count.resize(static_cast<std::size_t>(axis.out));
  table.weights.resize(static_cast<std::size_t>(axis.out * taps));
  return table;
}

}  // namespace

template <typename T>
ResizeTable<T> linear_table(const ResizeAxis& axis, bool align_corners) {
  ResizeTable<T> table = empty_table<T>(axis, 2);
  const T step = step_of<T>(axis, align_corners);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const auto position = static_cast<T>(i);
    const T source = align_corners ? step * position : std::max(step * (position + T{0.5}) - T{0.5}, T{0});
    const std::int64_t first = std::min(static_cast<std::int64_t>(source), axis.in - 1);
    const T second_weight = std::clamp(source - static_cast<T>(first), T{0}, T{1});
    const auto at = static_cast<std::size_t>(i);
    table.first[at] = first;
    table.count[at] = first + 1 < axis.in ? 2 : 1;
    table.weights[2 * at] = first + 1 < axis.in ? T{1} - second_weight : T{1};
    table.weights[2 * at + 1] = second_weight;
  }
  return table;
}

template <typename T>
ResizeTable<T> antialias_table(const ResizeAxis& axis, bool align_corners) {
  const T step = step_of<T>(axis, align_corners);
  const T support = std::max(step, T{1});
  const auto taps = std::min(static_cast<std::int64_t>(std::ceil(support)) * 2 + 1, axis.in);
  ResizeTable<T> table = empty_table<T>(axis, taps);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const T center = step * (static_cast<T>(i) + T{0.5});
    const std::int64_t first =
        std::clamp(static_cast<std::int64_t>(center - support + T{0.5}), std::int64_t{0}, axis.in - 1);
    const std::int64_t last = std::min(static_cast<std::int64_t>(center + support + T{0.5}), axis.in);
    const std::int64_t count = std::clamp(last - first, std::int64_t{0}, taps);
    T* weights = table.weights.data() + i * taps;
    T total{0};
    for (std::int64_t j = 0; j < count; ++j) {
      const T distance = std::abs((static_cast<T>(j + first) - center + T{0.5}) / support);
      weights[j] = std::max(T{1} - distance, T{0});
      total += weights[j];
    }
    for (std::int64_t j = 0; j < count && total != T{0}; ++j)
      weights[j] /= total;
    table.first[static_cast<std::size_t>(i)] = first;
    table.count[static_cast<std::size_t>(i)] = count;
  }
  return table;
}

std::vector<std::int64_t> nearest_table(const ResizeAxis& axis) {
  // Doubling repeats every element, even with a factor that is only about 2.
  const float step = axis.out == 2 * axis.in ? 0.5f : step_of<float>(axis, false);
  std::vector<std::int64_t> places(static_cast<std::size_t>(axis.out));
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(i) * step)), axis.in - 1);
  }
  return places;
}

FixedPointTable fixed_point_table(const ResizeTable<double>& table) {
  const double largest = table.weights.empty() ? 1.0 : *std::max_element(table.weights.begin(), table.weights.end());
  FixedPointTable fixed;
  // The most precise scale at which the largest weight fits 16 bits.
  while (fixed.shift < 22 && 0.5 + largest * static_cast<double>(1 << (fixed.shift + 1)) < 32768.0)
    ++fixed.shift;
  fixed.table.taps = table.taps;
  fixed.table.first = table.first;
  fixed.table.count = table.count;
  for (const double weight : table.weights) {
    fixed.table.weights.push_back(static_cast<std::int32_t>(weight * static_cast<double>(1 << fixed.shift) + 0.5));
  }
  return fixed;
}

template ResizeTable<float> linear_table<float>(const ResizeAxis&, bool);
template ResizeTable<double> linear_table<double>(const ResizeAxis&, bool);
template ResizeTable<float> antialias_table<float>(const ResizeAxis&, bool);
template ResizeTable<double> antialias_table<double>(const ResizeAxis&, bool);

}  // namespace pterun::operators
