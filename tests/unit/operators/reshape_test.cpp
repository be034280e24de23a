// View, squeeze, unsqueeze, expand, permute and transpose against index arithmetic, in several dim orders.
#include <catch2/catch_all.hpp>

#include "move_checks.h"

using namespace pterun;
using namespace pterun::test;

TEST_CASE("view_copy keeps the row-major order of elements in every layout") {
  const Shape from = {2, 3, 4};
  const Shape to = {4, 6};
  check_moves(
      "aten::view_copy.out", DType::kFloat32, from, to, [](OperatorCall& c) { c.integers({4, -1}); },
      [&](const Index& i) { return index_of(from, position_of(to, i)); });
}

TEST_CASE("view_copy names a shape that does not hold the elements") {
  HostTensor input = make_tensor(DType::kInt8, {2, 3}, counting({2, 3}));
  HostTensor output = make_output(DType::kInt8, {4});
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{4}, {-1, -1}, {-1, 4}, {-2, 3}, {-1, 0}, {INT64_MAX, INT64_MAX}}) {
    OperatorCall call("aten::view_copy.out");
    call.tensor(input).integers(sizes).tensor(output);
    CHECK_THAT(error_of(call), Catch::Matchers::ContainsSubstring("aten::view_copy.out: shape ["));
  }
}

TEST_CASE("an output of another dtype is refused") {
  HostTensor input = make_tensor(DType::kInt8, {2}, {1, 2});
  HostTensor output = make_output(DType::kInt16, {2});
  OperatorCall call("aten::view_copy.out");
  call.tensor(input).integers({2}).tensor(output);
  CHECK_THAT(error_of(call), Catch::Matchers::ContainsSubstring("int8 and int16"));
}

TEST_CASE("a static output of another shape is refused before anything is written") {
  HostTensor input = make_tensor(DType::kInt8, {2}, {1, 2});
  HostTensor output = make_output(DType::kInt8, {3});
  const auto before = values_of(output);
  const auto result = OperatorCall("aten::view_copy.out").tensor(input).integers({2}).tensor(output).run();
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kNotSupported);
  CHECK(values_of(output) == before);
}

TEST_CASE("squeeze_copy drops only named dimensions of size one") {
  check_moves(
      "aten::squeeze_copy.dims_out", DType::kInt16, {1, 3, 1, 2}, {3, 1, 2},
      [](OperatorCall& c) { c.integers({0, -3, 3}); }, [](const Index& i) { return Index{0, i[0], i[1], i[2]}; });
  check_moves(
      "aten::squeeze_copy.dim_out", DType::kBFloat16, {2, 1, 3}, {2, 3}, [](OperatorCall& c) { c.integer(-2); },
      [](const Index& i) { return Index{i[0], 0, i[1]}; });
  check_moves(
      "aten::squeeze_copy.dims_out", DType::kFloat64, {}, {}, [](OperatorCall& c) { c.integers({0}); },
      [](const Index&) { return Index{}; });
}

TEST_CASE("squeeze_copy refuses dimensions outside the rank and given twice") {
  HostTensor input = make_tensor(DType::kFloat32, {1, 1}, {3});
  HostTensor output = make_output(DType::kFloat32, {});
  OperatorCall outside("aten::squeeze_copy.dims_out");
  outside.tensor(input).integers({2}).tensor(output);
  CHECK(error_of(outside) == "aten::squeeze_copy.dims_out: dimension 2 is outside [-2, 1]");
  OperatorCall twice("aten::squeeze_copy.dims_out");
  twice.tensor(input).integers({1, -1}).tensor(output);
  CHECK_THAT(error_of(twice), Catch::Matchers::ContainsSubstring("dimension 1 is given twice"));
}

TEST_CASE("unsqueeze_copy adds a dimension anywhere") {
  check_moves(
      "aten::unsqueeze_copy.out", DType::kBool, {2, 3}, {2, 1, 3}, [](OperatorCall& c) { c.integer(1); },
      [](const Index& i) { return Index{i[0], i[2]}; });
  check_moves(
      "aten::unsqueeze_copy.out", DType::kInt64, {2, 3}, {2, 3, 1}, [](OperatorCall& c) { c.integer(-1); },
      [](const Index& i) { return Index{i[0], i[1]}; });
  check_moves(
      "aten::unsqueeze_copy.out", DType::kUInt8, {}, {1}, [](OperatorCall& c) { c.integer(0); },
      [](const Index&) { return Index{}; });
}

TEST_CASE("expand_copy repeats dimensions of size one and adds new ones in front") {
  check_moves(
      "aten::expand_copy.out", DType::kFloat16, {3, 1}, {2, 3, 4},
      [](OperatorCall& c) { c.integers({2, -1, 4}).boolean(false); }, [](const Index& i) { return Index{i[1], 0}; });
  check_moves(
      "aten::expand_copy.out", DType::kFloat32, {1, 3, 5, 7}, {1, 3, 5, 7},
      [](OperatorCall& c) { c.integers({1, 3, 5, 7}).boolean(false); }, [](const Index& i) { return i; });
  check_moves(
      "aten::expand_copy.out", DType::kFloat32, {}, {2, 2}, [](OperatorCall& c) { c.integers({2, 2}).boolean(false); },
      [](const Index&) { return Index{}; });
  check_moves(
      "aten::expand_copy.out", DType::kFloat32, {1, 2}, {0, 2},
      [](OperatorCall& c) { c.integers({0, 2}).boolean(false); }, [](const Index& i) { return i; });
}

TEST_CASE("expand_copy refuses sizes that do not fit") {
  HostTensor input = make_tensor(DType::kFloat32, {3, 2}, counting({3, 2}));
  HostTensor output = make_output(DType::kFloat32, {3, 2});
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{4, 2}, {2}, {-1, 3, 2}, {3, -2}}) {
    OperatorCall call("aten::expand_copy.out");
    call.tensor(input).integers(sizes).boolean(false).tensor(output);
    CHECK_THAT(error_of(call), Catch::Matchers::ContainsSubstring("float32[3, 2] cannot be expanded to"));
  }
}

TEST_CASE("permute_copy moves dimensions in every layout") {
  check_moves(
      "aten::permute_copy.out", DType::kFloat32, {2, 3, 4, 5}, {2, 4, 5, 3},
      [](OperatorCall& c) { c.integers({0, 2, -1, 1}); }, [](const Index& i) { return Index{i[0], i[3], i[1], i[2]}; });
  check_moves(
      "aten::permute_copy.out", DType::kFloat32, {37, 50}, {50, 37}, [](OperatorCall& c) { c.integers({1, 0}); },
      [](const Index& i) { return Index{i[1], i[0]}; });
}

TEST_CASE("permute_copy refuses what is no permutation") {
  HostTensor input = make_tensor(DType::kFloat32, {3, 2}, counting({3, 2}));
  HostTensor output = make_output(DType::kFloat32, {3, 2});
  for (const std::vector<std::int64_t>& order : std::vector<std::vector<std::int64_t>>{{0}, {0, 0}, {0, 2}, {1, -1}}) {
    OperatorCall call("aten::permute_copy.out");
    call.tensor(input).integers(order).tensor(output);
    error_of(call);
  }
}

TEST_CASE("transpose_copy and t_copy swap two dimensions") {
  check_moves(
      "aten::transpose_copy.int_out", DType::kInt8, {2, 3, 4}, {4, 3, 2},
      [](OperatorCall& c) { c.integer(-1).integer(0); }, [](const Index& i) { return Index{i[2], i[1], i[0]}; });
  check_moves(
      "aten::t_copy.out", DType::kFloat64, {2, 3}, {3, 2}, [](OperatorCall&) {},
      [](const Index& i) { return Index{i[1], i[0]}; });
  check_moves("aten::t_copy.out", DType::kFloat64, {3}, {3}, [](OperatorCall&) {}, [](const Index& i) { return i; });
  HostTensor cube = make_tensor(DType::kFloat32, {1, 1, 1}, {1});
  HostTensor output = make_output(DType::kFloat32, {1, 1, 1});
  OperatorCall call("aten::t_copy.out");
  call.tensor(cube).tensor(output);
  error_of(call);
}
