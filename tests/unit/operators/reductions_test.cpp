// Sums, means, products, any and variances against sums in double over index groups, in several dim orders.
#include <cmath>
#include <limits>
#include <numeric>

#include <catch2/catch_all.hpp>

#include "reduction_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

namespace {

double sum_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}
double mean_of(const std::vector<double>& x) {
  return sum_of(x) / static_cast<double>(x.size());
}
double variance_of(const std::vector<double>& x, double correction) {
  const double mean = mean_of(x);
  double total = 0;
  for (const double value : x)
    total += (value - mean) * (value - mean);
  return total / std::max(0.0, static_cast<double>(x.size()) - correction);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("sum, mean and var agree with double in every layout") {
  for (const ReductionCase& c : reduction_cases()) {
    const std::vector<double> random = random_values(c.shape, -1, 3);
    for (const DimOrder& order : some_orders(c.shape.rank())) {
      for (const bool keepdim : {false, true}) {
        CAPTURE(c.shape.to_string(), c.dims, order.to_string(), keepdim);
        HostTensor input = make_tensor(DType::kFloat32, c.shape, order, random);
        const Shape shape = folded_shape(c.shape, c.dims, keepdim);
        const std::vector<double> values = values_of(input);
        for (const DimOrder& out_order : some_orders(shape.rank())) {
          HostTensor output = make_output(DType::kFloat32, shape, out_order);
          REQUIRE_RESULT(OperatorCall("aten::sum.IntList_out", 2)
                             .tensor(input)
                             .integers(dim_list(c.dims))
                             .boolean(keepdim)
                             .none()
                             .tensor(output)
                             .run());
          check_close(values_of(output), folded(c.shape, c.dims, values, sum_of), 1e-6);
          REQUIRE_RESULT(OperatorCall("aten::mean.out")
                             .tensor(input)
                             .integers(dim_list(c.dims))
                             .boolean(keepdim)
                             .none()
                             .tensor(output)
                             .run());
          check_close(values_of(output), folded(c.shape, c.dims, values, mean_of), 1e-6);
          REQUIRE_RESULT(OperatorCall("aten::var.correction_out")
                             .tensor(input)
                             .integers(dim_list(c.dims))
                             .number(0.5)
                             .boolean(keepdim)
                             .tensor(output)
                             .run());
          check_close(values_of(output),
                      folded(c.shape, c.dims, values, [](const auto& x) { return variance_of(x, 0.5); }), 1e-6);
        }
      }
    }
  }
}

TEST_CASE("None and empty lists of dimensions reduce everything") {
  HostTensor input = make_tensor(DType::kFloat64, {2, 2}, {1, 2, 3, 5});
  HostTensor output = make_output(DType::kFloat64, {});
  REQUIRE_RESULT(OperatorCall("aten::sum.IntList_out").tensor(input).none().boolean(false).none().tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{11});
  REQUIRE_RESULT(OperatorCall("aten::mean.out").tensor(input).integers({}).boolean(false).none().tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{2.75});
  REQUIRE_RESULT(OperatorCall("aten::mean.dtype_out").tensor(input).none().tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{2.75});
}

TEST_CASE("sums of integers and bool are int64 and wrap around") {
  HostTensor bools = make_tensor(DType::kBool, {5}, {1, 0, 1, 1, 0});
  HostTensor longs = make_int64({2}, {INT64_MAX, 1});
  HostTensor output = make_output(DType::kInt64, {});
  REQUIRE_RESULT(OperatorCall("aten::sum.IntList_out").tensor(bools).none().boolean(false).none().tensor(output).run());
  CHECK(int64_values_of(output) == std::vector<std::int64_t>{3});
  REQUIRE_RESULT(OperatorCall("aten::sum.IntList_out").tensor(longs).none().boolean(false).none().tensor(output).run());
  CHECK(int64_values_of(output) == std::vector<std::int64_t>{INT64_MIN});
}

TEST_CASE("a long float32 sum keeps float32's precision") {
  std::vector<double> values(100000, 0.1);
  HostTensor input = make_tensor(DType::kFloat32, {100000}, values);
  HostTensor output = make_output(DType::kFloat32, {});
  REQUIRE_RESULT(OperatorCall("aten::sum.IntList_out").tensor(input).none().boolean(false).none().tensor(output).run());
  check_close(values_of(output), {100000 * static_cast<double>(0.1f)}, 1e-7);
}

TEST_CASE("empty reductions give the neutral element, means of nothing NaN") {
  HostTensor input = make_tensor(DType::kFloat32, {0, 3}, {});
  HostTensor output = make_output(DType::kFloat32, {3});
  REQUIRE_RESULT(
      OperatorCall("aten::sum.IntList_out").tensor(input).integers({0}).boolean(false).none().tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{0, 0, 0});
  REQUIRE_RESULT(
      OperatorCall("aten::prod.int_out").tensor(input).integer(0).boolean(false).none().tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{1, 1, 1});
  REQUIRE_RESULT(OperatorCall("aten::mean.out").tensor(input).integers({0}).boolean(false).none().tensor(output).run());
  check_close(values_of(output), {kNan, kNan, kNan}, 0);
  REQUIRE_RESULT(
      OperatorCall("aten::var.correction_out").tensor(input).integers({0}).none().boolean(false).tensor(output).run());
  check_close(values_of(output), {kNan, kNan, kNan}, 0);
}

TEST_CASE("an empty dimension among several reduced ones is no division by zero") {
  HostTensor input = make_tensor(DType::kInt8, {1, 0, 3, 5}, {});
  HostTensor output = make_output(DType::kBool, {1, 1, 3, 1});
  REQUIRE_RESULT(OperatorCall("aten::any.dims_out").tensor(input).integers({1, 3}).boolean(true).tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{0, 0, 0});
}

TEST_CASE("products multiply in the result's dtype") {
  for (const ReductionCase& c : reduction_cases()) {
    if ((c.dims & (c.dims - 1)) != 0) continue;
    HostTensor input = make_tensor(DType::kFloat32, c.shape, random_values(c.shape, 0.9, 1.1));
    HostTensor output = make_output(DType::kFloat32, folded_shape(c.shape, c.dims, true));
    REQUIRE_RESULT(OperatorCall("aten::prod.int_out")
                       .tensor(input)
                       .integer(dim_list(c.dims)[0])
                       .boolean(true)
                       .none()
                       .tensor(output)
                       .run());
    check_close(values_of(output),
                folded(c.shape, c.dims, values_of(input),
                       [](const auto& x) { return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>()); }),
                2e-4);
  }
  HostTensor bytes = make_tensor(DType::kUInt8, {3}, {200, 3, 2});
  HostTensor longs = make_output(DType::kInt64, {});
  REQUIRE_RESULT(OperatorCall("aten::prod.out").tensor(bytes).none().tensor(longs).run());
  CHECK(int64_values_of(longs) == std::vector<std::int64_t>{1200});
}

TEST_CASE("a dtype argument converts before adding") {
  HostTensor input = make_tensor(DType::kFloat32, {3}, {1.9, 2.9, -0.5});
  HostTensor output = make_output(DType::kInt64, {});
  REQUIRE_RESULT(OperatorCall("aten::sum.IntList_out")
                     .tensor(input)
                     .none()
                     .boolean(false)
                     .dtype(DType::kInt64)
                     .tensor(output)
                     .run());
  CHECK(int64_values_of(output) == std::vector<std::int64_t>{3});
  HostTensor bytes = make_tensor(DType::kInt8, {2}, {1, 2});
  HostTensor mean = make_output(DType::kFloat32, {});
  REQUIRE_RESULT(OperatorCall("aten::mean.dtype_out").tensor(bytes).dtype(DType::kFloat32).tensor(mean).run());
  CHECK(values_of(mean) == std::vector<double>{1.5});
}

TEST_CASE("any finds non-zero elements and NaN, over one, several and all dimensions") {
  for (const DType dtype : {DType::kBool, DType::kFloat32, DType::kInt64, DType::kBFloat16, DType::kUInt8}) {
    for (const ReductionCase& c : reduction_cases()) {
      std::vector<double> values(static_cast<std::size_t>(c.shape.numel()), 0.0);
      for (std::size_t i = 3; i < values.size(); i += 11)
        values[i] = 1;
      const auto expected = folded(c.shape, c.dims, values, [](const auto& x) { return sum_of(x) > 0 ? 1.0 : 0.0; });
      for (const DimOrder& order : some_orders(c.shape.rank())) {
        CAPTURE(dtype_name(dtype), c.shape.to_string(), c.dims, order.to_string());
        HostTensor input = make_tensor(dtype, c.shape, order, values);
        HostTensor output = make_output(DType::kBool, folded_shape(c.shape, c.dims, false));
        REQUIRE_RESULT(OperatorCall("aten::any.dims_out")
                           .tensor(input)
                           .integers(dim_list(c.dims))
                           .boolean(false)
                           .tensor(output)
                           .run());
        CHECK(values_of(output) == expected);
      }
    }
  }
  HostTensor nan = make_tensor(DType::kFloat32, {2}, {0, kNan});
  HostTensor yes = make_output(DType::kBool, {});
  REQUIRE_RESULT(OperatorCall("aten::any.all_out").tensor(nan).tensor(yes).run());
  CHECK(values_of(yes) == std::vector<double>{1});
  HostTensor bytes = make_tensor(DType::kUInt8, {1, 2}, {3, 0});
  HostTensor byte = make_output(DType::kUInt8, {1});
  REQUIRE_RESULT(OperatorCall("aten::any.out").tensor(bytes).integer(-1).boolean(false).tensor(byte).run());
  CHECK(values_of(byte) == std::vector<double>{1});
  HostTensor unreduced = make_output(DType::kBool, {1, 2});
  REQUIRE_RESULT(OperatorCall("aten::any.dims_out").tensor(bytes).integers({}).boolean(false).tensor(unreduced).run());
  CHECK(values_of(unreduced) == std::vector<double>{1, 0});
}

TEST_CASE("variance is exact far from zero, and honours its correction") {
  HostTensor far = make_tensor(DType::kFloat64, {3}, {1e9, 1e9 + 1, 1e9 + 2});
  HostTensor var = make_output(DType::kFloat64, {});
  HostTensor mean = make_output(DType::kFloat64, {});
  REQUIRE_RESULT(OperatorCall("aten::var_mean.correction_out")
                     .tensor(far)
                     .none()
                     .none()
                     .boolean(false)
                     .tensor(var)
                     .tensor(mean)
                     .run());
  CHECK(values_of(var) == std::vector<double>{1});
  CHECK(values_of(mean) == std::vector<double>{1e9 + 1});
  REQUIRE_RESULT(OperatorCall("aten::var.out").tensor(far).none().boolean(false).boolean(false).tensor(var).run());
  check_close(values_of(var), {2.0 / 3}, 1e-12);
  HostTensor one = make_tensor(DType::kFloat64, {1}, {5});
  REQUIRE_RESULT(OperatorCall("aten::var.out").tensor(one).none().boolean(true).boolean(false).tensor(var).run());
  check_close(values_of(var), {kNan}, 0);
  REQUIRE_RESULT(
      OperatorCall("aten::var.correction_out").tensor(far).none().integer(5).boolean(false).tensor(var).run());
  check_close(values_of(var), {kInf}, 0);
}

TEST_CASE("reductions name dimensions and dtypes that do not fit") {
  HostTensor input = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor output = make_output(DType::kFloat32, {2});
  OperatorCall outside("aten::sum.IntList_out");
  outside.tensor(input).integers({2}).boolean(false).none().tensor(output);
  CHECK(error_of(outside) == "aten::sum.IntList_out: dimension 2 is outside [-2, 1]");
  OperatorCall twice("aten::mean.out");
  twice.tensor(input).integers({0, -2}).boolean(false).none().tensor(output);
  CHECK_THAT(error_of(twice), ContainsSubstring("dimension 0 is given twice"));
  HostTensor longs = make_output(DType::kInt64, {});
  const auto mean = OperatorCall("aten::mean.dtype_out").tensor(longs).dtype(DType::kInt64).tensor(longs).run();
  REQUIRE_FALSE(mean);
  CHECK_THAT(mean.error().message, ContainsSubstring("a mean needs a floating dtype, not int64"));
  const auto var = OperatorCall("aten::var.out").tensor(longs).none().boolean(true).boolean(false).tensor(output).run();
  REQUIRE_FALSE(var);
  CHECK(var.error().code == ErrorCode::kInvalidType);
}

TEST_CASE("floats that are summed as integers are converted before they are added") {
  HostTensor x = make_tensor(DType::kFloat32, {3}, {4.5, -3.25, -std::numeric_limits<double>::infinity()});
  HostTensor out = make_output(DType::kInt32, {});
  OperatorCall sum("aten::sum.IntList_out");
  sum.tensor(x).none().boolean(false).dtype(DType::kInt32).tensor(out);
  REQUIRE_RESULT(sum.run());
  CHECK(values_of(out) == std::vector<double>{-2147483647});
  HostTensor running = make_output(DType::kInt32, {3});
  REQUIRE_RESULT(OperatorCall("aten::cumsum.out").tensor(x).integer(0).dtype(DType::kInt32).tensor(running).run());
  CHECK(values_of(running) == std::vector<double>{4, 1, -2147483647});
}

TEST_CASE("products of float16 overflow on the way, as in eager, unless float32 is asked for") {
  HostTensor x = make_tensor(DType::kFloat16, {3}, {300, 300, 0.0010004043579101562});
  HostTensor half = make_output(DType::kFloat16, {});
  HostTensor wide = make_output(DType::kFloat32, {});
  REQUIRE_RESULT(OperatorCall("aten::prod.out").tensor(x).none().tensor(half).run());
  CHECK(values_of(half) == std::vector<double>{std::numeric_limits<double>::infinity()});
  REQUIRE_RESULT(OperatorCall("aten::prod.out").tensor(x).dtype(DType::kFloat32).tensor(wide).run());
  CHECK(std::abs(values_of(wide)[0] - 90.0364) < 1e-3);
}

TEST_CASE("the mean beside a variance is NaN when an infinity is not the last value") {
  HostTensor var = make_output(DType::kFloat32, {});
  HostTensor mean = make_output(DType::kFloat32, {});
  const auto mean_with = [&](const std::vector<double>& values) {
    HostTensor x = make_tensor(DType::kFloat32, {3}, values);
    OperatorCall call("aten::var_mean.correction_out");
    REQUIRE_RESULT(call.tensor(x).none().none().boolean(false).tensor(var).tensor(mean).run());
    return values_of(mean)[0];
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(mean_with({1, kInfinity, 2})));
  CHECK(mean_with({1, 2, kInfinity}) == kInfinity);
}
