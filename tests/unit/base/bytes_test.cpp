// Little-endian reads and sub-ranges that never leave their bytes.
#include "base/bytes.h"

#include <array>
#include <cstdint>
#include <limits>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
const std::array kData = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{0xff}};

}  // namespace

TEST_CASE("numbers are read little endian at any alignment") {
  CHECK(read_le<std::uint8_t>(kData, 4) == 0xff);
  CHECK(read_le<std::uint16_t>(kData, 1) == 0x0302);
  CHECK(read_le<std::uint32_t>(kData, 0) == 0x04030201u);
  CHECK(read_le<std::int32_t>(kData, 1) == static_cast<std::int32_t>(0xff040302u));
}

TEST_CASE("a number that does not fit is not read") {
  CHECK_FALSE(read_le<std::uint32_t>(kData, 2));
  CHECK_FALSE(read_le<std::uint64_t>(kData, 0));
  CHECK_FALSE(read_le<std::uint8_t>(kData, 5));
  CHECK_FALSE(read_le<std::uint16_t>(kData, kMax));  // the end would wrap to 1
  CHECK_FALSE(read_le<std::uint8_t>(Bytes(), 0));
}

TEST_CASE("a sub-range is the same memory") {
  const auto part = checked_subspan(kData, 1, 3);
  REQUIRE(part);
  CHECK(part->data() == kData.data() + 1);
  CHECK(part->size() == 3);
  CHECK(checked_subspan(kData, 5, 0)->empty());
}

TEST_CASE("a sub-range that leaves the bytes is none") {
  CHECK_FALSE(checked_subspan(kData, 3, 3));
  CHECK_FALSE(checked_subspan(kData, 6, 0));
  CHECK_FALSE(checked_subspan(kData, kMax, 2));
  CHECK_FALSE(checked_subspan(kData, 1, kMax));
}
