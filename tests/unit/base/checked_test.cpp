// Arithmetic on sizes and offsets at its limits.
#include "base/checked.h"

#include <cstdint>
#include <limits>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinSigned = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("sums are given until they leave the type") {
  CHECK(checked_add<std::uint64_t>(kMax - 1, 1) == kMax);
  CHECK_FALSE(checked_add<std::uint64_t>(kMax, 1));
  CHECK(checked_add<std::int64_t>(kMaxSigned, kMinSigned) == -1);
  CHECK_FALSE(checked_add<std::int64_t>(kMinSigned, -1));
  CHECK_FALSE(checked_add<std::int64_t>(kMaxSigned, 1));
  CHECK_FALSE(checked_add<std::uint8_t>(200, 56));
}

TEST_CASE("products are given until they leave the type") {
  CHECK(checked_mul<std::uint64_t>(1ull << 32, (1ull << 32) - 1) == kMax - (1ull << 32) + 1);
  CHECK_FALSE(checked_mul<std::uint64_t>(1ull << 32, 1ull << 32));
  CHECK(checked_mul<std::uint64_t>(kMax, 0) == 0);
  CHECK_FALSE(checked_mul<std::int64_t>(kMinSigned, -1));
  CHECK(checked_mul<std::int64_t>(kMinSigned, 1) == kMinSigned);
}

TEST_CASE("a range fits when it lies inside, whatever its sum would be") {
  STATIC_CHECK(range_fits(0, 0, 0));
  STATIC_CHECK(range_fits(4, 4, 8));
  STATIC_CHECK(range_fits(8, 0, 8));
  STATIC_CHECK_FALSE(range_fits(5, 4, 8));
  STATIC_CHECK_FALSE(range_fits(9, 0, 8));
  STATIC_CHECK_FALSE(range_fits(kMax, 2, 8));  // offset + length is 1
  STATIC_CHECK_FALSE(range_fits(2, kMax, 8));
}

TEST_CASE("rounding up reaches the next multiple and keeps multiples") {
  STATIC_CHECK(round_up(0, 64) == 0);
  STATIC_CHECK(round_up(1, 64) == 64);
  STATIC_CHECK(round_up(64, 64) == 64);
  STATIC_CHECK(round_up(65, 64) == 128);
  STATIC_CHECK(round_up(7, 1) == 7);
}
