// Where bytes come from, through views, overwriting and neighbours in memory.
#include "pterun/diverge/value_sources.h"

#include <array>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;
using namespace pterun::app;

namespace {

std::vector<std::size_t> sources(const MemorySources& memory, const Tensor& tensor) {
  std::vector<std::size_t> results;
  memory.collect(tensor, results);
  return results;
}

}  // namespace

TEST_CASE("bytes come from the latest result that wrote all of them, and from earlier ones where it did not") {
  std::array<float, 8> bytes{};
  const Tensor whole(DType::kFloat32, {8}, bytes.data());
  const Tensor left(DType::kFloat32, {4}, bytes.data());
  const Tensor right(DType::kFloat32, {2, 2}, bytes.data() + 4);
  MemorySources memory;
  CHECK(sources(memory, whole).empty());
  memory.write(whole, {1});
  CHECK(sources(memory, left) == std::vector<std::size_t>{1});
  memory.write(left, {2});
  CHECK(sources(memory, left) == std::vector<std::size_t>{2});
  CHECK(sources(memory, right) == std::vector<std::size_t>{1});
  CHECK(sources(memory, whole) == std::vector<std::size_t>{2, 1});
  memory.write(right, {3, 4});
  CHECK(sources(memory, whole) == std::vector<std::size_t>{3, 4, 2, 1});
  memory.write(whole, {});  // an input
  CHECK(sources(memory, right).empty());
  memory.write(right, {5});
  memory.clear();
  CHECK(sources(memory, right).empty());
}

TEST_CASE("a tensor without elements comes from nothing") {
  float byte = 0;
  const Tensor empty(DType::kFloat32, {0}, &byte);
  const Tensor one(DType::kFloat32, {1}, &byte);
  MemorySources memory;
  memory.write(one, {1});
  memory.write(empty, {2});
  CHECK(sources(memory, empty).empty());
  CHECK(sources(memory, one) == std::vector<std::size_t>{1});
}
