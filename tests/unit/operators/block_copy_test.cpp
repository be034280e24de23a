// Strided copies against a plain loop, over random plans that reach every kernel.
#include "operators/block_copy.h"

#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch_all.hpp>

using namespace pterun;
using namespace pterun::operators;

namespace {

void slow_copy(std::size_t size, std::span<const CopyDim> dims, const std::byte* from, std::byte* to) {
  if (dims.empty()) {
    std::memcpy(to, from, size);
    return;
  }
  const auto width = static_cast<std::int64_t>(size);
  for (std::int64_t i = 0; i < dims[0].count; ++i) {
    slow_copy(size, dims.subspan(1), from + i * dims[0].from_step * width, to + i * dims[0].to_step * width);
  }
}

// Runs a copy and the slow one into buffers with the same pattern; every byte has to agree, those between too.
bool agrees(ThreadPool& threads, std::size_t size, const std::vector<CopyDim>& dims) {
  std::int64_t from_low = 0, from_high = 0, to_low = 0, to_high = 0;
  for (const CopyDim& dim : dims) {
    const std::int64_t last = dim.count > 0 ? dim.count - 1 : 0;
    (dim.from_step < 0 ? from_low : from_high) += last * dim.from_step;
    (dim.to_step < 0 ? to_low : to_high) += last * dim.to_step;
  }
  std::vector<std::byte> source(static_cast<std::size_t>(from_high - from_low + 1) * size);
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<std::byte>(i * 131 + i / 251);
  std::vector<std::byte> fast(static_cast<std::size_t>(to_high - to_low + 1) * size, std::byte{0xA5});
  std::vector<std::byte> slow = fast;
  const auto from_offset = static_cast<std::size_t>(-from_low) * size;
  const auto to_offset = static_cast<std::size_t>(-to_low) * size;
  copy_strided(threads, size, dims, source.data() + from_offset, fast.data() + to_offset);
  slow_copy(size, dims, source.data() + from_offset, slow.data() + to_offset);
  return fast == slow;
}

}  // namespace

TEST_CASE("strided copies equal a plain loop for random layouts") {
  const unsigned seed = Catch::getSeed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  ThreadPool threads(2);
  for (int round = 0; round < 400; ++round) {
    const std::size_t size = std::size_t{1} << (random() % 5);
    std::vector<CopyDim> dims(random() % 5);
    for (CopyDim& dim : dims)
      dim.count = random() % 8 == 0 ? 40 : 1 + random() % 7;
    // The destination: a dense nest with gaps, dimensions shuffled.
    std::int64_t step = 1;
    for (CopyDim& dim : dims) {
      dim.to_step = step * (random() % 4 == 0 ? 2 : 1);
      step = dim.to_step * dim.count;
    }
    std::shuffle(dims.begin(), dims.end(), random);
    step = 1;
    for (CopyDim& dim : dims) {
      dim.from_step = random() % 6 == 0 ? 0 : step;
      if (random() % 6 == 0) dim.from_step = -dim.from_step;
      step *= dim.count;
    }
    std::shuffle(dims.begin(), dims.end(), random);
    CAPTURE(round, size);
    REQUIRE(agrees(threads, size, dims));
  }
}

TEST_CASE("transposes of every word size are right at tile borders") {
  ThreadPool threads(1);
  for (const std::size_t size : {1, 2, 4, 8, 16}) {
    for (const std::int64_t rows : {4, 15, 16, 17, 64, 67}) {
      for (const std::int64_t columns : {4, 16, 63, 64, 130}) {
        CAPTURE(size, rows, columns);
        REQUIRE(agrees(threads, size, {{rows, columns, 1}, {columns, 1, rows}}));
      }
    }
  }
}

TEST_CASE("large copies are the same on several threads") {
  ThreadPool threads(2);
  CHECK(agrees(threads, 4, {{1 << 19, 1, 1}}));                                   // one memcpy
  CHECK(agrees(threads, 4, {{700, 900, 1}, {900, 1, 700}}));                      // one transpose
  CHECK(agrees(threads, 4, {{3, 0, 300000}, {300000, 1, 1}}));                    // repeats
  CHECK(agrees(threads, 2, {{40, 20000, 20000}, {100, 1, 200}, {200, 100, 1}}));  // a batch of transposes
  CHECK(agrees(threads, 1, {{5000, 300, 256}, {250, 1, 1}}));                     // rows with gaps
}

TEST_CASE("an empty block is left alone") {
  ThreadPool threads(1);
  CHECK(agrees(threads, 4, {{0, 1, 1}, {5, 1, 1}}));
}

TEST_CASE("a fill writes one element everywhere in its block only") {
  ThreadPool threads(1);
  std::vector<std::int16_t> memory(24, 7);
  const std::int16_t value = 300;
  fill_block(threads, 2, {3, 4}, &value, memory.data() + 1, Strides{8, 1});
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool inside = i >= 1 && (i - 1) % 8 < 4;
    CHECK(memory[i] == (inside ? 300 : 7));
  }
}
