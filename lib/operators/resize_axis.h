// Resampling along one axis: which elements make up each output position, and with which weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace pterun::operators {

struct ResizeAxis {
  std::int64_t in = 0, out = 0;
  std::optional<double> factor;  // out / in as given by the caller, which need not be the quotient of the sizes
};

// Output position i is the sum of weights[i * taps + j] * input[first[i] + j] over j < count[i].
template <typename T>
struct ResizeTable {
  std::int64_t taps = 1;
  std::vector<std::int64_t> first, count;
  std::vector<T> weights;
};

// Linear interpolation, computed in T as eager does for that type. T is float or double.
template <typename T>
ResizeTable<T> linear_table(const ResizeAxis& axis, bool align_corners);
// The same with a triangle filter that widens when the axis shrinks.
template <typename T>
ResizeTable<T> antialias_table(const ResizeAxis& axis, bool align_corners);
// The nearest element towards the start, computed in float whatever the dtype.
std::vector<std::int64_t> nearest_table(const ResizeAxis& axis);

// Weights in fixed point, for uint8: eager rounds to 16-bit weights and to a byte after each axis.
struct FixedPointTable {
  ResizeTable<std::int32_t> table;
  int shift = 0;  // a weight of 1 is 1 << shift
};
FixedPointTable fixed_point_table(const ResizeTable<double>& table);

}  // namespace pterun::operators
