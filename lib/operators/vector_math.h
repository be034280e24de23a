// exp, expm1, log, tanh, sigmoid and erf of float without branches and calls, so that loops over them vectorise; double
// goes to libm. Polynomials are least-maximum fits made for this file (iterated weighted least squares on Chebyshev
// nodes). tests/unit/operators/vector_math_test.cpp measures the errors stated here against double.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pterun::operators {

// Value of c[0] + c[1] x + c[2] x^2 + … by Horner's rule.
template <typename... Rest>
[[gnu::always_inline]] inline float polynomial(float x, float c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return c0;
  } else {
    return c0 + x * polynomial(x, rest...);
  }
}

// 2^n for -126 <= n <= 127.
[[gnu::always_inline]] inline float power_of_two(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

// e^x = 2^n e^r with |r| <= ln(2) / 2. At most 1.5 ulp; gradual underflow; NaN stays.
[[gnu::always_inline]] inline float vector_exp(float x) {
  const float low = x < -104.0f ? -104.0f : x;
  const float clamped = low > 89.0f ? 89.0f : low;
  constexpr float kRound = 0x1.8p23f;  // adding it rounds to an integer, kept in the low bits
  const float shifted = clamped * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  // ln 2 in two parts, the first with trailing zeros so that its product with n is exact.
  const float r = (clamped - n * 0.693145752f) - n * 1.42860677e-6f;
  const float p = polynomial(r, 0.49999994f, 0.16666515f, 0.041668456f, 0.0083694188f, 0.0013813145f);
  const float value = 1.0f + (r + r * r * p);
  // Two factors, because 2^n alone leaves the range before the result does.
  const std::int32_t half = exponent >> 1;
  return value * power_of_two(half) * power_of_two(exponent - half);
}
inline double vector_exp(double x) {
  return std::exp(x);
}

// e^x - 1 without cancellation near 0: 2^n (e^r - 1) + (2^n - 1), at half the scale so that n may be 128. At most 2
// ulp.
[[gnu::always_inline]] inline float vector_expm1(float x) {
  const float low = x < -25.0f ? -25.0f : x;
  const float clamped = low > 89.0f ? 89.0f : low;
  constexpr float kRound = 0x1.8p23f;
  const float shifted = clamped * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  const float r = (clamped - n * 0.693145752f) - n * 1.42860677e-6f;
  const float p = polynomial(r, 0.49999994f, 0.16666515f, 0.041668456f, 0.0083694188f, 0.0013813145f);
  const float half_scale = power_of_two(exponent - 1);
  const float value = 2.0f * (half_scale * (r + r * r * p) + (half_scale - 0.5f));
  return x == 0.0f ? x : value;
}
inline double vector_expm1(double x) {
  return std::expm1(x);
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)). At most 1.5 ulp; subnormals included; log(0) = -inf, below: NaN.
[[gnu::always_inline]] inline float vector_log(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool tiny = x < std::numeric_limits<float>::min();
  const auto bits = std::bit_cast<std::uint32_t>(tiny ? x * 0x1p23f : x);
  // The mantissa's distance from sqrt(1/2), so that the exponent steps at sqrt(1/2) and not at 1.
  // Unsigned, so that negative x, whose result is NaN anyway, may wrap.
  const auto shifted = static_cast<std::int32_t>(bits - 0x3F3504F3u);
  const auto e = static_cast<float>((shifted >> 23) - (tiny ? 23 : 0));
  const float f = std::bit_cast<float>((shifted & 0x007FFFFF) + 0x3F3504F3) - 1.0f;
  const float p = polynomial(f, 0.3333331f, -0.25000009f, 0.20002273f, -0.1666811f, 0.14216213f, -0.12400974f,
                             0.11909955f, -0.11715965f, 0.067464046f);
  const float tail = f * f * (f * p - 0.5f) + e * 1.42860677e-6f;
  const float value = (f + tail) + e * 0.693145752f;
  const float positive = x == kInfinity ? x : value;
  return x > 0.0f ? positive : x == 0.0f ? -kInfinity : std::numeric_limits<float>::quiet_NaN();
}
inline double vector_log(double x) {
  return std::log(x);
}

// At most 2.5 ulp.
[[gnu::always_inline]] inline float vector_tanh(float x) {
  const float magnitude = std::abs(x);
  const float z = x * x;
  const float p = polynomial(z, -0.33333263f, 0.13330899f, -0.053692967f, 0.020483317f, -0.0055286339f);
  const float small = x + x * z * p;
  const float large = 1.0f - 2.0f / (vector_exp(2.0f * (magnitude > 10.0f ? 10.0f : magnitude)) + 1.0f);
  return std::copysign(magnitude >= 0.625f ? large : small, x);
}
inline double vector_tanh(double x) {
  return std::tanh(x);
}

// At most 3 ulp.
[[gnu::always_inline]] inline float vector_sigmoid(float x) {
  return 1.0f / (1.0f + vector_exp(-x));
}
inline double vector_sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

// x P(x^2) up to 1, 1 - e^-Q(|x|) beyond, where Q fits -log(erfc). At most 3 ulp.
[[gnu::always_inline]] inline float vector_erf(float x) {
  const float magnitude = std::abs(x);
  const float capped = magnitude > 4.0f ? 4.0f : magnitude;
  const float p = polynomial(x * x, 1.1283792f, -0.37612638f, 0.11283782f, -0.0268654f, 0.0052209455f, -0.00084828289f,
                             0.00011256948f, -9.6415142e-06f);
  const float q = polynomial(capped, -0.00018846767f, 1.1295803f, 0.63321638f, 0.1084221f, -0.025210338f, 0.0042052842f,
                             -0.00044147257f, 2.1697608e-05f);
  const float large = 1.0f - vector_exp(-q);
  return magnitude >= 1.0f ? std::copysign(large, x) : x * p;
}
inline double vector_erf(double x) {
  return std::erf(x);
}

}  // namespace pterun::operators
