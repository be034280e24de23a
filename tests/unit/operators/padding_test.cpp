// Padding against index arithmetic, in several dim orders, cropping included.
#include <algorithm>

#include <catch2/catch_all.hpp>

#include "move_checks.h"

using namespace pterun;
using namespace pterun::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::int64_t mirrored(std::int64_t place, std::int64_t size) {
  if (place < 0) return -place;
  return place < size ? place : 2 * (size - 1) - place;
}
std::int64_t clamped(std::int64_t place, std::int64_t size) {
  return std::clamp<std::int64_t>(place, 0, size - 1);
}

}  // namespace

TEST_CASE("constant_pad_nd surrounds, and crops where padding is negative") {
  const Shape from = {2, 3, 4};
  const auto inside = [&](Index i) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (i[d] < 0 || i[d] >= from[d]) return Index{};
    }
    return i;
  };
  check_moves(
      "aten::constant_pad_nd.out", DType::kFloat32, from, {2, 6, 7},
      [](OperatorCall& c) { c.integers({1, 2, 3, 0}).number(2.5); },
      [&](const Index& i) { return inside({i[0], i[1] - 3, i[2] - 1}); }, 2.5);
  check_moves(
      "aten::constant_pad_nd.out", DType::kInt16, from, {3, 2, 5},
      [](OperatorCall& c) { c.integers({-1, 2, 0, -1, 1, 0}).integer(77); },
      [&](const Index& i) { return inside({i[0] - 1, i[1], i[2] + 1}); }, 77);
  check_moves(
      "aten::constant_pad_nd.out", DType::kBool, {0}, {3}, [](OperatorCall& c) { c.integers({1, 2}).integer(1); },
      [](const Index&) { return Index{}; }, 1);
  check_moves(
      "aten::constant_pad_nd.out", DType::kFloat32, {4}, {0}, [](OperatorCall& c) { c.integers({-4, 0}).integer(1); },
      [](const Index& i) { return i; });
  check_moves(
      "aten::constant_pad_nd.out", DType::kFloat32, {4}, {4}, [](OperatorCall& c) { c.integers({}).integer(1); },
      [](const Index& i) { return i; });
}

TEST_CASE("constant_pad_nd refuses padding that does not fit") {
  HostTensor input = make_tensor(DType::kFloat32, {4}, counting({4}));
  HostTensor output = make_output(DType::kFloat32, {5});
  for (const std::vector<std::int64_t>& padding : std::vector<std::vector<std::int64_t>>{
           {1}, {1, 0, 1, 0}, {-5, 6}, {-3, -2}, {INT64_MAX, 1}, {INT64_MIN, INT64_MAX}}) {
    OperatorCall call("aten::constant_pad_nd.out");
    call.tensor(input).integers(padding).number(0).tensor(output);
    CHECK_THAT(error_of(call), ContainsSubstring("aten::constant_pad_nd.out: padding ["));
  }
}

TEST_CASE("reflection and replication continue the image at its edges") {
  struct Pad {
    std::int64_t before, after;
  };
  for (const Pad& p : {Pad{3, 3}, Pad{-1, 2}, Pad{2, -3}, Pad{-4, 3}, Pad{0, 0}, Pad{3, -3}}) {
    const std::int64_t width = 4 + p.before + p.after;
    CAPTURE(p.before, p.after);
    const auto arguments = [&](OperatorCall& c) { c.integers({p.before, p.after}); };
    check_moves("aten::reflection_pad1d.out", DType::kFloat32, {2, 4}, {2, width}, arguments,
                [&](const Index& i) { return Index{i[0], mirrored(i[1] - p.before, 4)}; });
    check_moves("aten::replication_pad1d.out", DType::kInt8, {1, 2, 4}, {1, 2, width}, arguments,
                [&](const Index& i) { return Index{i[0], i[1], clamped(i[2] - p.before, 4)}; });
  }
  check_moves(
      "aten::reflection_pad2d.out", DType::kFloat64, {2, 3, 4, 5}, {2, 3, 7, 8},
      [](OperatorCall& c) { c.integers({1, 2, 3, 0}); },
      [](const Index& i) { return Index{i[0], i[1], mirrored(i[2] - 3, 4), mirrored(i[3] - 1, 5)}; });
  check_moves(
      "aten::replication_pad2d.out", DType::kFloat32, {3, 4, 5}, {3, 9, 5},
      [](OperatorCall& c) { c.integers({1, -1, 0, 5}); },
      [](const Index& i) { return Index{i[0], clamped(i[1], 4), clamped(i[2] - 1, 5)}; });
  check_moves(
      "aten::reflection_pad3d.out", DType::kFloat16, {2, 2, 3, 4}, {2, 3, 4, 5},
      [](OperatorCall& c) { c.integers({1, 0, 0, 1, 1, 0}); },
      [](const Index& i) { return Index{i[0], mirrored(i[1] - 1, 2), mirrored(i[2], 3), mirrored(i[3] - 1, 4)}; });
  check_moves(
      "aten::replication_pad3d.out", DType::kFloat32, {1, 2, 2, 3, 4}, {1, 2, 4, 4, 5},
      [](OperatorCall& c) { c.integers({1, 0, 0, 1, 1, 1}); },
      [](const Index& i) { return Index{i[0], i[1], clamped(i[2] - 1, 2), clamped(i[3], 3), clamped(i[4] - 1, 4)}; });
  check_moves(
      "aten::replication_pad2d.out", DType::kFloat32, {2, 3, 1}, {2, 4, 0},
      [](OperatorCall& c) { c.integers({-1, 0, 1, 0}); }, [](const Index& i) { return i; });
}

TEST_CASE("border padding refuses ranks, lists and widths that do not fit") {
  HostTensor input = make_tensor(DType::kFloat32, {2, 4}, counting({2, 4}));
  HostTensor output = make_output(DType::kFloat32, {2, 8});
  for (const std::vector<std::int64_t>& padding :
       std::vector<std::vector<std::int64_t>>{{4, 0}, {-5, 3}, {-2, -2}, {1}}) {
    OperatorCall call("aten::reflection_pad1d.out");
    call.tensor(input).integers(padding).tensor(output);
    error_of(call);
  }
  OperatorCall rank("aten::replication_pad3d.out");
  rank.tensor(input).integers({1, 1, 1, 1, 1, 1}).tensor(output);
  CHECK_THAT(error_of(rank), ContainsSubstring("does not fit float32[2, 4]"));
  HostTensor empty = make_tensor(DType::kFloat32, {2, 0}, {});
  OperatorCall nothing("aten::replication_pad1d.out");
  nothing.tensor(empty).integers({2, 2}).tensor(output);
  CHECK_THAT(error_of(nothing), ContainsSubstring("does not fit dimension 1 of float32[2, 0]"));
}
