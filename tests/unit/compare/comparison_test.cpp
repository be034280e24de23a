// Metrics, tolerances and verdicts of the comparison.
#include "compare/comparison.h"

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "compare/element_reader.h"

namespace pterun::compare {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
Tensor tensor_of(std::vector<T>& values) {
  return Tensor(kDTypeOf<T>, Shape{static_cast<std::int64_t>(values.size())}, values.data());
}

Comparison compare_floats(std::vector<float> got, std::vector<float> want,
                          const Tolerance& tolerance = {1e-4, 1e-4, {}}) {
  return compare_tensors(tensor_of(got), tensor_of(want), tolerance);
}

TEST_CASE("equal tensors pass with zero error") {
  const Comparison c = compare_floats({1, -2, 0}, {1, -2, 0});
  CHECK(c.pass);
  CHECK(c.reason.empty());
  CHECK(c.metrics.max_abs == 0);
  CHECK(c.metrics.cosine == Catch::Approx(1.0));
  CHECK(c.metrics.snr_db == std::numeric_limits<double>::infinity());
  CHECK(c.metrics.max_ulp == 0.0);
  CHECK(c.worst.empty());
}

TEST_CASE("metrics follow their definitions") {
  const Comparison c = compare_floats({1.5f, 2, -4}, {1, 2, -5});
  CHECK(c.metrics.max_abs == 1.0);
  CHECK(c.metrics.mean_abs == Catch::Approx(0.5));
  CHECK(c.metrics.max_rel == Catch::Approx(0.5));
  CHECK(c.metrics.rmse == Catch::Approx(std::sqrt(1.25 / 3)));
  CHECK(c.metrics.cosine == Catch::Approx((1.5 + 4 + 20) / (std::sqrt(2.25 + 4 + 16) * std::sqrt(30.0))));
  CHECK(c.metrics.snr_db == Catch::Approx(10 * std::log10(30 / 1.25)));
  CHECK(c.metrics.mismatches == 2);
  REQUIRE(c.worst.size() == 2);
  CHECK(c.worst[0].index == Shape{2});
  CHECK(c.worst[0].want == -5);
}

TEST_CASE("an element passes up to atol + rtol * |want| and not beyond") {
  CHECK(compare_floats({10.75f}, {10}, {0.25, 0.05, {}}).pass);
  CHECK_FALSE(compare_floats({10.75f}, {10}, {0.25, 0.0499, {}}).pass);
}

TEST_CASE("NaN equals NaN and nothing else") {
  CHECK(compare_floats({kNan, 1}, {kNan, 1}).pass);
  const Comparison c = compare_floats({kNan, 1}, {1, 1});
  CHECK_FALSE(c.pass);
  CHECK(c.metrics.nan_got == 1);
  CHECK(c.metrics.nan_want == 0);
  CHECK(c.reason.find("1 in the output, 0 in the reference") != std::string::npos);
  CHECK_FALSE(compare_floats({0, 1}, {kNan, 1}).pass);
}

TEST_CASE("infinities must agree in sign") {
  CHECK(compare_floats({kInf, -kInf}, {kInf, -kInf}).pass);
  CHECK_FALSE(compare_floats({kInf}, {-kInf}).pass);
  CHECK_FALSE(compare_floats({kInf}, {3e38f}).pass);
}

TEST_CASE("a metric bound cannot hide NaN at the wrong place") {
  const Tolerance loose{0, 0, {{"max_abs", true, 1e30}}};
  CHECK_FALSE(compare_floats({kNan, 1}, {1, 1}, loose).pass);
}

TEST_CASE("bounds on metrics replace the element test") {
  const Tolerance bounds{0, 0, {{"cosine", false, 0.99}, {"max_abs", true, 0.2}}};
  CHECK(compare_floats({1.1f, 2}, {1, 2}, bounds).pass);
  const Comparison c = compare_floats({1.3f, 2}, {1, 2}, bounds);
  CHECK_FALSE(c.pass);
  CHECK(c.reason.starts_with("max_abs is 0.29"));
}

TEST_CASE("64-bit integers are compared exactly beyond double precision") {
  std::vector<std::int64_t> got = {(std::int64_t{1} << 60) + 1};
  std::vector<std::int64_t> want = {std::int64_t{1} << 60};
  const Comparison c = compare_tensors(tensor_of(got), tensor_of(want), default_tolerance(DType::kInt64));
  CHECK_FALSE(c.pass);
  CHECK(c.metrics.max_abs == 1);
}

TEST_CASE("ULP distance counts representable values, across zero too") {
  std::vector<float> got = {std::nextafter(1.0f, 2.0f), std::numeric_limits<float>::denorm_min()};
  std::vector<float> want = {1.0f, -std::numeric_limits<float>::denorm_min()};
  CHECK(compare_tensors(tensor_of(got), tensor_of(want), {1, 0, {}}).metrics.max_ulp == 2.0);
  std::vector<Half> half_got = {Half::from_bits(0x3C01)};
  std::vector<Half> half_want = {Half(1.0f)};
  CHECK(compare_tensors(tensor_of(half_got), tensor_of(half_want), {1, 0, {}}).metrics.max_ulp == 1.0);
}

TEST_CASE("argmax agreement is counted per row of the last dimension") {
  std::vector<float> got = {1, 2, 3, 0};
  std::vector<float> want = {1, 2, 0, 3};
  const Comparison c = compare_tensors(Tensor(DType::kFloat32, Shape{2, 2}, got.data()),
                                       Tensor(DType::kFloat32, Shape{2, 2}, want.data()), {});
  CHECK(c.metrics.argmax_agree == 0.5);
}

TEST_CASE("tensors in different dim orders are compared element by element") {
  std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  std::vector<float> columns = {1, 4, 2, 5, 3, 6};
  const Tensor got(DType::kFloat32, Shape{2, 3}, rows.data());
  const Tensor want(DType::kFloat32, Shape{2, 3}, *DimOrder::from(std::vector<std::uint8_t>{1, 0}), columns.data());
  CHECK(compare_tensors(got, want, {}).pass);
}

TEST_CASE("empty tensors pass and have defined metrics") {
  const Comparison c = compare_floats({}, {});
  CHECK(c.pass);
  CHECK(c.metrics.mismatch_fraction == 0);
  CHECK(c.metrics.cosine == 1);
}

TEST_CASE("one bad element of a thousand is found with its index") {
  std::vector<float> want(1000, 1.0f);
  std::vector<float> got = want;
  got[437] = 2.0f;
  const Comparison c = compare_tensors(tensor_of(got), tensor_of(want), {1e-4, 1e-4, {}});
  CHECK(c.metrics.mismatches == 1);
  CHECK(c.metrics.mismatch_fraction == Catch::Approx(0.001));
  CHECK(c.worst.at(0).index == Shape{437});
}

TEST_CASE("shapes and dtypes must be equal, and the error names both") {
  std::vector<float> values(6);
  const Tensor a(DType::kFloat32, Shape{2, 3}, values.data());
  const Tensor b(DType::kFloat32, Shape{3, 2}, values.data());
  const Tensor c(DType::kInt32, Shape{2, 3}, values.data());
  CHECK(check_comparable("0", a, a));
  const auto shape_error = check_comparable("0", a, b);
  REQUIRE_FALSE(shape_error);
  CHECK(shape_error.error().code == ErrorCode::kReference);
  CHECK(shape_error.error().message == "output 0: the program gives float32[2, 3], the reference holds float32[3, 2]");
  CHECK_FALSE(check_comparable("0", a, c));
}

TEST_CASE("default tolerances are those of the contract") {
  CHECK(default_tolerance(DType::kFloat64).atol == 1e-7);
  CHECK(default_tolerance(DType::kFloat32).rtol == 1e-4);
  CHECK(default_tolerance(DType::kFloat16).atol == 1e-2);
  CHECK(default_tolerance(DType::kBFloat16).rtol == 2e-2);
  CHECK(default_tolerance(DType::kInt8).atol == 0);
  CHECK(default_tolerance(DType::kBool).rtol == 0);
}

TEST_CASE("bounds are parsed, and what is no bound is refused by name") {
  const auto bounds = parse_bounds("cosine>=0.999, max_abs<=1e-3");
  REQUIRE(bounds);
  REQUIRE(bounds->size() == 2);
  CHECK((*bounds)[0].to_string() == "cosine>=0.999");
  CHECK((*bounds)[1].at_most);
  const std::string text = GENERATE("cosin>=1", "max_abs<1", "max_abs<=", "max_abs<=x", "max_abs", "<=1", "rmse<=1x");
  const auto wrong = parse_bounds(text);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::kUsage);
  CHECK(wrong.error().message.find("'" + text + "'") != std::string::npos);
}

TEST_CASE("8-bit floats are read by their formats") {
  const auto read = [](DType dtype, std::uint8_t bits) { return ElementReader(Tensor(dtype, Shape{1}, &bits)).at(0); };
  CHECK(read(DType::kFloat8E5M2, 0x3C) == 1.0);
  CHECK(read(DType::kFloat8E5M2, 0x7C) == std::numeric_limits<double>::infinity());
  CHECK(read(DType::kFloat8E4M3FN, 0x38) == 1.0);
  CHECK(read(DType::kFloat8E4M3FN, 0x7E) == 448.0);
  CHECK(std::isnan(read(DType::kFloat8E4M3FN, 0x7F)));
  CHECK(read(DType::kFloat8E4M3FNUZ, 0x40) == 1.0);
  CHECK(std::isnan(read(DType::kFloat8E5M2FNUZ, 0x80)));
}

}  // namespace
}  // namespace pterun::compare
