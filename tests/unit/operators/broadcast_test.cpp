#include "operators/broadcast.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "operators/block_copy.h"

namespace pterun::operators {
namespace {

TEST_CASE("shapes broadcast from the right") {
  CHECK(broadcast_shapes({2, 1, 4}, {3, 1}) == Shape{2, 3, 4});
  CHECK(broadcast_shapes({}, {5}) == Shape{5});
  CHECK(broadcast_shapes({0, 1}, {1, 3}) == Shape{0, 3});
  CHECK(broadcast_shapes({2}, {3}) == std::nullopt);
  CHECK(broadcast_shapes({0}, {2}) == std::nullopt);
}

TEST_CASE("a shape broadcasts to another only by repeating") {
  CHECK(broadcasts_to({1, 3}, {2, 3}));
  CHECK_FALSE(broadcasts_to({2, 3}, {1, 3}));
  CHECK_FALSE(broadcasts_to({1, 1, 3}, {2, 3}));
}

TEST_CASE("loops that run on merge into one") {
  const StridedSpan flat(Shape{2, 3, 4}, Strides{12, 4, 1});
  CHECK(flat.rank() == 1);
  CHECK(flat.is_flat());
  const StridedSpan repeated(Shape{2, 3, 4}, Strides{0, 0, 0});
  CHECK(repeated.is_constant());
  const StridedSpan mixed(Shape{2, 3, 1, 4}, Strides{0, 4, 99, 1});
  CHECK(mixed.rank() == 2);
  CHECK(mixed.count() == 24);
}

// Offsets of all elements by the definition.
std::vector<std::int64_t> offsets(const Shape& sizes, const Strides& strides) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < sizes.numel(); ++i) {
    std::int64_t rest = i;
    std::int64_t offset = 0;
    for (std::size_t dim = sizes.rank(); dim-- > 0;) {
      offset += rest % sizes[dim] * strides[dim];
      rest /= sizes[dim];
    }
    result.push_back(offset);
  }
  return result;
}

TEST_CASE("a cursor visits every element in order, from any start and in any steps") {
  const Shape sizes{3, 2, 5};
  const Strides strides{7, 100, 3};
  const std::vector<std::int64_t> expected = offsets(sizes, strides);
  const StridedSpan span(sizes, strides);
  for (std::int64_t start = 0; start < sizes.numel(); ++start) {
    for (const std::int64_t limit : {1, 2, 5}) {
      StridedCursor cursor(span, start);
      std::vector<std::int64_t> seen;
      while (static_cast<std::int64_t>(seen.size()) < sizes.numel() - start) {
        const std::int64_t step = std::min(cursor.run(), limit);
        for (std::int64_t i = 0; i < step; ++i)
          seen.push_back(cursor.offset() + i * span.inner_stride());
        cursor.advance(step);
      }
      CHECK(seen == std::vector<std::int64_t>(expected.begin() + start, expected.end()));
    }
  }
}

void check_copy(const Shape& sizes, const Strides& strides, std::int64_t base, std::size_t from_count) {
  std::vector<std::uint32_t> from(from_count);
  std::iota(from.begin(), from.end(), 1u);
  std::vector<std::uint32_t> to(static_cast<std::size_t>(sizes.numel()), 0xFFFFFFFFu);
  ThreadPool threads(2);
  copy_block(threads, sizeof(std::uint32_t), sizes, from.data() + base, strides, to.data(),
             strides_of(sizes, DimOrder::contiguous(sizes.rank())));
  const std::vector<std::int64_t> expected = offsets(sizes, strides);
  bool equal = true;
  for (std::size_t i = 0; i < to.size(); ++i)
    equal &= to[i] == from[static_cast<std::size_t>(base + expected[i])];
  CHECK(equal);
}

TEST_CASE("strided copies place every element") {
  check_copy({2, 3, 4}, {12, 4, 1}, 0, 24);
  check_copy({70, 45}, {1, 70}, 0, 3150);                     // a plain transpose with ragged tiles
  check_copy({3, 70, 5, 45}, {15750, 1, 70, 350}, 0, 47250);  // rows not next to the innermost loop
  check_copy({4, 300}, {0, 1}, 0, 300);                       // repeats a row
  check_copy({300, 7}, {1, 0}, 0, 300);                       // repeats each element
  check_copy({10}, {-1}, 9, 10);                              // backwards
  check_copy({0, 3}, {3, 1}, 0, 1);
  check_copy({}, {}, 3, 8);
  check_copy({400, 500}, {1, 400}, 0, 200000);  // on several threads
}

TEST_CASE("a tensor broadcasts into another dim order") {
  std::vector<float> from = {1, 2, 3};
  std::vector<float> to(12, 0);
  const Tensor source(DType::kFloat32, {3, 1, 1}, from.data());
  Tensor destination(DType::kFloat32, {1, 3, 2, 2}, DimOrder::channels_last(), to.data());
  ThreadPool threads(1);
  copy_broadcast(threads, source, destination);
  CHECK(to == std::vector<float>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
  copy_broadcast(threads, destination, destination);  // an alias onto itself
  CHECK(to == std::vector<float>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3});
}

TEST_CASE("long runs of one element are filled to their end") {
  ThreadPool threads(1);
  for (const std::int64_t count : {1, 2, 31, 32, 33, 100, 1000}) {
    std::vector<std::uint16_t> to(static_cast<std::size_t>(count) + 1, 7);
    const std::uint16_t value = 0x1234;
    fill_block(threads, 2, {count}, &value, to.data(), {1});
    CHECK(std::count(to.begin(), to.end(), value) == count);
    CHECK(to.back() == 7);
  }
}

}  // namespace
}  // namespace pterun::operators
