// index_select, gather, scatters and masks against index arithmetic, in several dim orders.
#include <limits>

#include <catch2/catch_all.hpp>

#include "move_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("index_select takes indices of one dimension") {
  HostTensor index = make_int64({3}, {2, 0, 2});
  for (const std::int64_t dim : {0, 1, -1}) {
    Shape to = {3, 3, 3};
    to[static_cast<std::size_t>(dim < 0 ? 2 : dim)] = 3;
    check_moves(
        "aten::index_select.out", DType::kFloat32, {3, 3, 3}, to,
        [&](OperatorCall& c) { c.integer(dim).tensor(index); },
        [&](const Index& i) {
          Index source = i;
          std::int64_t& place = source[static_cast<std::size_t>(dim < 0 ? 2 : dim)];
          place = place == 1 ? 0 : 2;
          return source;
        });
  }
  HostTensor number = make_tensor(DType::kFloat32, {}, {5});
  HostTensor zero = make_int64({}, {0});
  HostTensor output = make_output(DType::kFloat32, {});
  REQUIRE_RESULT(OperatorCall("aten::index_select.out").tensor(number).integer(0).tensor(zero).tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{5});
}

TEST_CASE("index_select names an index that is out of range") {
  HostTensor self = make_tensor(DType::kFloat32, {2, 3}, counting({2, 3}));
  HostTensor output = make_output(DType::kFloat32, {2, 1});
  for (const std::int64_t bad : {3, -1}) {
    HostTensor index = make_int64({1}, {bad});
    OperatorCall call("aten::index_select.out");
    call.tensor(self).integer(1).tensor(index).tensor(output);
    CHECK(error_of(call) ==
          "aten::index_select.out: index " + std::to_string(bad) + " is out of range for dimension 1 of size 3");
  }
  HostTensor matrix = make_int64({1, 1}, {0});
  OperatorCall call("aten::index_select.out");
  call.tensor(self).integer(1).tensor(matrix).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("indices of shape [1, 1]"));
}

TEST_CASE("gather takes an index for each element") {
  HostTensor rows = make_int64({2, 3}, {2, 0, 1, 1, 1, 0});
  const std::vector<std::int64_t> list = {2, 0, 1, 1, 1, 0};
  const auto at = [&](const Index& i) { return list[static_cast<std::size_t>(i[0] * 3 + i[1])]; };
  check_moves(
      "aten::gather.out", DType::kFloat32, {3, 4}, {2, 3},
      [&](OperatorCall& c) { c.integer(0).tensor(rows).boolean(false); },
      [&](const Index& i) { return Index{at(i), i[1]}; });
  check_moves(
      "aten::gather.out", DType::kInt64, {2, 3}, {2, 3},
      [&](OperatorCall& c) { c.integer(-1).tensor(rows).boolean(false); },
      [&](const Index& i) { return Index{i[0], at(i)}; });
  HostTensor zero = make_int64({}, {0});
  check_moves(
      "aten::gather.out", DType::kFloat16, {}, {}, [&](OperatorCall& c) { c.integer(0).tensor(zero).boolean(false); },
      [](const Index&) { return Index{}; });
}

TEST_CASE("an index tensor without elements may have any dtype") {
  HostTensor self = make_tensor(DType::kFloat32, {5}, counting({5}));
  HostTensor index = make_tensor(DType::kUInt8, {0}, {});
  HostTensor output = make_output(DType::kFloat32, {0});
  REQUIRE_RESULT(
      OperatorCall("aten::gather.out").tensor(self).integer(0).tensor(index).boolean(false).tensor(output).run());
  HostTensor wrong = make_tensor(DType::kUInt8, {1}, {0});
  HostTensor one = make_output(DType::kFloat32, {1});
  OperatorCall call("aten::gather.out");
  call.tensor(self).integer(0).tensor(wrong).boolean(false).tensor(one);
  CHECK_THAT(error_of(call), ContainsSubstring("int64 or int32, not uint8"));
}

TEST_CASE("gather refuses shapes and indices that do not fit") {
  HostTensor self = make_tensor(DType::kFloat32, {3, 2}, counting({3, 2}));
  HostTensor output = make_output(DType::kFloat32, {1, 3});
  HostTensor wide = make_int64({1, 3}, {0, 0, 0});
  OperatorCall shape("aten::gather.out");
  shape.tensor(self).integer(0).tensor(wide).boolean(false).tensor(output);
  CHECK_THAT(error_of(shape), ContainsSubstring("indices of shape [1, 3] do not fit float32[3, 2]"));
  HostTensor negative = make_int64({1, 1}, {-1});
  HostTensor one = make_output(DType::kFloat32, {1, 1});
  OperatorCall range("aten::gather.out");
  range.tensor(self).integer(0).tensor(negative).boolean(false).tensor(one);
  CHECK_THAT(error_of(range), ContainsSubstring("index -1 is out of range for dimension 0 of size 3"));
}

TEST_CASE("scatters write where the index points and keep the rest") {
  const Shape shape = {3, 3};
  HostTensor index = make_int64({2, 2}, {0, 2, 0, 1});
  HostTensor source = make_tensor(DType::kFloat32, {2, 3}, {50, 51, -1, 52, 53, -1});
  for (const DimOrder& order : some_orders(2)) {
    HostTensor self = make_tensor(DType::kFloat32, shape, order, counting(shape));
    HostTensor output = make_output(DType::kFloat32, shape, order);
    REQUIRE_RESULT(OperatorCall("aten::scatter.src_out")
                       .tensor(self)
                       .integer(0)
                       .tensor(index)
                       .tensor(source)
                       .tensor(output)
                       .run());
    CHECK(values_of(output) == std::vector<double>{52, 1, 2, 3, 53, 5, 6, 51, 8});
    REQUIRE_RESULT(OperatorCall("aten::scatter_add.out")
                       .tensor(self)
                       .integer(0)
                       .tensor(index)
                       .tensor(source)
                       .tensor(output)
                       .run());
    CHECK(values_of(output) == std::vector<double>{102, 1, 2, 3, 57, 5, 6, 58, 8});
    REQUIRE_RESULT(OperatorCall("aten::scatter.value_out")
                       .tensor(self)
                       .integer(-1)
                       .tensor(index)
                       .number(9.5)
                       .tensor(output)
                       .run());
    CHECK(values_of(output) == std::vector<double>{9.5, 1, 9.5, 9.5, 9.5, 5, 6, 7, 8});
  }
}

TEST_CASE("scatters of numbers, of nothing, and of what does not fit") {
  HostTensor number = make_tensor(DType::kInt32, {}, {5});
  HostTensor zero = make_int64({}, {0});
  HostTensor source = make_tensor(DType::kInt32, {}, {7});
  HostTensor output = make_output(DType::kInt32, {});
  REQUIRE_RESULT(
      OperatorCall("aten::scatter_add.out").tensor(number).integer(0).tensor(zero).tensor(source).tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{12});
  HostTensor self = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor result = make_output(DType::kFloat32, {2, 2});
  HostTensor empty = make_int64({0, 2}, {});
  REQUIRE_RESULT(
      OperatorCall("aten::scatter.value_out").tensor(self).integer(0).tensor(empty).integer(1).tensor(result).run());
  CHECK(values_of(result) == values_of(self));
  HostTensor bad = make_int64({1, 2}, {0, 2});
  OperatorCall range("aten::scatter.value_out");
  range.tensor(self).integer(0).tensor(bad).integer(1).tensor(result);
  CHECK_THAT(error_of(range), ContainsSubstring("index 2 is out of range for dimension 0 of size 2"));
  HostTensor index = make_int64({2, 2}, {0, 0, 0, 0});
  HostTensor small = make_tensor(DType::kFloat32, {1, 2}, {1, 2});
  OperatorCall shape("aten::scatter.src_out");
  shape.tensor(self).integer(0).tensor(index).tensor(small).tensor(result);
  CHECK_THAT(error_of(shape), ContainsSubstring("do not fit float32[1, 2]"));
}

TEST_CASE("masked_select lists what the mask keeps") {
  for (const DimOrder& order : some_orders(2)) {
    HostTensor self = make_tensor(DType::kInt16, {2, 3}, order, {1, 2, 3, 4, 5, 6});
    HostTensor mask = make_tensor(DType::kBool, {3}, {1, 0, 1});
    HostTensor output = make_dynamic_output(DType::kInt16, {6});
    REQUIRE_RESULT(OperatorCall("aten::masked_select.out").tensor(self).tensor(mask).tensor(output).run());
    CHECK(values_of(output) == std::vector<double>{1, 3, 4, 6});
  }
}

TEST_CASE("masked_scatter takes the source in order") {
  for (const DimOrder& order : some_orders(2)) {
    HostTensor self = make_tensor(DType::kFloat32, {2, 3}, order, {1, 2, 3, 4, 5, 6});
    HostTensor mask = make_tensor(DType::kBool, {2, 1}, {0, 1});
    HostTensor source = make_tensor(DType::kFloat32, {4}, {50, 51, 52, 53});
    HostTensor output = make_output(DType::kFloat32, {2, 3}, order);
    REQUIRE_RESULT(
        OperatorCall("aten::masked_scatter.out").tensor(self).tensor(mask).tensor(source).tensor(output).run());
    CHECK(values_of(output) == std::vector<double>{1, 2, 3, 50, 51, 52});
    HostTensor few = make_tensor(DType::kFloat32, {2}, {50, 51});
    OperatorCall call("aten::masked_scatter.out");
    call.tensor(self).tensor(mask).tensor(few).tensor(output);
    CHECK_THAT(error_of(call), ContainsSubstring("the mask is true 3 times, the source is float32[2]"));
  }
}

TEST_CASE("nonzero gives index rows in any layout of its output") {
  HostTensor self = make_tensor(DType::kFloat32, {2, 3}, {0, 1, 0, std::numeric_limits<double>::quiet_NaN(), 0, -2});
  for (const DimOrder& order : some_orders(2)) {
    HostTensor output = make_output(DType::kInt64, {6, 2}, order);
    output.view().mark_dynamic();
    REQUIRE_RESULT(OperatorCall("aten::nonzero.out").tensor(self).tensor(output).run());
    CHECK(output.view().shape() == Shape{3, 2});
    CHECK(values_of(output) == std::vector<double>{0, 1, 1, 0, 1, 2});
  }
  HostTensor number = make_tensor(DType::kInt64, {}, {7});
  HostTensor output = make_output(DType::kInt64, {1, 0});
  REQUIRE_RESULT(OperatorCall("aten::nonzero.out").tensor(number).tensor(output).run());
}

TEST_CASE("masks have to be bool and to broadcast") {
  HostTensor self = make_tensor(DType::kFloat32, {2}, {1, 2});
  HostTensor bytes = make_tensor(DType::kUInt8, {2}, {1, 2});
  HostTensor three = make_tensor(DType::kBool, {3}, {1, 1, 1});
  HostTensor output = make_dynamic_output(DType::kFloat32, {2});
  OperatorCall dtype("aten::masked_select.out");
  dtype.tensor(self).tensor(bytes).tensor(output);
  CHECK_THAT(error_of(dtype), ContainsSubstring("the mask has to be bool, not uint8"));
  OperatorCall shape("aten::masked_select.out");
  shape.tensor(self).tensor(three).tensor(output);
  CHECK_THAT(error_of(shape), ContainsSubstring("do not broadcast"));
}
