#include "operators/vector_math.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

namespace pterun::operators {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Error in units in the last place of the exact result, at least those of the smallest normal float.
double ulp_error(float got, double exact) {
  const float rounded = static_cast<float>(exact);
  if (got == rounded || (got != got && exact != exact)) return 0;
  const double magnitude = std::max(std::abs(exact), static_cast<double>(std::numeric_limits<float>::min()));
  const double ulp = std::ldexp(1.0, std::ilogb(magnitude) - 23);
  return std::abs(static_cast<double>(got) - exact) / ulp;
}

// The largest error over floats spread over all exponents, both signs.
template <typename Function, typename Exact>
double largest_error(const Function& function, const Exact& exact, float low, float high) {
  double largest = 0;
  for (std::uint32_t bits = 0; bits < 0x7F800000u; bits += 1009) {
    for (const float x : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)}) {
      if (x < low || x > high) continue;
      largest = std::max(largest, ulp_error(function(x), exact(static_cast<double>(x))));
    }
  }
  return largest;
}

TEST_CASE("exp is within 1.5 ulp, down to subnormal results") {
  const auto exact = [](double x) { return std::exp(x); };
  CHECK(largest_error([](float x) { return vector_exp(x); }, exact, -104.0f, 88.7f) <= 1.5);
  CHECK(vector_exp(89.0f) == kInfinity);
  CHECK(vector_exp(kInfinity) == kInfinity);
  CHECK(vector_exp(-200.0f) == 0.0f);
  CHECK(vector_exp(-kInfinity) == 0.0f);
  CHECK(std::isnan(vector_exp(kNaN)));
  CHECK(vector_exp(0.0f) == 1.0f);
}

TEST_CASE("expm1 is within 2 ulp, near zero too") {
  const auto exact = [](double x) { return std::expm1(x); };
  CHECK(largest_error([](float x) { return vector_expm1(x); }, exact, -kInfinity, 88.7f) <= 2.0);
  CHECK(vector_expm1(kInfinity) == kInfinity);
  CHECK(vector_expm1(-kInfinity) == -1.0f);
  CHECK(std::signbit(vector_expm1(-0.0f)));
  CHECK(std::isnan(vector_expm1(kNaN)));
}

TEST_CASE("log is within 1.5 ulp, from subnormals up") {
  const auto exact = [](double x) { return std::log(x); };
  CHECK(largest_error([](float x) { return vector_log(x); }, exact, 1e-45f, kInfinity) <= 1.5);
  CHECK(vector_log(1.0f) == 0.0f);
  CHECK(vector_log(0.0f) == -kInfinity);
  CHECK(vector_log(-0.0f) == -kInfinity);
  CHECK(vector_log(kInfinity) == kInfinity);
  CHECK(std::isnan(vector_log(-1.0f)));
  CHECK(std::isnan(vector_log(-kInfinity)));
  CHECK(std::isnan(vector_log(kNaN)));
}

TEST_CASE("tanh is within 2.5 ulp and odd") {
  const auto exact = [](double x) { return std::tanh(x); };
  CHECK(largest_error([](float x) { return vector_tanh(x); }, exact, -kInfinity, kInfinity) <= 2.5);
  CHECK(vector_tanh(kInfinity) == 1.0f);
  CHECK(vector_tanh(-kInfinity) == -1.0f);
  CHECK(std::signbit(vector_tanh(-0.0f)));
  CHECK(std::isnan(vector_tanh(kNaN)));
}

TEST_CASE("erf is within 3 ulp and odd") {
  const auto exact = [](double x) { return std::erf(x); };
  CHECK(largest_error([](float x) { return vector_erf(x); }, exact, -kInfinity, kInfinity) <= 3.0);
  CHECK(vector_erf(kInfinity) == 1.0f);
  CHECK(vector_erf(-kInfinity) == -1.0f);
  CHECK(std::isnan(vector_erf(kNaN)));
}

TEST_CASE("sigmoid is within 3 ulp where it does not underflow") {
  const auto exact = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(largest_error([](float x) { return vector_sigmoid(x); }, exact, -87.0f, kInfinity) <= 3.0);
  CHECK(vector_sigmoid(-kInfinity) == 0.0f);
  CHECK(vector_sigmoid(kInfinity) == 1.0f);
  CHECK(std::isnan(vector_sigmoid(kNaN)));
}

}  // namespace
}  // namespace pterun::operators
