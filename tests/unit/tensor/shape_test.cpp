// Shapes, dim orders and the strides that follow from them.
#include "tensor/shape.h"

#include <array>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

namespace {

std::optional<DimOrder> order_from(std::vector<std::uint8_t> order) {
  return DimOrder::from(order);
}

}  // namespace

TEST_CASE("a shape knows rank, sizes, product and text") {
  const Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape[1] == 3);
  CHECK(shape.numel() == 24);
  CHECK(shape.to_string() == "[2, 3, 4]");
  CHECK(Shape{}.numel() == 1);
  CHECK(Shape{}.to_string() == "[]");
  CHECK(Shape{5, 0, 7}.numel() == 0);
}

TEST_CASE("shapes are equal by rank and sizes") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
  Shape longer{2, 3, 9};
  longer.resize(2);
  CHECK(longer == Shape{2, 3});
}

TEST_CASE("a shape takes no more than the highest rank") {
  const std::vector<std::int64_t> many(kMaxRank + 4, 2);
  CHECK(Shape(many).rank() == kMaxRank);
  Shape full = Shape::filled(kMaxRank, 1);
  full.push_back(7);
  CHECK(full == Shape::filled(kMaxRank, 1));
}

TEST_CASE("growing a shape fills what is new") {
  Shape shape{2};
  shape.resize(3, 9);
  CHECK(shape == Shape{2, 9, 9});
}

TEST_CASE("a product of sizes is checked for signs and overflow") {
  constexpr std::int64_t kBig = std::int64_t{1} << 32;
  CHECK(checked_numel(Shape{2, 3}.span()) == 6);
  CHECK(checked_numel({}) == 1);
  CHECK(checked_numel(Shape{kBig, kBig / 4}.span()) == kBig * (kBig / 4));
  CHECK_FALSE(checked_numel(Shape{kBig, kBig}.span()));
  CHECK_FALSE(checked_numel(Shape{2, -1}.span()));
  CHECK_FALSE(checked_numel(Shape{std::numeric_limits<std::int64_t>::min()}.span()));
}

TEST_CASE("a dim order is a permutation") {
  CHECK(order_from({0, 2, 3, 1}) == DimOrder::channels_last());
  CHECK(order_from({})->rank() == 0);
  CHECK_FALSE(order_from({0, 0}));
  CHECK_FALSE(order_from({1, 2}));
  CHECK_FALSE(order_from({0, 255}));
  CHECK_FALSE(order_from(std::vector<std::uint8_t>(kMaxRank + 1, 0)));
}

TEST_CASE("a dim order says whether it is row-major") {
  CHECK(DimOrder::contiguous(3).is_contiguous());
  CHECK(DimOrder::contiguous(0).is_contiguous());
  CHECK_FALSE(DimOrder::channels_last().is_contiguous());
  CHECK(DimOrder::channels_last().to_string() == "[0, 2, 3, 1]");
}

TEST_CASE("strides follow from sizes and dim order") {
  CHECK(strides_of(Shape{2, 3, 4}, DimOrder::contiguous(3)) == Shape{12, 4, 1});
  CHECK(strides_of(Shape{1, 3, 5, 7}, DimOrder::channels_last()) == Shape{105, 1, 21, 3});
  CHECK(strides_of(Shape{2, 0, 4}, DimOrder::contiguous(3)) == Shape{4, 4, 1});
  CHECK(strides_of(Shape{}, DimOrder::contiguous(0)) == Shape{});
}

TEST_CASE("two dim orders are one layout where only sizes of 1 move") {
  const DimOrder rows = DimOrder::contiguous(4);
  const DimOrder channels_last = DimOrder::channels_last();
  CHECK(same_layout(Shape{1, 1, 5, 7}, rows, channels_last));
  CHECK(same_layout(Shape{2, 3, 1, 1}, rows, channels_last));
  CHECK_FALSE(same_layout(Shape{1, 3, 5, 7}, rows, channels_last));
}
