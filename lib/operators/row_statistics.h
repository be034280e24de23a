// Sums, means and variances of contiguous rows in the compute types, for loops under call_vectorised.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "operators/vector_call.h"

namespace pterun::operators {

template <typename T>
[[gnu::always_inline]] inline T lane_sum(const Vector<T>& vector) {
  T lanes[kWidth<T>];
  vector_at(lanes) = vector;
  T sum = lanes[0];
  for (std::int64_t i = 1; i < kWidth<T>; ++i)
    sum += lanes[i];
  return sum;
}

// Sum of x[i] - shift, or of its square.
template <typename T, bool kSquared>
[[gnu::always_inline]] inline T row_sum(const T* x, std::int64_t n, T shift) {
  Vector<T> first{}, second{};
  std::int64_t i = 0;
  for (; i + 2 * kWidth<T> <= n; i += 2 * kWidth<T>) {
    const Vector<T> a = vector_at(x + i) - shift;
    const Vector<T> b = vector_at(x + i + kWidth<T>) - shift;
    first += kSquared ? a * a : a;
    second += kSquared ? b * b : b;
  }
  first += second;
  T sum = lane_sum<T>(first);
  for (; i < n; ++i) {
    const T difference = x[i] - shift;
    sum += kSquared ? difference * difference : difference;
  }
  return sum;
}

// Mean and (biased) variance in two passes, which keeps the variance of rows with a large mean right. n > 0.
template <typename T>
[[gnu::always_inline]] inline void row_moments(const T* x, std::int64_t n, T& mean, T& variance) {
  mean = row_sum<T, false>(x, n, T{0}) / static_cast<T>(n);
  variance = row_sum<T, true>(x, n, mean) / static_cast<T>(n);
}

// out[i] = x[i] * scale + shift.
template <typename T>
[[gnu::always_inline]] inline void row_scale_shift(const T* x, std::int64_t n, T scale, T shift, T* out) {
  std::int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>)
    vector_at(out + i) = vector_at(x + i) * scale + shift;
  for (; i < n; ++i)
    out[i] = x[i] * scale + shift;
}

}  // namespace pterun::operators
