// The table of element types, and the 16-bit floats against slow references over all their values.
#include "tensor/dtype.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

namespace {

// The value of binary16 or bfloat16 bits, computed from the definition of the format.
double value_of(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int sign = bits >> 15;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double value = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  }
  return sign == 0 ? value : -value;
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

// All values of a 16-bit float there and back, and the rounding between each two neighbours.
template <typename T>
void check_float16(int exponent_bits, int mantissa_bits) {
  int wrong = 0;
  const int infinity = ((1 << exponent_bits) - 1) << mantissa_bits;
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const T number = T::from_bits(static_cast<std::uint16_t>(bits));
    const double want = value_of(number.bits, exponent_bits, mantissa_bits);
    const float got = static_cast<float>(number);
    if (!same(got, want)) ++wrong;
    if (!std::isnan(want) && T(got).bits != number.bits) ++wrong;
  }
  CHECK(wrong == 0);
  for (int bits = 0; bits + 1 < infinity; ++bits) {
    const double low = value_of(static_cast<std::uint16_t>(bits), exponent_bits, mantissa_bits);
    const double high = value_of(static_cast<std::uint16_t>(bits + 1), exponent_bits, mantissa_bits);
    const auto middle = static_cast<float>((low + high) / 2);
    if (static_cast<double>(middle) != (low + high) / 2) continue;  // below float's own range
    if (T(middle).bits != (bits % 2 == 0 ? bits : bits + 1)) ++wrong;
    if (T(std::nextafter(middle, 0.0f)).bits != bits) ++wrong;
    if (T(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits != bits + 1) ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every dtype is found by its number and by its name") {
  std::set<std::string_view> names;
  int known = 0;
  for (int number = -2; number < 40; ++number) {
    const auto dtype = dtype_from_number(number);
    if (!dtype) continue;
    ++known;
    CAPTURE(number);
    CHECK(static_cast<int>(*dtype) == number);
    CHECK(names.insert(dtype_name(*dtype)).second);
    CHECK(dtype_from_name(dtype_name(*dtype)) == dtype);
    CHECK(dtype_size(*dtype) >= 1);
  }
  CHECK(known == 25);
}

TEST_CASE("numbers and names that no tensor has are none") {
  for (const int number : {-1, 8, 18, 21, 30, 1000})
    CHECK_FALSE(dtype_from_number(number));
  for (const char* name : {"", "float", "Float32", "complex32", "float32 "})
    CHECK_FALSE(dtype_from_name(name));
}

TEST_CASE("sizes are those of the C++ types") {
  CHECK(dtype_size(DType::kBool) == 1);
  CHECK(dtype_size(DType::kFloat16) == 2);
  CHECK(dtype_size(DType::kBFloat16) == 2);
  CHECK(dtype_size(DType::kInt64) == 8);
  CHECK(dtype_size(DType::kComplex128) == 16);
}

TEST_CASE("kinds of dtypes exclude each other") {
  for (int number = 0; number < 30; ++number) {
    const auto dtype = dtype_from_number(number);
    if (!dtype) continue;
    CAPTURE(dtype_name(*dtype));
    CHECK(int{is_floating(*dtype)} + int{is_complex(*dtype)} + int{is_integer(*dtype)} <= 1);
  }
  CHECK(is_floating(DType::kBFloat16));
  CHECK(is_floating(DType::kFloat8E4M3FN));
  CHECK_FALSE(is_integer(DType::kBool));
  CHECK(is_integer(DType::kUInt64));
  CHECK(complex_part(DType::kComplex128) == DType::kFloat64);
}

TEST_CASE("half precision holds, converts and rounds all its values to nearest even") {
  check_float16<Half>(5, 10);
}

TEST_CASE("bfloat16 holds, converts and rounds all its values to nearest even") {
  check_float16<BFloat16>(8, 7);
}

TEST_CASE("what is too large becomes infinite and NaN stays NaN") {
  CHECK(Half(65519.0f).bits == 0x7bff);
  CHECK(Half(65520.0f).bits == 0x7c00);
  CHECK(Half(-1e30f).bits == 0xfc00);
  CHECK(BFloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu}) {
    const auto nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(static_cast<float>(Half(nan))));
    CHECK(std::isnan(static_cast<float>(BFloat16(nan))));
  }
}
