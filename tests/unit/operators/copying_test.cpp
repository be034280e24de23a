#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("where chooses and promotes its operands") {
  HostTensor condition = make_tensor(DType::kBool, {2, 1}, {1, 0});
  HostTensor a = make_tensor(DType::kInt32, {2}, {1, 2});
  HostTensor b = make_tensor(DType::kFloat32, {}, {0.5});
  HostTensor out = make_output(DType::kFloat32, {2, 2});
  REQUIRE_RESULT(OperatorCall("aten::where.self_out").tensor(condition).tensor(a).tensor(b).tensor(out).run());
  CHECK(values_of(out) == Values{1, 2, 0.5, 0.5});
  CHECK_FALSE(OperatorCall("aten::where.self_out").tensor(a).tensor(a).tensor(b).tensor(out).run().has_value());
}

TEST_CASE("where moves int64 values whole") {
  HostTensor condition = make_tensor(DType::kBool, {2}, {1, 0});
  HostTensor a = make_int64({2}, {INT64_MAX, 0});
  HostTensor b = make_int64({2}, {0, INT64_MIN});
  HostTensor out = make_output(DType::kInt64, {2});
  REQUIRE_RESULT(OperatorCall("aten::where.self_out").tensor(condition).tensor(a).tensor(b).tensor(out).run());
  CHECK(int64_values_of(out) == std::vector<std::int64_t>{INT64_MAX, INT64_MIN});
}

TEST_CASE("masked_fill rounds its value to the tensor's dtype") {
  HostTensor x = make_tensor(DType::kInt32, {3}, {1, 2, 3});
  HostTensor mask = make_tensor(DType::kBool, {3}, {0, 1, 0});
  HostTensor out = make_output(DType::kInt32, {3});
  REQUIRE_RESULT(OperatorCall("aten::masked_fill.Scalar_out").tensor(x).tensor(mask).number(2.75).tensor(out).run());
  CHECK(values_of(out) == Values{1, 2, 3});
  REQUIRE_RESULT(OperatorCall("aten::masked_fill.Scalar_out").tensor(x).tensor(mask).integer(-7).tensor(out).run());
  CHECK(values_of(out) == Values{1, -7, 3});
}

TEST_CASE("copies convert dtype and dim order") {
  const Values values = {0, 1.5, 2, 3, 4, 5, 6, -7, 8, 9, 10, 11};
  HostTensor x = make_tensor(DType::kFloat32, {1, 3, 2, 2}, DimOrder::channels_last(), values);
  HostTensor out = make_output(DType::kFloat16, {1, 3, 2, 2});
  REQUIRE_RESULT(OperatorCall("dim_order_ops::_to_dim_order_copy.out")
                     .tensor(x)
                     .boolean(false)
                     .integers({0, 1, 2, 3})
                     .tensor(out)
                     .run());
  CHECK(values_of(out) == values);
  HostTensor last = make_output(DType::kFloat32, {1, 3, 2, 2}, DimOrder::channels_last());
  REQUIRE_RESULT(OperatorCall("aten::clone.out").tensor(out).none().tensor(last).run());
  CHECK(values_of(last) == values);
  HostTensor whole = make_output(DType::kInt8, {1, 3, 2, 2});
  REQUIRE_RESULT(OperatorCall("aten::_to_copy.out").tensor(x).boolean(false).none().tensor(whole).run());
  CHECK(values_of(whole)[1] == 1);
  CHECK(values_of(whole)[7] == -7);
  HostTensor flags = make_output(DType::kBool, {1, 3, 2, 2});
  REQUIRE_RESULT(OperatorCall("et_copy::_h2d_copy.out").tensor(x).tensor(flags).run());
  CHECK(values_of(flags)[0] == 0);
  CHECK(values_of(flags)[1] == 1);
}

TEST_CASE("copy broadcasts its source to the shape of self") {
  HostTensor self = make_tensor(DType::kInt32, {2, 2}, {9, 9, 9, 9});
  HostTensor source = make_tensor(DType::kFloat32, {2}, {1.9, -2.9});
  HostTensor out = make_output(DType::kInt32, {2, 2});
  REQUIRE_RESULT(OperatorCall("aten::copy.out").tensor(self).tensor(source).boolean(false).tensor(out).run());
  CHECK(values_of(out) == Values{1, -2, 1, -2});
  REQUIRE_RESULT(OperatorCall("aten::copy_").tensor(self).tensor(source).boolean(false).run());
  CHECK(values_of(self) == Values{1, -2, 1, -2});
  HostTensor longer = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  CHECK_FALSE(OperatorCall("aten::copy_").tensor(self).tensor(longer).boolean(false).run().has_value());
}

TEST_CASE("a constant is neither copied into nor resized") {
  HostTensor constant = make_tensor(DType::kFloat32, {1}, {1});
  constant.view().mark_constant();
  HostTensor source = make_tensor(DType::kFloat32, {1}, {2});
  CHECK_FALSE(OperatorCall("aten::copy_").tensor(constant).tensor(source).boolean(false).run().has_value());
  CHECK_FALSE(OperatorCall("aten::alias_copy.out").tensor(source).tensor(constant).run().has_value());
  CHECK(values_of(constant) == Values{1});
}

TEST_CASE("fills round to the output's dtype") {
  HostTensor out = make_output(DType::kInt32, {2, 2});
  REQUIRE_RESULT(OperatorCall("aten::full.out").integers({2, 2}).number(2.7).tensor(out).run());
  CHECK(values_of(out) == Values{2, 2, 2, 2});
  REQUIRE_RESULT(OperatorCall("aten::ones.out").integers({2, 2}).tensor(out).run());
  CHECK(values_of(out) == Values{1, 1, 1, 1});
  REQUIRE_RESULT(OperatorCall("aten::fill.Scalar_out").tensor(out).integer(-3).tensor(out).run());
  CHECK(values_of(out) == Values{-3, -3, -3, -3});
  HostTensor value = make_tensor(DType::kFloat32, {}, {5.5});
  REQUIRE_RESULT(OperatorCall("aten::fill.Tensor_out").tensor(out).tensor(value).tensor(out).run());
  CHECK(values_of(out) == Values{5, 5, 5, 5});
  CHECK_FALSE(OperatorCall("aten::fill.Tensor_out").tensor(out).tensor(out).tensor(out).run().has_value());
  REQUIRE_RESULT(OperatorCall("aten::zeros.out").integers({2, 2}).tensor(out).run());
  CHECK(values_of(out) == Values{0, 0, 0, 0});
  HostTensor half = make_output(DType::kFloat16, {2, 2});
  REQUIRE_RESULT(OperatorCall("aten::full_like.out").tensor(out).number(kNaN).none().tensor(half).run());
  CHECK(values_of(half)[3] != values_of(half)[3]);
  HostTensor number = make_output(DType::kFloat64, {});
  REQUIRE_RESULT(OperatorCall("aten::scalar_tensor.out").number(0.1).tensor(number).run());
  CHECK(values_of(number) == Values{0.1});
}

TEST_CASE("a range ends before its end and may go down") {
  HostTensor out = make_dynamic_output(DType::kFloat32, {10});
  REQUIRE_RESULT(OperatorCall("aten::arange.start_out").integer(0).integer(1).number(0.3).tensor(out).run());
  CHECK(out.view().shape() == Shape{4});
  HostTensor down = make_output(DType::kInt64, {3});
  REQUIRE_RESULT(OperatorCall("aten::arange.start_out").integer(5).integer(0).integer(-2).tensor(down).run());
  CHECK(values_of(down) == Values{5, 3, 1});
  HostTensor up = make_output(DType::kInt32, {5});
  REQUIRE_RESULT(OperatorCall("aten::arange.out").integer(5).tensor(up).run());
  CHECK(values_of(up) == Values{0, 1, 2, 3, 4});
}

TEST_CASE("a range without a way to its end is an error") {
  HostTensor out = make_dynamic_output(DType::kFloat32, {10});
  CHECK_FALSE(OperatorCall("aten::arange.start_out").integer(0).integer(1).integer(-1).tensor(out).run().has_value());
  CHECK_FALSE(OperatorCall("aten::arange.start_out").integer(0).integer(1).integer(0).tensor(out).run().has_value());
  CHECK_FALSE(OperatorCall("aten::arange.start_out").integer(0).number(kNaN).integer(1).tensor(out).run().has_value());
  CHECK_FALSE(OperatorCall("aten::arange.out").number(1e30).tensor(out).run().has_value());
}

}  // namespace
}  // namespace pterun::test
