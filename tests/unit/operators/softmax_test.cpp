#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 1e-13;
    case DType::kFloat32: return 2e-6;
    case DType::kFloat16: return 2e-3;
    default: return 2e-2;
  }
}

Values softmax(const Values& x, std::size_t outer, std::size_t size, std::size_t inner, bool log) {
  Values out(x.size());
  for (std::size_t o = 0; o < outer; ++o) {
    for (std::size_t i = 0; i < inner; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < size; ++k)
        sum += std::exp(x[(o * size + k) * inner + i]);
      for (std::size_t k = 0; k < size; ++k) {
        const std::size_t at = (o * size + k) * inner + i;
        out[at] = log ? x[at] - std::log(sum) : std::exp(x[at]) / sum;
      }
    }
  }
  return out;
}

TEST_CASE("softmax and log_softmax work along any dimension") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    HostTensor x = make_tensor(dtype, {3, 21, 37}, random_values(3 * 21 * 37, 1, -8.0, 8.0));
    HostTensor out = make_output(dtype, {3, 21, 37});
    const std::size_t splits[3][3] = {{1, 3, 777}, {3, 21, 37}, {63, 37, 1}};
    for (std::int64_t dim = 0; dim < 3; ++dim) {
      const auto& [outer, size, inner] = splits[dim];
      for (const bool log : {false, true}) {
        const char* name = log ? "aten::_log_softmax.out" : "aten::_softmax.out";
        REQUIRE_RESULT(OperatorCall(name, 2).tensor(x).integer(dim - 3).boolean(false).tensor(out).run());
        CAPTURE(dtype_name(dtype), dim, log);
        const double slack = tolerance(dtype);
        CHECK(largest_excess(values_of(out), softmax(values_of(x), outer, size, inner, log), slack, slack) <= 0);
      }
    }
  }
}

TEST_CASE("softmax of large values does not overflow, and treats NaN and infinities as eager") {
  HostTensor x =
      make_tensor(DType::kFloat32, {5, 2}, {1e30, 1e30, kNan, 1, kInfinity, 1, -kInfinity, -kInfinity, -kInfinity, 1});
  HostTensor out = make_output(DType::kFloat32, {5, 2});
  REQUIRE_RESULT(OperatorCall("aten::_softmax.out").tensor(x).integer(1).boolean(false).tensor(out).run());
  CHECK(largest_excess(values_of(out), {0.5, 0.5, kNan, kNan, kNan, kNan, kNan, kNan, 0, 1}, 0, 0) <= 0);
  REQUIRE_RESULT(OperatorCall("aten::_log_softmax.out").tensor(x).integer(1).boolean(false).tensor(out).run());
  const Values got = values_of(out);
  CHECK(largest_excess({got.begin() + 2, got.end()}, {kNan, kNan, kNan, kNan, kNan, kNan, -kInfinity, 0}, 0, 0) <= 0);
}

TEST_CASE("softmax of a number is 1 and of an empty tensor empty") {
  HostTensor x = make_tensor(DType::kFloat32, {}, {3});
  HostTensor out = make_output(DType::kFloat32, {});
  REQUIRE_RESULT(OperatorCall("aten::_softmax.out").tensor(x).integer(0).boolean(false).tensor(out).run());
  CHECK(values_of(out) == Values{1});
  HostTensor empty = make_tensor(DType::kFloat32, {2, 0}, {});
  HostTensor none = make_output(DType::kFloat32, {2, 0});
  REQUIRE_RESULT(OperatorCall("aten::_softmax.out").tensor(empty).integer(1).boolean(false).tensor(none).run());
}

TEST_CASE("softmax keeps channels-last layouts apart from its dimension") {
  const Values values = random_values(2 * 4 * 3 * 5, 3);
  HostTensor x = make_tensor(DType::kFloat32, {2, 4, 3, 5}, DimOrder::channels_last(), values);
  HostTensor out = make_output(DType::kFloat32, {2, 4, 3, 5}, DimOrder::channels_last());
  REQUIRE_RESULT(OperatorCall("aten::_softmax.out").tensor(x).integer(1).boolean(false).tensor(out).run());
  CHECK(largest_excess(values_of(out), softmax(values, 2, 4, 15, false), 1e-6, 1e-6) <= 0);
}

TEST_CASE("softmax refuses integers and dimensions that do not exist") {
  HostTensor x = make_tensor(DType::kInt32, {2}, {1, 2});
  HostTensor out = make_output(DType::kInt32, {2});
  const auto dtype = OperatorCall("aten::_softmax.out").tensor(x).integer(0).boolean(false).tensor(out).run();
  REQUIRE_FALSE(dtype.has_value());
  CHECK(dtype.error().message.find("aten::_softmax.out: input is int32[2]") == 0);
  HostTensor real = make_tensor(DType::kFloat32, {2}, {1, 2});
  HostTensor real_out = make_output(DType::kFloat32, {2});
  const auto dim = OperatorCall("aten::_softmax.out").tensor(real).integer(1).boolean(false).tensor(real_out).run();
  REQUIRE_FALSE(dim.has_value());
  CHECK(dim.error().message.find("dimension 1 is outside [-1, 0]") != std::string::npos);
}

TEST_CASE("glu multiplies one half by the sigmoid of the other") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    const Values x = random_values(2 * 6 * 3, 4);
    HostTensor input = make_tensor(dtype, {2, 6, 3}, x);
    HostTensor out = make_output(dtype, {2, 3, 3});
    REQUIRE_RESULT(OperatorCall("aten::glu.out").tensor(input).integer(-2).tensor(out).run());
    Values want(18);
    for (std::size_t i = 0; i < 18; ++i) {
      const std::size_t at = i / 9 * 18 + i % 9;
      want[i] = x[at] / (1.0 + std::exp(-x[at + 9]));
    }
    CHECK(largest_excess(values_of(out), want, tolerance(dtype), tolerance(dtype)) <= 0);
  }
  HostTensor odd = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor out = make_output(DType::kFloat32, {1});
  const auto result = OperatorCall("aten::glu.out").tensor(odd).integer(0).tensor(out).run();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message == "aten::glu.out: input float32[3] cannot be halved along dimension 0");
}

}  // namespace
}  // namespace pterun::test
