// cdist, pdist and allclose against plain sums in double.
#include <cmath>
#include <limits>

#include <catch2/catch_all.hpp>

#include "reduction_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

namespace {

double norm(const std::vector<double>& a, const std::vector<double>& b, std::int64_t row_a, std::int64_t row_b,
            std::int64_t width, double p) {
  double total = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    const double x =
        std::abs(a[static_cast<std::size_t>(row_a * width + i)] - b[static_cast<std::size_t>(row_b * width + i)]);
    if (p == 0)
      total += x != 0;
    else if (std::isinf(p))
      total = std::max(total, x);
    else
      total += std::pow(x, p);
  }
  return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
}

const std::vector<double> kNorms = {0, 1, 2, 3.5, std::numeric_limits<double>::infinity()};

}  // namespace

TEST_CASE("cdist gives the distance of every pair of rows, batches broadcast") {
  for (const double p : kNorms) {
    for (const DimOrder& order : some_orders(3)) {
      CAPTURE(p, order.to_string());
      HostTensor first = make_tensor(DType::kFloat32, {2, 3, 11}, order, random_values({2, 3, 11}, -2, 2));
      HostTensor second = make_tensor(DType::kFloat32, {4, 11}, random_values({4, 11}, -2, 2, 9));
      HostTensor output = make_output(DType::kFloat32, {2, 3, 4});
      REQUIRE_RESULT(
          OperatorCall("aten::_cdist_forward.out").tensor(first).tensor(second).number(p).none().tensor(output).run());
      std::vector<double> want;
      for (std::int64_t n = 0; n < 24; ++n)
        want.push_back(norm(values_of(first), values_of(second), n / 4, n % 4, 11, p));
      check_close(values_of(output), want, 1e-6);
    }
  }
}

TEST_CASE("pdist gives the distances of all pairs in order") {
  for (const double p : kNorms) {
    CAPTURE(p);
    HostTensor rows = make_tensor(DType::kFloat64, {5, 3}, random_values({5, 3}, -2, 2));
    HostTensor output = make_output(DType::kFloat64, {10});
    REQUIRE_RESULT(OperatorCall("aten::_pdist_forward.out").tensor(rows).number(p).tensor(output).run());
    std::vector<double> want;
    for (std::int64_t i = 0; i < 5; ++i) {
      for (std::int64_t j = i + 1; j < 5; ++j)
        want.push_back(norm(values_of(rows), values_of(rows), i, j, 3, p));
    }
    check_close(values_of(output), want, 1e-12);
  }
  HostTensor one = make_tensor(DType::kFloat32, {1, 3}, {1, 2, 3});
  HostTensor none = make_output(DType::kFloat32, {0});
  REQUIRE_RESULT(OperatorCall("aten::_pdist_forward.out").tensor(one).number(2).tensor(none).run());
}

TEST_CASE("rows without elements have distance zero") {
  HostTensor first = make_tensor(DType::kFloat32, {2, 0}, {});
  HostTensor output = make_output(DType::kFloat32, {2, 2});
  REQUIRE_RESULT(
      OperatorCall("aten::_cdist_forward.out").tensor(first).tensor(first).number(2).none().tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("distances refuse rows of other widths and negative norms") {
  HostTensor first = make_tensor(DType::kFloat32, {1, 2}, {1, 2});
  HostTensor second = make_tensor(DType::kFloat32, {1, 3}, {1, 2, 3});
  HostTensor output = make_output(DType::kFloat32, {1, 1});
  OperatorCall width("aten::_cdist_forward.out");
  width.tensor(first).tensor(second).number(2).none().tensor(output);
  CHECK_THAT(error_of(width), ContainsSubstring("hold no rows of one width"));
  OperatorCall p("aten::_cdist_forward.out");
  p.tensor(first).tensor(first).number(-1).none().tensor(output);
  CHECK_THAT(error_of(p), ContainsSubstring("a norm of p = -1"));
}

TEST_CASE("allclose judges by absolute and relative tolerance") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto close = [](const std::vector<double>& a, const std::vector<double>& b, bool equal_nan) {
    const Shape shape = {static_cast<std::int64_t>(a.size())};
    HostTensor first = make_tensor(DType::kFloat32, shape, a);
    HostTensor second = make_tensor(DType::kFloat32, shape, b);
    HostTensor output = make_output(DType::kBool, {});
    REQUIRE_RESULT(OperatorCall("aten::allclose.out")
                       .tensor(first)
                       .tensor(second)
                       .number(0.1)
                       .number(0.5)
                       .boolean(equal_nan)
                       .boolean(false)
                       .tensor(output)
                       .run());
    return values_of(output)[0] == 1;
  };
  CHECK(close({10, inf}, {11.5, inf}, false));
  CHECK_FALSE(close({10}, {12}, false));
  CHECK_FALSE(close({inf}, {-inf}, false));
  CHECK_FALSE(close({1}, {inf}, false));
  CHECK_FALSE(close({nan}, {nan}, false));
  CHECK(close({nan}, {nan}, true));
}
