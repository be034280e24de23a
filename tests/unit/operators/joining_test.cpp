// Concatenation, repetition and writing of parts against index arithmetic, in several dim orders.
#include <catch2/catch_all.hpp>

#include "move_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("cat joins along a dimension in every layout") {
  const Shape a_shape = {2, 3, 2}, b_shape = {2, 1, 2};
  for (const DimOrder& a_order : some_orders(3)) {
    for (const DimOrder& out_order : some_orders(3)) {
      HostTensor a = make_tensor(DType::kInt16, a_shape, a_order, counting(a_shape));
      HostTensor b = make_tensor(DType::kInt16, b_shape, {50, 51, 52, 53});
      HostTensor output = make_output(DType::kInt16, {2, 4, 2}, out_order);
      REQUIRE_RESULT(OperatorCall("aten::cat.out").tensors({&a, &b}).integer(-2).tensor(output).run());
      CHECK(values_of(output) == std::vector<double>{0, 1, 2, 3, 4, 5, 50, 51, 6, 7, 8, 9, 10, 11, 52, 53});
    }
  }
}

TEST_CASE("cat promotes, and leaves out empty tensors of rank one") {
  HostTensor a = make_tensor(DType::kFloat32, {1, 2}, {1.5, 2.5});
  HostTensor b = make_tensor(DType::kInt64, {1, 2}, {3, 4});
  HostTensor empty = make_tensor(DType::kFloat32, {0}, {});
  HostTensor output = make_output(DType::kFloat32, {2, 2});
  REQUIRE_RESULT(OperatorCall("aten::cat.out").tensors({&empty, &a, &b}).integer(0).tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{1.5, 2.5, 3, 4});
  HostTensor nothing = make_output(DType::kFloat32, {0});
  REQUIRE_RESULT(OperatorCall("aten::cat.out").tensors({&empty, &empty}).integer(0).tensor(nothing).run());
}

TEST_CASE("cat names the tensor that does not fit") {
  HostTensor a = make_tensor(DType::kFloat32, {2, 2}, counting({2, 2}));
  HostTensor b = make_tensor(DType::kFloat32, {1, 3}, counting({1, 3}));
  HostTensor scalar = make_tensor(DType::kFloat32, {}, {1});
  HostTensor output = make_output(DType::kFloat32, {3, 2});
  OperatorCall call("aten::cat.out");
  call.tensors({&a, &b}).integer(0).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("tensor 1 is float32[1, 3]"));
  OperatorCall scalars("aten::cat.out");
  scalars.tensors({&scalar}).integer(0).tensor(output);
  CHECK_THAT(error_of(scalars), ContainsSubstring("without dimensions"));
  OperatorCall none("aten::cat.out");
  none.tensors({}).integer(0).tensor(output);
  CHECK_THAT(error_of(none), ContainsSubstring("a list without tensors"));
}

TEST_CASE("stack adds a dimension") {
  HostTensor a = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor b = make_tensor(DType::kFloat32, {2, 2}, *DimOrder::from(std::vector<std::uint8_t>{1, 0}), {5, 6, 7, 8});
  for (const DimOrder& order : some_orders(3)) {
    HostTensor output = make_output(DType::kFloat32, {2, 2, 2}, order);
    REQUIRE_RESULT(OperatorCall("aten::stack.out").tensors({&a, &b}).integer(-2).tensor(output).run());
    CHECK(values_of(output) == std::vector<double>{1, 2, 5, 6, 3, 4, 7, 8});
  }
  HostTensor other = make_tensor(DType::kFloat32, {2}, {1, 2});
  HostTensor output = make_output(DType::kFloat32, {2, 2, 2});
  OperatorCall call("aten::stack.out");
  call.tensors({&a, &other}).integer(0).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("tensor 1 is float32[2]"));
}

TEST_CASE("repeat tiles, and adds dimensions in front") {
  check_moves(
      "aten::repeat.out", DType::kFloat32, {2, 3}, {2, 4, 3}, [](OperatorCall& c) { c.integers({2, 2, 1}); },
      [](const Index& i) { return Index{i[1] % 2, i[2]}; });
  check_moves(
      "aten::repeat.out", DType::kInt8, {3}, {9}, [](OperatorCall& c) { c.integers({3}); },
      [](const Index& i) { return Index{i[0] % 3}; });
  check_moves(
      "aten::repeat.out", DType::kInt8, {3}, {0}, [](OperatorCall& c) { c.integers({0}); },
      [](const Index& i) { return i; });
  HostTensor input = make_tensor(DType::kFloat32, {2, 3}, counting({2, 3}));
  HostTensor output = make_output(DType::kFloat32, {6});
  for (const std::vector<std::int64_t>& repeats :
       std::vector<std::vector<std::int64_t>>{{1}, {-1, 1}, {INT64_MAX, 1}}) {
    OperatorCall call("aten::repeat.out");
    call.tensor(input).integers(repeats).tensor(output);
    error_of(call);
  }
}

TEST_CASE("repeat_interleave repeats indices") {
  HostTensor repeats = make_tensor(DType::kInt32, {4}, {1, 0, 3, 2});
  HostTensor output = make_output(DType::kInt32, {6});
  REQUIRE_RESULT(OperatorCall("aten::repeat_interleave.Tensor_out").tensor(repeats).integer(6).tensor(output).run());
  CHECK(values_of(output) == std::vector<double>{0, 2, 2, 2, 3, 3});
  OperatorCall wrong("aten::repeat_interleave.Tensor_out");
  wrong.tensor(repeats).integer(5).tensor(output);
  CHECK_THAT(error_of(wrong), ContainsSubstring("add up to 6, not to 5"));
  HostTensor negative = make_tensor(DType::kInt64, {1}, {-1});
  HostTensor longs = make_output(DType::kInt64, {1});
  OperatorCall call("aten::repeat_interleave.Tensor_out");
  call.tensor(negative).none().tensor(longs);
  CHECK_THAT(error_of(call), ContainsSubstring("cannot repeat -1 times"));
}

TEST_CASE("slice_scatter and select_scatter write a part and keep the rest") {
  const Shape shape = {3, 4};
  for (const DimOrder& order : some_orders(2)) {
    HostTensor input = make_tensor(DType::kFloat32, shape, order, counting(shape));
    HostTensor columns = make_tensor(DType::kFloat32, {3, 2}, {50, 51, 52, 53, 54, 55});
    HostTensor output = make_output(DType::kFloat32, shape, order);
    REQUIRE_RESULT(OperatorCall("aten::slice_scatter.out")
                       .tensor(input)
                       .tensor(columns)
                       .integer(1)
                       .integer(1)
                       .none()
                       .integer(2)
                       .tensor(output)
                       .run());
    CHECK(values_of(output) == std::vector<double>{0, 50, 2, 51, 4, 52, 6, 53, 8, 54, 10, 55});
    HostTensor row = make_tensor(DType::kFloat32, {4}, {60, 61, 62, 63});
    REQUIRE_RESULT(
        OperatorCall("aten::select_scatter.out").tensor(input).tensor(row).integer(0).integer(-1).tensor(output).run());
    CHECK(values_of(output) == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 60, 61, 62, 63});
  }
  HostTensor input = make_tensor(DType::kFloat32, shape, counting(shape));
  HostTensor output = make_output(DType::kFloat32, shape);
  HostTensor row = make_tensor(DType::kFloat32, {3}, {60, 61, 62});
  OperatorCall call("aten::select_scatter.out");
  call.tensor(input).tensor(row).integer(0).integer(0).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("the part to write [4]"));
}
