#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Values binary(std::string_view name, DType dtype, const Values& a, const Values& b, DType result) {
  const Shape shape{static_cast<std::int64_t>(a.size())};
  HostTensor x = make_tensor(dtype, shape, a);
  HostTensor y = make_tensor(dtype, shape, b);
  HostTensor out = make_output(result, shape);
  REQUIRE_RESULT(OperatorCall(name).tensor(x).tensor(y).tensor(out).run());
  return values_of(out);
}

Values divided(DType dtype, const Values& a, const Values& b, const char* mode) {
  const Shape shape{static_cast<std::int64_t>(a.size())};
  HostTensor x = make_tensor(dtype, shape, a);
  HostTensor y = make_tensor(dtype, shape, b);
  HostTensor out = make_output(dtype, shape);
  REQUIRE_RESULT(OperatorCall("aten::div.out_mode").tensor(x).tensor(y).string(mode).tensor(out).run());
  return values_of(out);
}

// NaN equals NaN.
bool same(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST_CASE("integers divide truly into float32") {
  CHECK(binary("aten::div.out", DType::kInt32, {1, 7, 1}, {2, -4, 0}, DType::kFloat32) ==
        Values{0.5, -1.75, kInfinity});
  CHECK(binary("aten::div.out", DType::kBool, {1, 1}, {1, 0}, DType::kFloat32) == Values{1, kInfinity});
}

TEST_CASE("rounding modes differ on negative quotients") {
  for (const DType dtype : {DType::kInt8, DType::kInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    CHECK(divided(dtype, {7, -7, 7, -7}, {2, 2, -2, -2}, "trunc") == Values{3, -3, -3, 3});
    CHECK(divided(dtype, {7, -7, 7, -7}, {2, 2, -2, -2}, "floor") == Values{3, -4, -4, 3});
  }
}

TEST_CASE("floor division of floats floors the exact quotient") {
  // 1 / 0.1 rounds to 10, but 0.1 is a little more than a tenth.
  CHECK(divided(DType::kFloat64, {1.0}, {0.1}, "floor") == Values{9});
  CHECK(same(divided(DType::kFloat32, {1, -1, 0, kInfinity}, {0, 0, 0, 2}, "floor"),
             {kInfinity, -kInfinity, kNaN, kNaN}));
}

TEST_CASE("remainder has the divisor's sign and fmod the dividend's") {
  for (const DType dtype : {DType::kInt16, DType::kInt64, DType::kBFloat16, DType::kFloat32}) {
    CHECK(binary("aten::remainder.Tensor_out", dtype, {7, -7, 7, -7, 6}, {3, 3, -3, -3, -3}, dtype) ==
          Values{1, 2, -2, -1, 0});
    CHECK(binary("aten::fmod.Tensor_out", dtype, {7, -7, 7, -7, 6}, {3, 3, -3, -3, -3}, dtype) ==
          Values{1, -1, 1, -1, 0});
  }
  CHECK(same(
      binary("aten::remainder.Tensor_out", DType::kFloat32, {1, 1, -1}, {0, kInfinity, kInfinity}, DType::kFloat32),
      {kNaN, 1, kInfinity}));
}

TEST_CASE("the smallest integer divided by -1 wraps") {
  CHECK(divided(DType::kInt8, {-128}, {-1}, "trunc") == Values{-128});
  HostTensor x = make_int64({1}, {INT64_MIN});
  HostTensor y = make_int64({1}, {-1});
  HostTensor out = make_output(DType::kInt64, {1});
  REQUIRE_RESULT(OperatorCall("aten::floor_divide.out").tensor(x).tensor(y).tensor(out).run());
  CHECK(int64_values_of(out) == std::vector<std::int64_t>{INT64_MIN});
  REQUIRE_RESULT(OperatorCall("aten::remainder.Tensor_out").tensor(x).tensor(y).tensor(out).run());
  CHECK(int64_values_of(out) == std::vector<std::int64_t>{0});
}

TEST_CASE("an integer division by zero is an error, also by a number that becomes zero") {
  HostTensor x = make_tensor(DType::kUInt8, {2}, {1, 2});
  HostTensor zero = make_tensor(DType::kUInt8, {2}, {1, 0});
  HostTensor wide = make_tensor(DType::kInt64, {}, {256});
  HostTensor out = make_output(DType::kUInt8, {2});
  CHECK_FALSE(OperatorCall("aten::floor_divide.out").tensor(x).tensor(zero).tensor(out).run().has_value());
  CHECK_FALSE(OperatorCall("aten::floor_divide.out").tensor(x).tensor(wide).tensor(out).run().has_value());
  CHECK_FALSE(OperatorCall("aten::fmod.Scalar_out").tensor(x).integer(256).tensor(out).run().has_value());
  CHECK_FALSE(OperatorCall("aten::remainder.Scalar_out").tensor(x).integer(0).tensor(out).run().has_value());
}

TEST_CASE("a rounding mode is trunc, floor or None") {
  HostTensor x = make_tensor(DType::kFloat32, {1}, {1});
  HostTensor out = make_output(DType::kFloat32, {1});
  CHECK_FALSE(
      OperatorCall("aten::div.Scalar_mode_out").tensor(x).integer(2).string("up").tensor(out).run().has_value());
  REQUIRE_RESULT(OperatorCall("aten::div.Scalar_mode_out").tensor(x).integer(2).none().tensor(out).run());
  CHECK(values_of(out) == Values{0.5});
}

}  // namespace
}  // namespace pterun::test
