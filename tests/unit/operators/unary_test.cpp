#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Values unary(std::string_view name, DType dtype, const Values& values, DType result) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  HostTensor x = make_tensor(dtype, shape, values);
  HostTensor out = make_output(result, shape);
  REQUIRE_RESULT(OperatorCall(name).tensor(x).tensor(out).run());
  return values_of(out);
}

bool close(const Values& got, const Values& want, double tolerance) {
  return std::equal(got.begin(), got.end(), want.begin(), want.end(), [&](double g, double w) {
    if (std::isnan(w)) return std::isnan(g);
    if (std::isinf(w)) return g == w;
    return std::abs(g - w) <= tolerance * (1 + std::abs(w));
  });
}

struct FloatFunction {
  std::string_view name;
  double (*exact)(double);
};

const FloatFunction kFloatFunctions[] = {
    {"aten::acos.out", [](double x) { return std::acos(x); }},
    {"aten::acosh.out", [](double x) { return std::acosh(x); }},
    {"aten::asin.out", [](double x) { return std::asin(x); }},
    {"aten::asinh.out", [](double x) { return std::asinh(x); }},
    {"aten::atan.out", [](double x) { return std::atan(x); }},
    {"aten::atanh.out", [](double x) { return std::atanh(x); }},
    {"aten::cos.out", [](double x) { return std::cos(x); }},
    {"aten::cosh.out", [](double x) { return std::cosh(x); }},
    {"aten::erf.out", [](double x) { return std::erf(x); }},
    {"aten::exp.out", [](double x) { return std::exp(x); }},
    {"aten::expm1.out", [](double x) { return std::expm1(x); }},
    {"aten::log.out", [](double x) { return std::log(x); }},
    {"aten::log10.out", [](double x) { return std::log10(x); }},
    {"aten::log1p.out", [](double x) { return std::log1p(x); }},
    {"aten::log2.out", [](double x) { return std::log2(x); }},
    {"aten::reciprocal.out", [](double x) { return 1 / x; }},
    {"aten::rsqrt.out", [](double x) { return 1 / std::sqrt(x); }},
    {"aten::sigmoid.out", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"aten::sin.out", [](double x) { return std::sin(x); }},
    {"aten::sinh.out", [](double x) { return std::sinh(x); }},
    {"aten::sqrt.out", [](double x) { return std::sqrt(x); }},
    {"aten::tan.out", [](double x) { return std::tan(x); }},
    {"aten::tanh.out", [](double x) { return std::tanh(x); }},
};

TEST_CASE("float functions agree with double arithmetic in every float dtype") {
  const Values exact_in_bfloat16 = {-3, -1, -0.5, 0, 0.25, 0.5, 0.875, 1, 2, 4.5, kInfinity, -kInfinity, kNaN};
  for (const FloatFunction& function : kFloatFunctions) {
    Values want;
    for (const double x : exact_in_bfloat16)
      want.push_back(function.exact(x));
    INFO(function.name);
    CHECK(close(unary(function.name, DType::kFloat64, exact_in_bfloat16, DType::kFloat64), want, 1e-14));
    CHECK(close(unary(function.name, DType::kFloat32, exact_in_bfloat16, DType::kFloat32), want, 1e-6));
    CHECK(close(unary(function.name, DType::kFloat16, exact_in_bfloat16, DType::kFloat16), want, 1e-3));
    CHECK(close(unary(function.name, DType::kBFloat16, exact_in_bfloat16, DType::kBFloat16), want, 8e-3));
  }
}

TEST_CASE("float functions take integers and bool as float32") {
  for (const FloatFunction& function : kFloatFunctions) {
    INFO(function.name);
    const Values want = {function.exact(1), function.exact(0)};
    CHECK(close(unary(function.name, DType::kInt32, {1, 0}, DType::kFloat32), want, 1e-6));
    CHECK(close(unary(function.name, DType::kBool, {1, 0}, DType::kFloat32), want, 1e-6));
  }
}

TEST_CASE("a float function cannot write to an integer output") {
  HostTensor x = make_tensor(DType::kInt32, {1}, {1});
  CHECK_FALSE(OperatorCall("aten::exp.out").tensor(x).tensor(x).run().has_value());
}

TEST_CASE("rounding goes to even and leaves integers alone") {
  const Values values = {0.5, 1.5, -2.5, 2.7, -2.7};
  CHECK(unary("aten::round.out", DType::kFloat32, values, DType::kFloat32) == Values{0, 2, -2, 3, -3});
  CHECK(unary("aten::ceil.out", DType::kFloat64, values, DType::kFloat64) == Values{1, 2, -2, 3, -2});
  CHECK(unary("aten::floor.out", DType::kFloat32, values, DType::kFloat32) == Values{0, 1, -3, 2, -3});
  CHECK(unary("aten::trunc.out", DType::kFloat16, {0.5, -1.5}, DType::kFloat16) == Values{0, -1});
  CHECK(unary("aten::floor.out", DType::kInt8, {3, -3}, DType::kInt8) == Values{3, -3});
}

TEST_CASE("abs and neg of the smallest integer wrap") {
  CHECK(unary("aten::abs.out", DType::kInt8, {-128, -5}, DType::kInt8) == Values{-128, 5});
  CHECK(unary("aten::neg.out", DType::kInt8, {-128, 5}, DType::kInt8) == Values{-128, -5});
  CHECK(unary("aten::abs.out", DType::kFloat32, {-0.5, -kInfinity}, DType::kFloat32) == Values{0.5, kInfinity});
}

TEST_CASE("sign of NaN is zero and relu keeps NaN") {
  CHECK(unary("aten::sign.out", DType::kFloat32, {kNaN, -2, 3}, DType::kFloat32) == Values{0, -1, 1});
  CHECK(unary("aten::sign.out", DType::kBool, {1, 0}, DType::kBool) == Values{1, 0});
  const Values relu = unary("aten::relu.out", DType::kFloat32, {kNaN, -2, 3}, DType::kFloat32);
  CHECK(std::isnan(relu[0]));
  CHECK(relu[1] == 0);
  CHECK(relu[2] == 3);
}

TEST_CASE("isnan and isinf give bool for every dtype") {
  const Values values = {kNaN, kInfinity, -kInfinity, 1};
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    CHECK(unary("aten::isnan.out", dtype, values, DType::kBool) == Values{1, 0, 0, 0});
    CHECK(unary("aten::isinf.out", dtype, values, DType::kBool) == Values{0, 1, 1, 0});
  }
  CHECK(unary("aten::isnan.out", DType::kInt32, {1}, DType::kBool) == Values{0});
}

TEST_CASE("operators that eager refuses for bool are errors") {
  HostTensor flags = make_tensor(DType::kBool, {1}, {1});
  for (const char* name : {"aten::abs.out", "aten::neg.out", "aten::relu.out", "aten::floor.out", "aten::round.out"}) {
    const auto result = OperatorCall(name).tensor(flags).tensor(flags).run();
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message.find("bool") != std::string::npos);
  }
}

TEST_CASE("logit rounds every step to float16 and bfloat16, as eager does") {
  // Both values are PyTorch's; in float32 they would be -0.0322 and -0.1330.
  HostTensor half = make_tensor(DType::kFloat16, {1}, {0.491943359375});
  HostTensor half_out = make_output(DType::kFloat16, {1});
  REQUIRE_RESULT(OperatorCall("aten::logit.out").tensor(half).none().tensor(half_out).run());
  CHECK(values_of(half_out) == std::vector<double>{-0.03173828125});
  HostTensor brain = make_tensor(DType::kBFloat16, {1}, {0.466796875});
  HostTensor brain_out = make_output(DType::kBFloat16, {1});
  REQUIRE_RESULT(OperatorCall("aten::logit.out").tensor(brain).number(0.1).tensor(brain_out).run());
  CHECK(values_of(brain_out) == std::vector<double>{-0.12890625});
}

TEST_CASE("logit clamps its input only where eps is given") {
  HostTensor x = make_tensor(DType::kFloat32, {4}, {1, 0, 2, 0.5});
  HostTensor out = make_output(DType::kFloat32, {4});
  REQUIRE_RESULT(OperatorCall("aten::logit.out").tensor(x).none().tensor(out).run());
  CHECK(close(values_of(out), {kInfinity, -kInfinity, kNaN, 0}, 1e-6));
  REQUIRE_RESULT(OperatorCall("aten::logit.out").tensor(x).number(0.1).tensor(out).run());
  CHECK(close(values_of(out), {std::log(9.0), -std::log(9.0), std::log(9.0), 0}, 1e-6));
}

}  // namespace
}  // namespace pterun::test
