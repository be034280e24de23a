// Statistics against values worked out by hand and against simulation.
#include "bench/statistics.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "unit/bench/simulated_timings.h"

using namespace pterun::bench;
using Catch::Approx;

TEST_CASE("statistics of a small sample are those worked out by hand") {
  const std::vector<std::int64_t> samples = {4, 2, 8, 6, 10};
  const Statistics s = summarize(samples);
  CHECK(s.runs == 5);
  CHECK(s.min_ns == 2);
  CHECK(s.max_ns == 10);
  CHECK(s.p50.value_ns == 6);
  CHECK(s.mean_ns == Approx(6));
  CHECK(s.stddev_ns == Approx(3.16227766));
  CHECK(s.mad_ns == Approx(2));
  CHECK(s.cv == Approx(0.527046));
  CHECK_FALSE(s.median_ci.has_value());
  CHECK(summarize(std::vector<std::int64_t>{1, 4}).p50.value_ns == 2);
}

TEST_CASE("no samples give no numbers") {
  const Statistics s = summarize({});
  CHECK(s.runs == 0);
  CHECK_FALSE(s.p50.value_ns.has_value());
  CHECK(s.p99.needed_runs == 500);
}

TEST_CASE("a percentile that the sample cannot support is null and says how many runs it needs") {
  std::vector<std::int64_t> samples(49);
  std::iota(samples.begin(), samples.end(), 1);
  CHECK_FALSE(summarize(samples).p90.value_ns.has_value());
  CHECK(summarize(samples).p90.needed_runs == 50);
  samples.push_back(50);
  CHECK(summarize(samples).p90.value_ns == 45);
  CHECK_FALSE(summarize(samples).p99.value_ns.has_value());
  CHECK(summarize(samples).p99.needed_runs == 500);
  samples.resize(500);
  std::iota(samples.begin(), samples.end(), 1);
  CHECK(summarize(samples).p99.value_ns == 495);
}

TEST_CASE("the ranks of the median's interval are those of the binomial tables") {
  CHECK_FALSE(median_ranks(5).has_value());
  // Ranks from 0; tables count from 1: n = 6: 1 and 6, n = 10: 2 and 9, n = 20: 6 and 15, n = 100: 40 and 61.
  const std::vector<std::array<std::size_t, 3>> table = {{6, 0, 5}, {10, 1, 8}, {20, 5, 14}, {100, 39, 60}};
  for (const auto& [count, low, high] : table) {
    CAPTURE(count);
    REQUIRE(median_ranks(count).has_value());
    CHECK(median_ranks(count)->low == low);
    CHECK(median_ranks(count)->high == high);
  }
  // The approximation above 1000 is not narrower than the exact ranks next to it.
  CHECK(median_ranks(1001)->high - median_ranks(1001)->low >= median_ranks(1000)->high - median_ranks(1000)->low);
}

TEST_CASE("the interval of the median covers the true median at least 95 times in 100") {
  SimulatedMachine machine({}, 11);
  for (const std::size_t runs : {7u, 30u, 200u}) {
    int covered = 0;
    for (int repeat = 0; repeat < 1000; ++repeat) {
      std::vector<std::int64_t> samples;
      for (std::size_t i = 0; i < runs; ++i)
        samples.push_back(static_cast<std::int64_t>(1e6 * std::exp(0.2 * machine.normal())));
      const auto ci = *summarize(samples).median_ci;
      covered += ci.low <= 1e6 && 1e6 <= ci.high;
    }
    CAPTURE(runs);
    CHECK(covered >= 935);  // 950 less two standard deviations of the simulation
  }
}

TEST_CASE("outliers are counted and do not move median and MAD") {
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 100; ++i)
    samples.push_back(1000 + i % 10);
  const Statistics clean = summarize(samples);
  CHECK(clean.outliers == 0);
  samples[17] = 50000;
  samples[60] = 9000;
  const Statistics dirty = summarize(samples);
  CHECK(dirty.outliers == 2);
  CHECK(static_cast<double>(dirty.p50.value_ns.value_or(0)) ==
        Approx(static_cast<double>(clean.p50.value_ns.value_or(0))).margin(1));
  CHECK(dirty.mad_ns == Approx(clean.mad_ns).margin(1));
  CHECK(summarize(std::vector<std::int64_t>(20, 7)).outliers == 0);
}

TEST_CASE("drift is found when it is there and rarely when it is not") {
  SimulatedMachine machine({}, 3);
  std::vector<std::int64_t> rising;
  for (int i = 0; i < 300; ++i)
    rising.push_back(static_cast<std::int64_t>(1e6 * (1 + 0.1 * i / 300) * std::exp(0.03 * machine.normal())));
  CHECK(summarize(rising).drift.significant);
  CHECK(summarize(rising).drift.relative == Approx(0.066).margin(0.03));
  std::ranges::reverse(rising);
  CHECK(summarize(rising).drift.relative < -0.03);
  int found = 0;
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<std::int64_t> steady;
    for (int i = 0; i < 60; ++i)
      steady.push_back(static_cast<std::int64_t>(1e6 * std::exp(0.05 * machine.normal())));
    found += summarize(steady).drift.significant;
  }
  CHECK(found <= 15);  // 1 % of 500 is 5
}
