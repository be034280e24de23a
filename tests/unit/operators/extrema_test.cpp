// Extremes and their indices against a scan, in several dim orders, with NaN, infinities and ties.
#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch_all.hpp>

#include "reduction_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Index of the extreme: the first NaN, else the first of the largest (smallest).
double index_of_extreme(const std::vector<double>& x, bool largest) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (std::isnan(x[best])) break;
    if (std::isnan(x[i]) || (largest ? x[i] > x[best] : x[i] < x[best])) best = i;
  }
  return static_cast<double>(best);
}
double extreme(const std::vector<double>& x, bool largest) {
  return x[static_cast<std::size_t>(index_of_extreme(x, largest))];
}

// Few distinct values, so that there are ties, and some NaN and infinities for floats.
std::vector<double> tied_values(const Shape& shape, bool floating) {
  std::vector<double> values = random_values(shape, -20, 20);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::floor(values[i]);
    if (!floating) continue;
    if (i % 97 == 50) values[i] = kNan;
    if (i % 41 == 7) values[i] = kInf;
    if (i % 43 == 9) values[i] = -kInf;
  }
  return values;
}

}  // namespace

TEST_CASE("amax and amin agree with a scan") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kFloat64, DType::kInt8, DType::kInt64}) {
    for (const ReductionCase& c : reduction_cases()) {
      const std::vector<double> values = tied_values(c.shape, is_floating(dtype));
      for (const DimOrder& order : some_orders(c.shape.rank())) {
        for (const bool largest : {true, false}) {
          CAPTURE(dtype_name(dtype), c.shape.to_string(), c.dims, order.to_string(), largest);
          HostTensor input = make_tensor(dtype, c.shape, order, values);
          HostTensor output = make_output(dtype, folded_shape(c.shape, c.dims, false));
          REQUIRE_RESULT(OperatorCall(largest ? "aten::amax.out" : "aten::amin.out", 2)
                             .tensor(input)
                             .integers(dim_list(c.dims))
                             .boolean(false)
                             .tensor(output)
                             .run());
          check_close(values_of(output),
                      folded(c.shape, c.dims, values, [&](const auto& x) { return extreme(x, largest); }), 0);
        }
      }
    }
  }
}

TEST_CASE("max.dim, min.dim, argmax and argmin find the first extreme") {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat64, DType::kInt16}) {
    for (const ReductionCase& c : reduction_cases()) {
      if ((c.dims & (c.dims - 1)) != 0) continue;
      const std::vector<double> values = tied_values(c.shape, is_floating(dtype));
      const std::int64_t dim = dim_list(c.dims)[0];
      for (const DimOrder& order : some_orders(c.shape.rank())) {
        for (const bool largest : {true, false}) {
          CAPTURE(dtype_name(dtype), c.shape.to_string(), dim, order.to_string(), largest);
          HostTensor input = make_tensor(dtype, c.shape, order, values);
          const Shape shape = folded_shape(c.shape, c.dims, true);
          const auto expected =
              folded(c.shape, c.dims, values, [&](const auto& x) { return index_of_extreme(x, largest); });
          for (const DimOrder& out_order : some_orders(shape.rank())) {
            HostTensor best = make_output(dtype, shape, out_order);
            HostTensor index = make_output(DType::kInt64, shape, out_order);
            REQUIRE_RESULT(OperatorCall(largest ? "aten::max.dim_max" : "aten::min.dim_min", 2)
                               .tensor(input)
                               .integer(dim)
                               .boolean(true)
                               .tensor(best)
                               .tensor(index)
                               .run());
            CHECK(values_of(index) == expected);
            check_close(values_of(best),
                        folded(c.shape, c.dims, values, [&](const auto& x) { return extreme(x, largest); }), 0);
            REQUIRE_RESULT(OperatorCall(largest ? "aten::argmax.out" : "aten::argmin.out")
                               .tensor(input)
                               .integer(dim)
                               .boolean(true)
                               .tensor(index)
                               .run());
            CHECK(values_of(index) == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("argmax without a dimension counts in row-major order in every layout") {
  for (const DimOrder& order : some_orders(3)) {
    HostTensor input = make_tensor(DType::kInt32, {2, 3, 4}, order, counting({2, 3, 4}));
    HostTensor index = make_output(DType::kInt64, {});
    REQUIRE_RESULT(OperatorCall("aten::argmax.out").tensor(input).none().boolean(false).tensor(index).run());
    CHECK(values_of(index) == std::vector<double>{23});
  }
}

TEST_CASE("extremes of numbers and of -inf alone") {
  HostTensor number = make_tensor(DType::kFloat32, {}, {-kInf});
  HostTensor output = make_output(DType::kFloat32, {});
  HostTensor index = make_output(DType::kInt64, {});
  REQUIRE_RESULT(OperatorCall("aten::max.unary_out").tensor(number).tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{-kInf});
  REQUIRE_RESULT(OperatorCall("aten::amax.out").tensor(number).integers({0}).boolean(true).tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{-kInf});
  REQUIRE_RESULT(
      OperatorCall("aten::max.dim_max").tensor(number).integer(-1).boolean(false).tensor(output).tensor(index).run());
  CHECK(values_of(index) == std::vector<double>{0});
}

TEST_CASE("an extreme of nothing is an error, of no rows an empty result") {
  HostTensor input = make_tensor(DType::kFloat32, {0, 3}, {});
  HostTensor three = make_output(DType::kFloat32, {3});
  HostTensor none = make_output(DType::kFloat32, {0});
  HostTensor index = make_output(DType::kInt64, {3});
  HostTensor no_index = make_output(DType::kInt64, {0});
  OperatorCall amax("aten::amax.out");
  amax.tensor(input).integers({0}).boolean(false).tensor(three);
  CHECK_THAT(error_of(amax), ContainsSubstring("nothing to choose from in float32[0, 3]"));
  OperatorCall argmax("aten::argmax.out");
  argmax.tensor(input).integer(0).boolean(false).tensor(index);
  CHECK_THAT(error_of(argmax), ContainsSubstring("nothing to choose from"));
  REQUIRE_RESULT(OperatorCall("aten::amax.out").tensor(input).integers({1}).boolean(false).tensor(none).run());
  REQUIRE_RESULT(OperatorCall("aten::argmax.out").tensor(input).integer(1).boolean(false).tensor(no_index).run());
}

TEST_CASE("indices have to be int64") {
  HostTensor input = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor index = make_output(DType::kInt32, {});
  OperatorCall call("aten::argmax.out");
  call.tensor(input).integer(0).boolean(false).tensor(index);
  CHECK_THAT(error_of(call), ContainsSubstring("indices have to be int64, not int32"));
}
