// Flips, rolls, triangles and pixel shuffles against index arithmetic, in several dim orders.
#include <catch2/catch_all.hpp>

#include "move_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("flip reverses the named dimensions") {
  check_moves(
      "aten::flip.out", DType::kFloat32, {2, 3, 4}, {2, 3, 4}, [](OperatorCall& c) { c.integers({0, -1}); },
      [](const Index& i) { return Index{1 - i[0], i[1], 3 - i[2]}; });
  check_moves(
      "aten::flip.out", DType::kInt64, {2, 0}, {2, 0}, [](OperatorCall& c) { c.integers({1}); },
      [](const Index& i) { return i; });
  HostTensor input = make_tensor(DType::kFloat32, {2, 2}, counting({2, 2}));
  HostTensor output = make_output(DType::kFloat32, {2, 2});
  OperatorCall call("aten::flip.out");
  call.tensor(input).integers({1, 1}).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("given twice"));
}

TEST_CASE("roll shifts dimensions, or all elements as one row without dims") {
  const Shape shape = {2, 3, 4};
  check_moves(
      "aten::roll.out", DType::kFloat32, shape, shape,
      [](OperatorCall& c) { c.integers({1, -6, 1}).integers({0, 2, -1}); },
      [](const Index& i) { return Index{(i[0] + 1) % 2, i[1], (i[2] + 5) % 4}; });
  check_moves(
      "aten::roll.out", DType::kInt8, shape, shape, [](OperatorCall& c) { c.integers({29}).integers({}); },
      [&](const Index& i) { return index_of(shape, (position_of(shape, i) + 24 - 5) % 24); });
  check_moves(
      "aten::roll.out", DType::kInt8, {0}, {0}, [](OperatorCall& c) { c.integers({1}).integers({0}); },
      [](const Index& i) { return i; });
  HostTensor input = make_tensor(DType::kFloat32, {2, 2}, counting({2, 2}));
  HostTensor output = make_output(DType::kFloat32, {2, 2});
  OperatorCall call("aten::roll.out");
  call.tensor(input).integers({1, 1}).integers({0}).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("2 shifts and 1 dimensions"));
  HostTensor number = make_tensor(DType::kFloat32, {}, {1});
  HostTensor one = make_output(DType::kFloat32, {});
  OperatorCall rank("aten::roll.out");
  rank.tensor(number).integers({1}).integers({0}).tensor(one);
  CHECK_THAT(error_of(rank), ContainsSubstring("a number has no dimension"));
}

TEST_CASE("tril and triu zero the other side of a diagonal") {
  for (const std::int64_t diagonal : {0, 1, -2, 9, -9}) {
    CAPTURE(diagonal);
    check_moves(
        "aten::tril.out", DType::kFloat16, {2, 3, 4}, {2, 3, 4}, [&](OperatorCall& c) { c.integer(diagonal); },
        [&](const Index& i) { return i[2] <= i[1] + diagonal ? i : Index{}; });
    check_moves(
        "aten::triu.out", DType::kFloat64, {2, 3, 4}, {2, 3, 4}, [&](OperatorCall& c) { c.integer(diagonal); },
        [&](const Index& i) { return i[2] >= i[1] + diagonal ? i : Index{}; });
  }
  HostTensor input = make_tensor(DType::kFloat32, {2}, {1, 2});
  HostTensor output = make_output(DType::kFloat32, {2});
  OperatorCall call("aten::tril.out");
  call.tensor(input).integer(0).tensor(output);
  CHECK_THAT(error_of(call), ContainsSubstring("needs a matrix"));
}

TEST_CASE("pixel_shuffle and pixel_unshuffle trade channels for pixels") {
  check_moves(
      "aten::pixel_shuffle.out", DType::kFloat32, {2, 8, 3, 5}, {2, 2, 6, 10}, [](OperatorCall& c) { c.integer(2); },
      [](const Index& i) { return Index{i[0], i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2}; });
  check_moves(
      "aten::pixel_unshuffle.out", DType::kInt8, {2, 4, 6}, {8, 2, 3}, [](OperatorCall& c) { c.integer(2); },
      [](const Index& i) { return Index{i[0] / 4, i[1] * 2 + i[0] / 2 % 2, i[2] * 2 + i[0] % 2}; });
  HostTensor input = make_tensor(DType::kFloat32, {3, 2, 2}, counting({3, 2, 2}));
  HostTensor output = make_output(DType::kFloat32, {3, 2, 2});
  for (const std::int64_t factor : {2, 0, -1}) {
    OperatorCall call("aten::pixel_shuffle.out");
    call.tensor(input).integer(factor).tensor(output);
    CHECK_THAT(error_of(call), ContainsSubstring("does not fit a factor of"));
  }
}
