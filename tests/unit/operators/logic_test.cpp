#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Values compared(std::string_view name, DType dtype, const Values& a, const Values& b) {
  HostTensor x = make_tensor(dtype, {static_cast<std::int64_t>(a.size())}, a);
  HostTensor y = make_tensor(dtype, {static_cast<std::int64_t>(b.size())}, b);
  HostTensor out = make_output(DType::kBool, {static_cast<std::int64_t>(a.size())});
  REQUIRE_RESULT(OperatorCall(name).tensor(x).tensor(y).tensor(out).run());
  return values_of(out);
}

TEST_CASE("comparisons give bool in every dtype") {
  for (const DType dtype :
       {DType::kUInt8, DType::kInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    const Values a = {1, 2, 3};
    const Values b = {2, 2, 2};
    CHECK(compared("aten::eq.Tensor_out", dtype, a, b) == Values{0, 1, 0});
    CHECK(compared("aten::ne.Tensor_out", dtype, a, b) == Values{1, 0, 1});
    CHECK(compared("aten::lt.Tensor_out", dtype, a, b) == Values{1, 0, 0});
    CHECK(compared("aten::le.Tensor_out", dtype, a, b) == Values{1, 1, 0});
    CHECK(compared("aten::gt.Tensor_out", dtype, a, b) == Values{0, 0, 1});
    CHECK(compared("aten::ge.Tensor_out", dtype, a, b) == Values{0, 1, 1});
  }
}

TEST_CASE("NaN is unequal to everything and ordered with nothing") {
  CHECK(compared("aten::eq.Tensor_out", DType::kFloat32, {kNaN, 1}, {kNaN, kNaN}) == Values{0, 0});
  CHECK(compared("aten::ne.Tensor_out", DType::kFloat32, {kNaN, 1}, {kNaN, kNaN}) == Values{1, 1});
  CHECK(compared("aten::ge.Tensor_out", DType::kFloat32, {kNaN, 1}, {kNaN, kNaN}) == Values{0, 0});
}

TEST_CASE("a number is rounded to the tensor's dtype before it is compared") {
  HostTensor x = make_tensor(DType::kUInt8, {2}, {44, 45});
  HostTensor half = make_tensor(DType::kFloat16, {1}, {0.1});
  HostTensor out = make_output(DType::kBool, {2});
  HostTensor one = make_output(DType::kBool, {1});
  REQUIRE_RESULT(OperatorCall("aten::eq.Scalar_out").tensor(x).integer(300).tensor(out).run());
  CHECK(values_of(out) == Values{1, 0});
  REQUIRE_RESULT(OperatorCall("aten::eq.Scalar_out").tensor(half).number(0.1).tensor(one).run());
  CHECK(values_of(one) == Values{1});
}

TEST_CASE("logical operators take any dtypes and NaN is true") {
  HostTensor a = make_tensor(DType::kFloat32, {4}, {0, 0.5, kNaN, 0});
  HostTensor b = make_tensor(DType::kInt8, {4}, {0, 0, 3, -1});
  HostTensor out = make_output(DType::kBool, {4});
  REQUIRE_RESULT(OperatorCall("aten::logical_and.out").tensor(a).tensor(b).tensor(out).run());
  CHECK(values_of(out) == Values{0, 0, 1, 0});
  REQUIRE_RESULT(OperatorCall("aten::logical_or.out").tensor(a).tensor(b).tensor(out).run());
  CHECK(values_of(out) == Values{0, 1, 1, 1});
  REQUIRE_RESULT(OperatorCall("aten::logical_xor.out").tensor(a).tensor(b).tensor(out).run());
  CHECK(values_of(out) == Values{0, 1, 0, 1});
  REQUIRE_RESULT(OperatorCall("aten::logical_not.out").tensor(a).tensor(out).run());
  CHECK(values_of(out) == Values{1, 0, 0, 1});
  HostTensor floats = make_output(DType::kFloat32, {4});
  REQUIRE_RESULT(OperatorCall("aten::logical_not.out").tensor(a).tensor(floats).run());
  CHECK(values_of(floats) == Values{1, 0, 0, 1});
}

TEST_CASE("bitwise operators work on integers and on bool and refuse floats") {
  HostTensor a = make_tensor(DType::kInt8, {2}, {12, -1});
  HostTensor b = make_tensor(DType::kInt8, {2}, {10, 7});
  HostTensor out = make_output(DType::kInt8, {2});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_and.Tensor_out").tensor(a).tensor(b).tensor(out).run());
  CHECK(values_of(out) == Values{8, 7});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_or.Scalar_out").tensor(a).integer(1).tensor(out).run());
  CHECK(values_of(out) == Values{13, -1});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_xor.Tensor_out").tensor(a).tensor(b).tensor(out).run());
  CHECK(values_of(out) == Values{6, -8});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_not.out").tensor(a).tensor(out).run());
  CHECK(values_of(out) == Values{-13, 0});
  HostTensor flags = make_tensor(DType::kBool, {2}, {1, 0});
  HostTensor flipped = make_output(DType::kBool, {2});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_not.out").tensor(flags).tensor(flipped).run());
  CHECK(values_of(flipped) == Values{0, 1});
  HostTensor real = make_tensor(DType::kFloat32, {2}, {1, 2});
  CHECK_FALSE(OperatorCall("aten::bitwise_not.out").tensor(real).tensor(real).run().has_value());
  CHECK_FALSE(OperatorCall("aten::bitwise_and.Scalar_out").tensor(a).number(1.5).tensor(real).run().has_value());
}

TEST_CASE("shifts beyond the width give zero to the left and the sign to the right") {
  HostTensor a = make_tensor(DType::kInt8, {5}, {1, 1, 64, -8, -8});
  HostTensor by = make_tensor(DType::kInt8, {5}, {3, 9, 1, -1, 1});
  HostTensor out = make_output(DType::kInt8, {5});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_left_shift.Tensor_out").tensor(a).tensor(by).tensor(out).run());
  CHECK(values_of(out) == Values{8, 0, -128, 0, -16});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_right_shift.Tensor_out").tensor(a).tensor(by).tensor(out).run());
  CHECK(values_of(out) == Values{0, 0, 32, -1, -4});
  HostTensor u = make_tensor(DType::kUInt8, {1}, {200});
  HostTensor u_out = make_output(DType::kUInt8, {1});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_right_shift.Tensor_Scalar_out").tensor(u).integer(9).tensor(u_out).run());
  CHECK(values_of(u_out) == Values{0});
  REQUIRE_RESULT(OperatorCall("aten::bitwise_left_shift.Tensor_Scalar_out").tensor(u).integer(1).tensor(u_out).run());
  CHECK(values_of(u_out) == Values{144});
}

TEST_CASE("bool with bool cannot be shifted") {
  HostTensor flags = make_tensor(DType::kBool, {1}, {1});
  CHECK_FALSE(
      OperatorCall("aten::bitwise_left_shift.Tensor_out").tensor(flags).tensor(flags).tensor(flags).run().has_value());
}

}  // namespace
}  // namespace pterun::test
