#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The obvious product in double, of batches of row-major matrices.
Values product(const Values& a, const Values& b, std::size_t batch, std::size_t rows, std::size_t depth,
               std::size_t columns) {
  Values out(batch * rows * columns, 0.0);
  for (std::size_t i = 0; i < batch; ++i) {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t k = 0; k < depth; ++k) {
          out[(i * rows + r) * columns + c] += a[(i * rows + r) * depth + k] * b[(i * depth + k) * columns + c];
        }
      }
    }
  }
  return out;
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 1e-12;
    case DType::kFloat32: return 1e-5;
    case DType::kFloat16: return 2e-3;
    case DType::kBFloat16: return 1e-2;
    default: return 0.0;
  }
}

TEST_CASE("mm multiplies in every float and integer dtype") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt64,
                            DType::kInt32, DType::kInt16, DType::kInt8, DType::kUInt8}) {
    for (const std::size_t rows : {1, 2, 7, 50}) {
      const std::size_t depth = 150;
      const std::size_t columns = 101;
      HostTensor a = is_floating(dtype)
                         ? make_tensor(dtype, {std::int64_t(rows), 150}, random_values(rows * depth, 1))
                         : make_tensor(dtype, {std::int64_t(rows), 150}, random_integers(rows * depth, 1, 0, 1));
      HostTensor b = is_floating(dtype) ? make_tensor(dtype, {150, 101}, random_values(depth * columns, 2))
                                        : make_tensor(dtype, {150, 101}, random_integers(depth * columns, 2, 0, 1));
      HostTensor out = make_output(dtype, {std::int64_t(rows), 101});
      REQUIRE_RESULT(OperatorCall("aten::mm.out").tensor(a).tensor(b).tensor(out).run());
      const Values want = product(values_of(a), values_of(b), 1, rows, depth, columns);
      CAPTURE(dtype_name(dtype), rows);
      CHECK(largest_excess(values_of(out), want, tolerance(dtype), tolerance(dtype)) <= 0);
    }
  }
}

TEST_CASE("integer products wrap") {
  HostTensor a = make_tensor(DType::kInt8, {1, 2}, {100, 100});
  HostTensor b = make_tensor(DType::kInt8, {2, 1}, {2, 2});
  HostTensor out = make_output(DType::kInt8, {1, 1});
  REQUIRE_RESULT(OperatorCall("aten::mm.out").tensor(a).tensor(b).tensor(out).run());
  CHECK(values_of(out) == Values{-112});
}

TEST_CASE("constant weights are packed once and give the same product") {
  HostTensor bias = make_tensor(DType::kFloat32, {33}, random_values(33, 3));
  HostTensor weight = make_tensor(DType::kFloat32, {40, 33}, random_values(40 * 33, 4));
  weight.view().mark_constant();
  for (const bool constant_bias : {false, true}) {
    for (const double beta : {1.0, 0.5}) {
      HostTensor own_bias = HostTensor::row_major_copy(bias.view()).value();
      if (constant_bias) own_bias.view().mark_constant();
      HostTensor a = make_tensor(DType::kFloat32, {9, 40}, random_values(9 * 40, 5));
      HostTensor out = make_output(DType::kFloat32, {9, 33});
      OperatorCall call("aten::addmm.out", 2);
      call.tensor(own_bias).tensor(a).tensor(weight).number(beta).integer(1).tensor(out);
      for (int run = 0; run < 2; ++run) {
        REQUIRE_RESULT(call.run());
        Values want = product(values_of(a), values_of(weight), 1, 9, 40, 33);
        for (std::size_t i = 0; i < want.size(); ++i)
          want[i] += beta * values_of(bias)[i % 33];
        CHECK(largest_excess(values_of(out), want, 1e-5, 1e-5) <= 0);
        std::fill_n(a.view().mutable_data<float>(), 5, 0.25f);
      }
    }
  }
}

TEST_CASE("addmm broadcasts its addend and scales by alpha and beta") {
  HostTensor a = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  const std::vector<std::pair<Shape, Values>> addends = {{{2, 2}, {1, 2, 3, 4}}, {{2}, {10, 20}}, {{1, 2}, {10, 20}},
                                                         {{2, 1}, {10, 20}},     {{}, {5}},       {{1}, {5}}};
  const std::vector<Values> wants = {{14.5, 21, 31.5, 46}, {19, 30, 35, 54},         {19, 30, 35, 54},
                                     {19, 25, 40, 54},     {16.5, 22.5, 32.5, 46.5}, {16.5, 22.5, 32.5, 46.5}};
  for (std::size_t i = 0; i < addends.size(); ++i) {
    HostTensor addend = make_tensor(DType::kFloat32, addends[i].first, addends[i].second);
    HostTensor out = make_output(DType::kFloat32, {2, 2});
    REQUIRE_RESULT(
        OperatorCall("aten::addmm.out").tensor(addend).tensor(a).tensor(a).number(0.5).integer(2).tensor(out).run());
    CHECK(values_of(out) == wants[i]);
  }
}

TEST_CASE("addmm with a beta of 0 ignores NaN in the addend") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    HostTensor addend = make_tensor(dtype, {2}, {kNan, kNan});
    HostTensor a = make_tensor(dtype, {2, 2}, {1, 2, 3, 4});
    HostTensor out = make_output(dtype, {2, 2});
    REQUIRE_RESULT(
        OperatorCall("aten::addmm.out").tensor(addend).tensor(a).tensor(a).integer(0).integer(1).tensor(out).run());
    CHECK(values_of(out) == Values{7, 10, 15, 22});
  }
}

TEST_CASE("an empty inner dimension leaves beta times the addend") {
  HostTensor addend = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor a = make_tensor(DType::kFloat32, {8, 0}, {});
  HostTensor b = make_tensor(DType::kFloat32, {0, 3}, {});
  HostTensor out = make_output(DType::kFloat32, {8, 3});
  REQUIRE_RESULT(
      OperatorCall("aten::addmm.out").tensor(addend).tensor(a).tensor(b).integer(2).integer(1).tensor(out).run());
  CHECK(values_of(out)[4] == 4.0);
  HostTensor product_only = make_output(DType::kFloat32, {8, 3});
  REQUIRE_RESULT(OperatorCall("aten::mm.out").tensor(a).tensor(b).tensor(product_only).run());
  CHECK(values_of(product_only) == Values(24, 0.0));
}

TEST_CASE("matrices in column-major order multiply like any other") {
  const DimOrder transposed = *DimOrder::from(std::vector<std::uint8_t>{1, 0});
  const Values a_values = random_values(30 * 20, 6);
  const Values b_values = random_values(20 * 17, 7);
  const Values want = product(a_values, b_values, 1, 30, 20, 17);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const bool constant : {false, true}) {
      HostTensor a = make_tensor(dtype, {30, 20}, transposed, a_values);
      HostTensor b = make_tensor(dtype, {20, 17}, transposed, b_values);
      if (constant) b.view().mark_constant();
      HostTensor out = make_output(dtype, {30, 17}, transposed);
      REQUIRE_RESULT(OperatorCall("aten::mm.out").tensor(a).tensor(b).tensor(out).run());
      CHECK(largest_excess(values_of(out), want, 1e-5, 1e-5) <= 0);
    }
  }
}

TEST_CASE("bmm multiplies batch by batch, for changing sizes") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32}) {
    HostTensor out = make_dynamic_output(dtype, {3, 20, 11});
    HostTensor a = make_tensor(dtype, {3, 20, 13}, random_integers(3 * 20 * 13, 8, -4, 4));
    HostTensor b = make_tensor(dtype, {3, 13, 11}, random_integers(3 * 13 * 11, 9, -4, 4));
    a.view().mark_dynamic();
    OperatorCall call("aten::bmm.out", 2);
    call.tensor(a).tensor(b).tensor(out);
    for (const std::int64_t rows : {20, 9, 1}) {
      REQUIRE(a.view().resize({3, rows, 13}).has_value());
      REQUIRE_RESULT(call.run());
      CHECK(out.view().shape() == Shape{3, rows, 11});
      CHECK(values_of(out) == product(values_of(a), values_of(b), 3, std::size_t(rows), 13, 11));
    }
  }
}

TEST_CASE("linear takes inputs of any rank, with and without bias") {
  HostTensor weight = make_tensor(DType::kFloat32, {5, 4}, random_values(20, 10));
  HostTensor bias = make_tensor(DType::kFloat32, {5}, random_values(5, 11));
  Values transposed(20);
  for (std::size_t i = 0; i < 20; ++i)
    transposed[i % 4 * 5 + i / 4] = values_of(weight)[i];
  for (const bool constant : {false, true}) {
    if (constant) weight.view().mark_constant();
    for (const Shape& shape : {Shape{4}, Shape{3, 4}, Shape{2, 6, 4}}) {
      const auto rows = static_cast<std::size_t>(shape.numel() / 4);
      HostTensor input = make_tensor(DType::kFloat32, shape, random_values(rows * 4, 12));
      Shape out_shape = shape;
      out_shape[shape.rank() - 1] = 5;
      Values want = product(values_of(input), transposed, 1, rows, 4, 5);
      HostTensor out = make_output(DType::kFloat32, out_shape);
      REQUIRE_RESULT(OperatorCall("aten::linear.out").tensor(input).tensor(weight).none().tensor(out).run());
      CHECK(largest_excess(values_of(out), want, 1e-6, 1e-6) <= 0);
      for (std::size_t i = 0; i < want.size(); ++i)
        want[i] += values_of(bias)[i % 5];
      REQUIRE_RESULT(OperatorCall("aten::linear.out").tensor(input).tensor(weight).tensor(bias).tensor(out).run());
      CHECK(largest_excess(values_of(out), want, 1e-6, 1e-6) <= 0);
    }
  }
}

TEST_CASE("matrices that do not fit are refused by name") {
  HostTensor a = make_tensor(DType::kFloat32, {2, 3}, Values(6, 1.0));
  HostTensor out = make_output(DType::kFloat32, {2, 3});
  const auto shapes = OperatorCall("aten::mm.out").tensor(a).tensor(a).tensor(out).run();
  REQUIRE_FALSE(shapes.has_value());
  CHECK(shapes.error().message == "aten::mm.out: cannot multiply float32[2, 3] and float32[2, 3]");
  HostTensor flags = make_tensor(DType::kBool, {2, 3}, Values(6, 1.0));
  const auto dtype = OperatorCall("aten::mm.out").tensor(flags).tensor(flags).tensor(out).run();
  REQUIRE_FALSE(dtype.has_value());
  CHECK(dtype.error().message.find("aten::mm.out: the first matrix is bool[2, 3]; supported are uint8") == 0);
  HostTensor other = make_tensor(DType::kFloat64, {3, 3}, Values(9, 1.0));
  const auto mixed = OperatorCall("aten::mm.out").tensor(a).tensor(other).tensor(out).run();
  REQUIRE_FALSE(mixed.has_value());
  CHECK(mixed.error().code == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pterun::test
