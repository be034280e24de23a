// Pieces of a softmax over contiguous rows in the compute types, for loops under call_vectorised.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "operators/row_statistics.h"
#include "operators/vector_math.h"

namespace pterun::operators {

template <typename T>
[[gnu::always_inline]] inline void exp_lanes(T* lanes) {
  for (std::int64_t i = 0; i < kWidth<T>; ++i)
    lanes[i] = vector_exp(lanes[i]);
}
template <typename T>
[[gnu::always_inline]] inline void exp_block(Vector<T>& values) {
  T lanes[kWidth<T>];
  vector_at(lanes) = values;
  exp_lanes(lanes);
  values = vector_at(lanes);
}

template <typename T>
[[gnu::always_inline]] inline T row_maximum(const T* x, std::int64_t n) {
  Vector<T> largest = Vector<T>{} - std::numeric_limits<T>::infinity();
  std::int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) {
    const Vector<T> value = vector_at(x + i);
    largest = value > largest ? value : largest;
  }
  T result = -std::numeric_limits<T>::infinity();
  for (std::int64_t lane = 0; lane < kWidth<T>; ++lane)
    result = std::max(result, static_cast<T>(largest[lane]));
  for (; i < n; ++i)
    result = std::max(result, x[i]);
  return result;
}

// Writes exp(x - shift) when `out` is given, and returns the sum.
template <typename T>
[[gnu::always_inline]] inline T row_exp(const T* x, std::int64_t n, T shift, T* out) {
  Vector<T> sums{};
  std::int64_t i = 0;
  for (; i + kWidth<T> <= n; i += kWidth<T>) {
    Vector<T> value = vector_at(x + i) - shift;
    exp_block<T>(value);
    sums += value;
    if (out != nullptr) vector_at(out + i) = value;
  }
  T sum{};
  if (i < n) {
    T rest[kWidth<T>];
    for (std::int64_t lane = 0; lane < kWidth<T>; ++lane) {
      rest[lane] = i + lane < n ? x[i + lane] - shift : -std::numeric_limits<T>::infinity();
    }
    exp_lanes(rest);
    for (std::int64_t lane = 0; i < n; ++i, ++lane) {
      sum += rest[lane];
      if (out != nullptr) out[i] = rest[lane];
    }
  }
  return sum + lane_sum<T>(sums);
}

}  // namespace pterun::operators
