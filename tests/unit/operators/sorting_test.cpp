// Sorts, topk, buckets and running sums against std::stable_sort and plain loops, in several dim orders.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <catch2/catch_all.hpp>

#include "reduction_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Stable order of one line: NaN above everything.
std::vector<std::size_t> stable_order(const std::vector<double>& x, bool descending) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto less = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return descending ? less(x[b], x[a]) : less(x[a], x[b]); });
  return order;
}

// The line of `values` along `dim` through an index.
std::vector<double> line_of(const Shape& shape, const std::vector<double>& values, Index index, std::size_t dim) {
  std::vector<double> line;
  for (index[dim] = 0; index[dim] < shape[dim]; ++index[dim])
    line.push_back(values[static_cast<std::size_t>(position_of(shape, index))]);
  return line;
}

std::vector<double> test_values(const Shape& shape, bool floating) {
  std::vector<double> values = random_values(shape, -60, 60);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!floating || i % 3 == 0) values[i] = std::floor(values[i] / 4);
    if (!floating) continue;
    if (i % 17 == 3) values[i] = kNan;
    if (i % 19 == 4) values[i] = -kInf;
    if (i % 23 == 5) values[i] = -0.0;
    if (i % 23 == 6) values[i] = 0.0;
  }
  return values;
}

bool equal(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

TEST_CASE("sort is stable with NaN last, topk keeps the first elements of that order") {
  struct Case {
    Shape shape;
    std::size_t dim;
  };
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt8, DType::kInt32, DType::kInt64}) {
    for (const Case& c : {Case{{3, 40}, 1}, Case{{3, 4, 5}, 1}, Case{{300, 2}, 0}, Case{{2, 700}, 1}, Case{{1}, 0}}) {
      for (const DimOrder& order : some_orders(c.shape.rank())) {
        for (const bool descending : {false, true}) {
          CAPTURE(dtype_name(dtype), c.shape.to_string(), c.dim, order.to_string(), descending);
          HostTensor input = make_tensor(dtype, c.shape, order, test_values(c.shape, is_floating(dtype)));
          const std::vector<double> x = values_of(input);
          for (const std::int64_t kept : {c.shape[c.dim], c.shape[c.dim] / 3}) {
            const bool whole = kept == c.shape[c.dim];
            Shape shape = c.shape;
            shape[c.dim] = kept;
            HostTensor values = make_output(dtype, shape, order);
            HostTensor indices = make_output(DType::kInt64, shape);
            OperatorCall call(whole ? "aten::sort.values" : "aten::topk.values", 2);
            call.tensor(input);
            if (whole)
              call.integer(static_cast<std::int64_t>(c.dim)).boolean(descending);
            else
              call.integer(kept).integer(static_cast<std::int64_t>(c.dim)).boolean(descending).boolean(true);
            REQUIRE_RESULT(call.tensor(values).tensor(indices).run());
            const std::vector<double> got = values_of(values);
            const std::vector<double> got_indices = values_of(indices);
            bool all = true;
            for (std::int64_t n = 0; n < shape.numel(); ++n) {
              Index index = index_of(shape, n);
              if (index[c.dim] != 0) continue;
              const std::vector<double> line = line_of(c.shape, x, index, c.dim);
              const std::vector<std::size_t> wanted = stable_order(line, descending);
              std::set<std::size_t> taken;
              for (; index[c.dim] < kept; ++index[c.dim]) {
                const auto i = static_cast<std::size_t>(position_of(shape, index));
                const std::size_t want = wanted[static_cast<std::size_t>(index[c.dim])];
                const auto chosen = static_cast<std::size_t>(got_indices[i]);
                // Which of equal elements topk keeps is free.
                all = all && (whole ? chosen == want : equal(line[chosen], line[want])) && same(got[i], line[chosen]);
                taken.insert(chosen);
              }
              all = all && taken.size() == static_cast<std::size_t>(kept);
            }
            CHECK(all);
          }
        }
      }
    }
  }
}

TEST_CASE("sort.values_stable takes its dimension after the flag") {
  HostTensor input = make_tensor(DType::kUInt8, {4}, {3, 1, 3, 0});
  HostTensor values = make_output(DType::kUInt8, {4});
  HostTensor indices = make_output(DType::kInt64, {4});
  REQUIRE_RESULT(OperatorCall("aten::sort.values_stable")
                     .tensor(input)
                     .boolean(true)
                     .integer(-1)
                     .boolean(true)
                     .tensor(values)
                     .tensor(indices)
                     .run());
  CHECK(values_of(values) == std::vector<double>{3, 3, 1, 0});
  CHECK(values_of(indices) == std::vector<double>{0, 2, 1, 3});
}

TEST_CASE("topk of a number, of nothing, and of too many") {
  HostTensor number = make_tensor(DType::kFloat32, {}, {5});
  HostTensor value = make_output(DType::kFloat32, {});
  HostTensor index = make_output(DType::kInt64, {});
  REQUIRE_RESULT(OperatorCall("aten::topk.values")
                     .tensor(number)
                     .integer(1)
                     .integer(-1)
                     .boolean(true)
                     .boolean(true)
                     .tensor(value)
                     .tensor(index)
                     .run());
  CHECK(values_of(value) == std::vector<double>{5});
  // Eager copies a number even when none is asked for.
  REQUIRE_RESULT(OperatorCall("aten::topk.values")
                     .tensor(number)
                     .integer(0)
                     .integer(0)
                     .boolean(true)
                     .boolean(true)
                     .tensor(value)
                     .tensor(index)
                     .run());
  CHECK(values_of(value) == std::vector<double>{5});
  HostTensor input = make_tensor(DType::kFloat32, {2}, {5, 6});
  HostTensor none = make_output(DType::kFloat32, {0});
  HostTensor no_index = make_output(DType::kInt64, {0});
  REQUIRE_RESULT(OperatorCall("aten::topk.values")
                     .tensor(input)
                     .integer(0)
                     .integer(0)
                     .boolean(true)
                     .boolean(true)
                     .tensor(none)
                     .tensor(no_index)
                     .run());
  OperatorCall call("aten::topk.values");
  call.tensor(input).integer(3).integer(0).boolean(true).boolean(true).tensor(none).tensor(no_index);
  CHECK_THAT(error_of(call), ContainsSubstring("cannot take 3 of 2 elements"));
}

TEST_CASE("bucketize counts boundaries below, or not above") {
  HostTensor input = make_tensor(DType::kFloat32, {2, 3}, {-1, 1, 2, 3, 9, kNan});
  HostTensor edges = make_tensor(DType::kInt64, {3}, {1, 3, 5});
  HostTensor output = make_output(DType::kInt64, {2, 3});
  REQUIRE_RESULT(OperatorCall("aten::bucketize.Tensor_out")
                     .tensor(input)
                     .tensor(edges)
                     .boolean(false)
                     .boolean(false)
                     .tensor(output)
                     .run());
  CHECK(values_of(output) == std::vector<double>{0, 0, 1, 1, 3, 3});
  HostTensor narrow = make_output(DType::kInt32, {2, 3});
  REQUIRE_RESULT(OperatorCall("aten::bucketize.Tensor_out")
                     .tensor(input)
                     .tensor(edges)
                     .boolean(true)
                     .boolean(true)
                     .tensor(narrow)
                     .run());
  CHECK(values_of(narrow) == std::vector<double>{0, 1, 1, 2, 3, 3});
  HostTensor one = make_output(DType::kInt64, {});
  REQUIRE_RESULT(OperatorCall("aten::bucketize.Scalar_out")
                     .number(2.5)
                     .tensor(edges)
                     .boolean(false)
                     .boolean(false)
                     .tensor(one)
                     .run());
  CHECK(values_of(one) == std::vector<double>{1});
  // A number does not widen the boundaries' dtype: -3 is 253 among uint8.
  HostTensor number = make_tensor(DType::kInt8, {}, {-3});
  HostTensor bytes = make_tensor(DType::kUInt8, {2}, {1, 200});
  REQUIRE_RESULT(OperatorCall("aten::bucketize.Tensor_out")
                     .tensor(number)
                     .tensor(bytes)
                     .boolean(false)
                     .boolean(false)
                     .tensor(one)
                     .run());
  CHECK(values_of(one) == std::vector<double>{2});
  OperatorCall dtype("aten::bucketize.Tensor_out");
  dtype.tensor(input).tensor(edges).boolean(true).boolean(true).tensor(output);
  CHECK_THAT(error_of(dtype), ContainsSubstring("has to be int32, not int64"));
  OperatorCall rank("aten::bucketize.Tensor_out");
  rank.tensor(input).tensor(input).boolean(false).boolean(true).tensor(output);
  CHECK_THAT(error_of(rank), ContainsSubstring("boundaries need one dimension"));
}

TEST_CASE("cumsum adds along a dimension in every layout") {
  struct Case {
    Shape shape;
    std::size_t dim;
  };
  for (const DType dtype : {DType::kFloat32, DType::kInt64, DType::kFloat64}) {
    for (const Case& c :
         {Case{{3, 4, 5}, 0}, Case{{3, 4, 5}, 1}, Case{{9, 1500}, 1}, Case{{3, 2000}, 0}, Case{{7}, 0}}) {
      for (const DimOrder& order : some_orders(c.shape.rank())) {
        CAPTURE(dtype_name(dtype), c.shape.to_string(), c.dim, order.to_string());
        HostTensor input = make_tensor(dtype, c.shape, order, random_values(c.shape, -9, 9));
        HostTensor output = make_output(dtype, c.shape, order);
        REQUIRE_RESULT(OperatorCall("aten::cumsum.out", 2)
                           .tensor(input)
                           .integer(static_cast<std::int64_t>(c.dim))
                           .none()
                           .tensor(output)
                           .run());
        std::vector<double> want = values_of(input);
        for (std::size_t n = 0; n < want.size(); ++n) {
          Index index = index_of(c.shape, static_cast<std::int64_t>(n));
          if (index[c.dim]-- > 0) want[n] += want[static_cast<std::size_t>(position_of(c.shape, index))];
        }
        check_close(values_of(output), want, 1e-6);
      }
    }
  }
}

TEST_CASE("cumsum of bool and small integers is int64, of a number the number") {
  HostTensor bools = make_tensor(DType::kBool, {4}, {1, 1, 0, 1});
  HostTensor output = make_output(DType::kInt64, {4});
  REQUIRE_RESULT(OperatorCall("aten::cumsum.out").tensor(bools).integer(0).none().tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{1, 2, 2, 3});
  HostTensor number = make_tensor(DType::kFloat32, {}, {5});
  HostTensor one = make_output(DType::kFloat32, {});
  REQUIRE_RESULT(OperatorCall("aten::cumsum.out").tensor(number).integer(-1).none().tensor(one).run());
  CHECK(values_of(one) == std::vector<double>{5});
  OperatorCall call("aten::cumsum.out");
  call.tensor(bools).integer(1).none().tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("dimension 1 is outside [-1, 0]"));
}
