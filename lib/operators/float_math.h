// Scalar formulas that several families share, with eager's answers for NaN, zeros and integers.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace pterun::operators {

// The larger or smaller; NaN on either side gives NaN.
template <typename T>
constexpr T nan_max(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a > b || a != a ? a : b;
  return a > b ? a : b;
}
template <typename T>
constexpr T nan_min(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || a != a ? a : b;
  return a < b ? a : b;
}

// C's truncating division and its remainder; the divisor is not 0. -1 wraps instead of overflowing.
constexpr std::int64_t truncate_divide(std::int64_t a, std::int64_t b) {
  if (b == -1) return static_cast<std::int64_t>(0u - static_cast<std::uint64_t>(a));
  return a / b;
}
constexpr std::int64_t truncate_remainder(std::int64_t a, std::int64_t b) {
  return b == -1 ? 0 : a % b;
}

// Rounding towards minus infinity, as Python's // and %: the remainder has the divisor's sign.
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = truncate_divide(a, b);
  const std::int64_t remainder = truncate_remainder(a, b);
  return remainder != 0 && (remainder ^ b) < 0 ? quotient - 1 : quotient;
}
constexpr std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t remainder = truncate_remainder(a, b);
  return remainder != 0 && (remainder ^ b) < 0 ? remainder + b : remainder;
}

template <typename T>
  requires std::is_floating_point_v<T>
T floor_remainder(T a, T b) {
  const T remainder = std::fmod(a, b);
  return remainder != 0 && (b < 0) != (remainder < 0) ? remainder + b : remainder;
}

// Python's float //: the floor of the exact quotient, not of the rounded one. a / b when b is 0.
template <typename T>
  requires std::is_floating_point_v<T>
T floor_divide(T a, T b) {
  if (b == 0) return a / b;
  const T remainder = std::fmod(a, b);
  T quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T{0}, a / b);
  const T floored = std::floor(quotient);
  return quotient - floored > T{0.5} ? floored + 1 : floored;
}

// Integer power modulo 2^64. A negative exponent gives 0, except for the bases 1 and -1.
constexpr std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1;
  std::uint64_t square = static_cast<std::uint64_t>(base);
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<std::int64_t>(result);
}

}  // namespace pterun::operators
