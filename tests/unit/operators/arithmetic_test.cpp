#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

TEST_CASE("add scales the second operand by alpha") {
  HostTensor a = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor b = make_tensor(DType::kFloat32, {2}, {10, 20});
  HostTensor out = make_output(DType::kFloat32, {2, 2});
  REQUIRE_RESULT(OperatorCall("aten::add.out").tensor(a).tensor(b).number(0.5).tensor(out).run());
  CHECK(values_of(out) == Values{6, 12, 8, 14});
}

TEST_CASE("integer arithmetic wraps around like two's complement") {
  HostTensor a = make_tensor(DType::kInt8, {3}, {127, -128, 100});
  HostTensor out = make_output(DType::kInt8, {3});
  REQUIRE_RESULT(OperatorCall("aten::add.out").tensor(a).tensor(a).integer(1).tensor(out).run());
  CHECK(values_of(out) == Values{-2, 0, -56});
  HostTensor b = make_int64({1}, {INT64_MAX});
  HostTensor wide = make_output(DType::kInt64, {1});
  REQUIRE_RESULT(OperatorCall("aten::mul.out").tensor(b).tensor(b).tensor(wide).run());
  CHECK(int64_values_of(wide) == std::vector<std::int64_t>{1});
}

TEST_CASE("a float scalar makes an integer tensor float32") {
  HostTensor a = make_tensor(DType::kInt32, {2}, {1, 2});
  HostTensor out = make_output(DType::kFloat32, {2});
  REQUIRE_RESULT(OperatorCall("aten::mul.Scalar_out").tensor(a).number(0.25).tensor(out).run());
  CHECK(values_of(out) == Values{0.25, 0.5});
}

TEST_CASE("a float result does not fit an integer output") {
  HostTensor a = make_tensor(DType::kInt32, {2}, {1, 2});
  HostTensor out = make_output(DType::kInt32, {2});
  const auto result = OperatorCall("aten::mul.Scalar_out").tensor(a).number(0.25).tensor(out).run();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("aten::mul.Scalar_out") != std::string::npos);
}

TEST_CASE("operands and outputs may have any dim order") {
  const Values values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Values doubled = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22};
  for (const bool last_a : {false, true}) {
    for (const bool last_out : {false, true}) {
      const DimOrder order_a = last_a ? DimOrder::channels_last() : DimOrder::contiguous(4);
      const DimOrder order_out = last_out ? DimOrder::channels_last() : DimOrder::contiguous(4);
      HostTensor a = make_tensor(DType::kFloat32, {1, 3, 2, 2}, order_a, values);
      HostTensor b = make_tensor(DType::kFloat32, {1, 3, 2, 2}, values);
      HostTensor out = make_output(DType::kFloat32, {1, 3, 2, 2}, order_out);
      REQUIRE_RESULT(OperatorCall("aten::add.out").tensor(a).tensor(b).integer(1).tensor(out).run());
      CHECK(values_of(out) == doubled);
    }
  }
}

TEST_CASE("large tensors on several threads give every element") {
  const std::int64_t rows = 300;
  const std::int64_t columns = 1001;
  Values a_values;
  Values b_values;
  Values expected;
  for (std::int64_t i = 0; i < rows; ++i)
    a_values.push_back(static_cast<double>(i));
  for (std::int64_t j = 0; j < columns; ++j)
    b_values.push_back(static_cast<double>(j) / 4);
  for (const double a : a_values) {
    for (const double b : b_values)
      expected.push_back(a - b);
  }
  HostTensor a = make_tensor(DType::kInt16, {rows, 1}, a_values);
  HostTensor b = make_tensor(DType::kFloat32, {columns}, b_values);
  HostTensor out = make_output(DType::kFloat32, {rows, columns});
  REQUIRE_RESULT(OperatorCall("aten::sub.out", 2).tensor(a).tensor(b).integer(1).tensor(out).run());
  CHECK(values_of(out) == expected);
}

TEST_CASE("a dynamic output takes the broadcast shape and a static one refuses another") {
  HostTensor a = make_tensor(DType::kFloat32, {2, 1}, {1, 2});
  HostTensor b = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor out = make_dynamic_output(DType::kFloat32, {4, 4});
  REQUIRE_RESULT(OperatorCall("aten::mul.out").tensor(a).tensor(b).tensor(out).run());
  CHECK(out.view().shape() == Shape{2, 3});
  CHECK(values_of(out) == Values{1, 2, 3, 2, 4, 6});
  HostTensor fixed = make_output(DType::kFloat32, {2, 2});
  CHECK_FALSE(OperatorCall("aten::mul.out").tensor(a).tensor(b).tensor(fixed).run().has_value());
}

TEST_CASE("shapes that do not broadcast are an error that names both") {
  HostTensor a = make_tensor(DType::kFloat32, {2}, {1, 2});
  HostTensor b = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor out = make_output(DType::kFloat32, {3});
  const auto result = OperatorCall("aten::mul.out").tensor(a).tensor(b).tensor(out).run();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("[2]") != std::string::npos);
  CHECK(result.error().message.find("[3]") != std::string::npos);
}

TEST_CASE("empty and 0-d tensors are ordinary operands") {
  HostTensor empty = make_tensor(DType::kFloat32, {0, 2}, {});
  HostTensor zero_dim = make_tensor(DType::kFloat64, {}, {3});
  HostTensor out = make_output(DType::kFloat32, {0, 2});
  REQUIRE_RESULT(OperatorCall("aten::mul.out").tensor(empty).tensor(zero_dim).tensor(out).run());
  HostTensor scalar_out = make_output(DType::kFloat64, {});
  REQUIRE_RESULT(OperatorCall("aten::mul.out").tensor(zero_dim).tensor(zero_dim).tensor(scalar_out).run());
  CHECK(values_of(scalar_out) == Values{9});
}

TEST_CASE("bool adds as or and refuses subtraction") {
  HostTensor a = make_tensor(DType::kBool, {2}, {1, 0});
  HostTensor b = make_tensor(DType::kBool, {2}, {1, 0});
  HostTensor out = make_output(DType::kBool, {2});
  REQUIRE_RESULT(OperatorCall("aten::add.out").tensor(a).tensor(b).integer(1).tensor(out).run());
  CHECK(values_of(out) == Values{1, 0});
  CHECK_FALSE(OperatorCall("aten::sub.out").tensor(a).tensor(b).integer(1).tensor(out).run().has_value());
}

TEST_CASE("a missing argument and one of the wrong kind are errors") {
  HostTensor a = make_tensor(DType::kFloat32, {1}, {1});
  CHECK_FALSE(OperatorCall("aten::mul.out").tensor(a).run().has_value());
  CHECK_FALSE(OperatorCall("aten::mul.out").tensor(a).none().tensor(a).run().has_value());
}

}  // namespace
}  // namespace pterun::test
