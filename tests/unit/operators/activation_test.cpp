#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void check_close(const Values& got, const Values& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
}

const Values kValues = {-6, -1.5, -0.25, 0, 0.5, 2, 7};

TEST_CASE("gelu follows its exact and its tanh formula") {
  Values exact;
  Values tanh_form;
  for (const double x : kValues) {
    exact.push_back(0.5 * x * (1 + std::erf(x / std::sqrt(2.0))));
    tanh_form.push_back(0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))));
  }
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    HostTensor x = make_tensor(dtype, {7}, kValues);
    HostTensor out = make_output(dtype, {7});
    const double tolerance = dtype == DType::kFloat16 ? 1e-3 : 1e-6;
    REQUIRE_RESULT(OperatorCall("aten::gelu.out").tensor(x).string("none").tensor(out).run());
    check_close(values_of(out), exact, tolerance);
    REQUIRE_RESULT(OperatorCall("aten::gelu.out").tensor(x).string("tanh").tensor(out).run());
    check_close(values_of(out), tanh_form, tolerance);
  }
  HostTensor x = make_tensor(DType::kFloat32, {1}, {1});
  CHECK_FALSE(OperatorCall("aten::gelu.out").tensor(x).string("erf").tensor(x).run().has_value());
}

TEST_CASE("elu and leaky_relu bend below zero") {
  HostTensor x = make_tensor(DType::kFloat32, {7}, kValues);
  HostTensor out = make_output(DType::kFloat32, {7});
  Values elu;
  Values leaky;
  for (const double v : kValues) {
    elu.push_back(v > 0 ? 2 * v : 2 * 1.5 * std::expm1(0.5 * v));
    leaky.push_back(v > 0 ? v : 0.1 * v);
  }
  REQUIRE_RESULT(OperatorCall("aten::elu.out").tensor(x).number(1.5).integer(2).number(0.5).tensor(out).run());
  check_close(values_of(out), elu, 1e-6);
  REQUIRE_RESULT(OperatorCall("aten::leaky_relu.out").tensor(x).number(0.1).tensor(out).run());
  check_close(values_of(out), leaky, 1e-6);
  HostTensor whole = make_tensor(DType::kInt32, {1}, {1});
  CHECK_FALSE(OperatorCall("aten::leaky_relu.out").tensor(whole).number(0.1).tensor(whole).run().has_value());
}

TEST_CASE("a limit of hardtanh that is NaN makes everything NaN") {
  HostTensor x = make_tensor(DType::kFloat64, {2}, {-5, 5});
  HostTensor out = make_output(DType::kFloat64, {2});
  for (const bool low : {true, false}) {
    OperatorCall call("aten::hardtanh.out");
    call.tensor(x).number(low ? std::nan("") : 0).number(low ? 1 : std::nan(""));
    REQUIRE_RESULT(call.tensor(out).run());
    for (const double value : values_of(out))
      CHECK(std::isnan(value));
  }
}

TEST_CASE("hardtanh keeps the dtype of integers") {
  HostTensor x = make_tensor(DType::kInt8, {3}, {-5, 0, 5});
  HostTensor out = make_output(DType::kInt8, {3});
  REQUIRE_RESULT(OperatorCall("aten::hardtanh.out").tensor(x).integer(-1).integer(2).tensor(out).run());
  CHECK(values_of(out) == Values{-1, 0, 2});
}

TEST_CASE("clamp promotes with its limits, and its upper limit wins") {
  HostTensor x = make_tensor(DType::kInt64, {3}, {-5, 0, 5});
  HostTensor out = make_output(DType::kFloat32, {3});
  REQUIRE_RESULT(OperatorCall("aten::clamp.out").tensor(x).none().number(2.5).tensor(out).run());
  CHECK(values_of(out) == Values{-5, 0, 2.5});
  HostTensor whole = make_output(DType::kInt64, {3});
  REQUIRE_RESULT(OperatorCall("aten::clamp.out").tensor(x).integer(3).integer(2).tensor(whole).run());
  CHECK(values_of(whole) == Values{2, 2, 2});
  REQUIRE_RESULT(OperatorCall("aten::clamp.out").tensor(x).integer(-1).none().tensor(whole).run());
  CHECK(values_of(whole) == Values{-1, 0, 5});
}

TEST_CASE("clamp passes NaN on, from its input and from its limits") {
  HostTensor x = make_tensor(DType::kFloat32, {2}, {kNaN, 1});
  HostTensor out = make_output(DType::kFloat32, {2});
  REQUIRE_RESULT(OperatorCall("aten::clamp.out").tensor(x).integer(0).integer(2).tensor(out).run());
  CHECK(std::isnan(values_of(out)[0]));
  CHECK(values_of(out)[1] == 1);
  REQUIRE_RESULT(OperatorCall("aten::clamp.out").tensor(x).number(kNaN).none().tensor(out).run());
  CHECK(std::isnan(values_of(out)[1]));
}

TEST_CASE("clamp with tensors broadcasts its limits, either of which may be missing") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 3}, {-5, 0, 5, -1, kNaN, 1});
  HostTensor low = make_tensor(DType::kFloat32, {3}, {-2, 1, -2});
  HostTensor high = make_tensor(DType::kInt32, {}, {2});
  HostTensor out = make_output(DType::kFloat32, {2, 3});
  REQUIRE_RESULT(OperatorCall("aten::clamp.Tensor_out").tensor(x).tensor(low).tensor(high).tensor(out).run());
  Values got = values_of(out);
  CHECK(std::isnan(got[4]));
  got[4] = 0;
  CHECK(got == Values{-2, 1, 2, -1, 0, 1});
  REQUIRE_RESULT(OperatorCall("aten::clamp.Tensor_out").tensor(x).none().tensor(high).tensor(out).run());
  CHECK(values_of(out)[2] == 2);
  CHECK(values_of(out)[0] == -5);
}

}  // namespace
}  // namespace pterun::test
