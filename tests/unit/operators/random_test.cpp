#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

double mean(const Values& values) {
  double sum = 0.0;
  for (const double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

TEST_CASE("rand fills with uniform numbers below 1, also when they are rounded") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64}) {
    HostTensor out = make_output(dtype, {100, 100});
    OperatorCall call("aten::rand.out");
    call.integers({100, 100}).tensor(out);
    REQUIRE_RESULT(call.run());
    const Values first = values_of(out);
    const auto [low, high] = std::minmax_element(first.begin(), first.end());
    CHECK(*low >= 0.0);
    CHECK(*high < 1.0);
    CHECK(std::abs(mean(first) - 0.5) < 0.02);
    REQUIRE_RESULT(call.run());
    CHECK(values_of(out) != first);
  }
}

TEST_CASE("randn fills with normal numbers") {
  HostTensor out = make_output(DType::kFloat32, {10000});
  REQUIRE_RESULT(OperatorCall("aten::randn.out").integers({10000}).tensor(out).run());
  Values squares = values_of(out);
  CHECK(std::abs(mean(squares)) < 0.04);
  for (double& value : squares)
    value *= value;
  CHECK(std::abs(mean(squares) - 1.0) < 0.06);
}

TEST_CASE("native_dropout drops and scales while training, and copies otherwise") {
  HostTensor x = make_tensor(DType::kFloat32, {1000}, Values(1000, 3.0));
  HostTensor out = make_output(DType::kFloat32, {1000});
  HostTensor mask = make_output(DType::kBool, {1000});
  REQUIRE_RESULT(
      OperatorCall("aten::native_dropout.out").tensor(x).number(0.25).boolean(true).tensor(out).tensor(mask).run());
  const Values kept = values_of(mask);
  Values want(1000);
  for (std::size_t i = 0; i < 1000; ++i)
    want[i] = kept[i] != 0.0 ? 4.0 : 0.0;
  CHECK(values_of(out) == want);
  CHECK(std::abs(mean(values_of(mask)) - 0.75) < 0.06);
  REQUIRE_RESULT(
      OperatorCall("aten::native_dropout.out").tensor(x).number(0.25).boolean(false).tensor(out).tensor(mask).run());
  CHECK(values_of(out) == Values(1000, 3.0));
  CHECK(values_of(mask) == Values(1000, 1.0));
  REQUIRE_RESULT(OperatorCall("aten::native_dropout.out").tensor(x).number(1.0).none().tensor(out).tensor(mask).run());
  CHECK(values_of(out) == Values(1000, 0.0));
  CHECK(values_of(mask) == Values(1000, 0.0));
}

TEST_CASE("native_dropout refuses probabilities outside 0 and 1") {
  HostTensor x = make_tensor(DType::kFloat32, {1}, {3.0});
  HostTensor out = make_output(DType::kFloat32, {1});
  HostTensor mask = make_output(DType::kBool, {1});
  const auto result =
      OperatorCall("aten::native_dropout.out").tensor(x).number(1.5).boolean(true).tensor(out).tensor(mask).run();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("is not between 0 and 1") != std::string::npos);
}

}  // namespace
}  // namespace pterun::test
