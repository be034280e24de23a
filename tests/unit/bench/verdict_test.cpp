// Verdicts: the distribution behind them, their false-positive rate and their power on simulated machines.
#include "bench/verdict.h"

#include <array>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "bench/student_t.h"
#include "unit/bench/simulated_timings.h"

using namespace pterun::bench;
using Catch::Approx;

namespace {

constexpr std::size_t kProcesses = 10;
constexpr std::size_t kRuns = 15;
constexpr double kMargin = 0.02;

// How often each verdict is given in 1000 benchmarks of two cells.
std::array<int, 4> verdicts(Noise noise, double true_ratio, std::uint64_t seed) {
  SimulatedMachine machine(noise, seed);
  std::array<int, 4> counts{};
  for (int i = 0; i < 1000; ++i) {
    const SimulatedPair pair = simulate_pair(machine, true_ratio, kProcesses, kRuns);
    const RatioTest test = paired_ratio(pair.candidate_ns, pair.baseline_ns, kMargin);
    ++counts[static_cast<std::size_t>(judge(std::span(&test, 1)).front().verdict)];
  }
  return counts;
}

int called_different(const std::array<int, 4>& counts) {
  return counts[static_cast<std::size_t>(Verdict::kFaster)] + counts[static_cast<std::size_t>(Verdict::kSlower)];
}

}  // namespace

TEST_CASE("the t distribution has the values of the tables") {
  CHECK(student_t_quantile(0.975, 1) == Approx(12.7062047).epsilon(1e-8));
  CHECK(student_t_quantile(0.975, 9) == Approx(2.2621572).epsilon(1e-7));
  CHECK(student_t_quantile(0.95, 30) == Approx(1.6972609).epsilon(1e-7));
  CHECK(student_t_quantile(0.025, 9) == Approx(-2.2621572).epsilon(1e-7));
  CHECK(student_t_cdf(0, 5) == Approx(0.5));
  CHECK(student_t_cdf(2.2621572, 9) == Approx(0.975).epsilon(1e-7));
}

TEST_CASE("1000 A/A benchmarks: the false-positive rate is at most the stated 5 %") {
  // The t test keeps 5 % for normal noise and less for noise with outliers.
  CHECK(called_different(verdicts({}, 1.0, 1)) <= 50);
  CHECK(called_different(verdicts({.drift = 0.5}, 1.0, 2)) <= 50);
  CHECK(called_different(verdicts({.outliers = 0.15}, 1.0, 3)) <= 50);
  CHECK(called_different(verdicts({.process = 0.05, .slow_processes = 0.1}, 1.0, 4)) <= 50);
}

TEST_CASE("1000 benchmarks of a true 3 % difference: it is found with the stated power of 90 %") {
  const auto slower = verdicts({}, 1.03, 5);
  CHECK(slower[static_cast<std::size_t>(Verdict::kSlower)] >= 900);
  CHECK(slower[static_cast<std::size_t>(Verdict::kFaster)] == 0);
  CHECK(slower[static_cast<std::size_t>(Verdict::kEquivalent)] <= 50);
  const auto faster = verdicts({}, 1 / 1.03, 6);
  CHECK(faster[static_cast<std::size_t>(Verdict::kFaster)] >= 900);
}

TEST_CASE("equal cells are called equivalent when noise is small against the margin") {
  const auto counts = verdicts({.process = 0.005}, 1.0, 7);
  CHECK(counts[static_cast<std::size_t>(Verdict::kEquivalent)] >= 800);
  const auto noisy = verdicts({.process = 0.1}, 1.0, 8);
  CHECK(noisy[static_cast<std::size_t>(Verdict::kInconclusive)] >= 900);
}

TEST_CASE("among ten equal cells one false verdict or more is as rare as with one") {
  SimulatedMachine machine({.process = 0.05}, 9);
  int families = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<RatioTest> tests;
    for (int cell = 0; cell < 10; ++cell) {
      const SimulatedPair pair = simulate_pair(machine, 1.0, kProcesses, 3);
      tests.push_back(paired_ratio(pair.candidate_ns, pair.baseline_ns, kMargin));
    }
    int wrong = 0;
    for (const Judgement& judgement : judge(tests))
      wrong += judgement.verdict == Verdict::kFaster || judgement.verdict == Verdict::kSlower;
    families += wrong > 0;
  }
  CHECK(families <= 50);
}

TEST_CASE("the interval of the ratio covers the truth 95 times in 100") {
  SimulatedMachine machine({}, 10);
  int paired = 0;
  int unpaired = 0;
  for (int i = 0; i < 1000; ++i) {
    const SimulatedPair pair = simulate_pair(machine, 1.03, kProcesses, kRuns);
    const Interval a = *paired_ratio(pair.candidate_ns, pair.baseline_ns, kMargin).interval;
    const Interval b = *unpaired_ratio(pair.candidate_ns, pair.baseline_ns, kMargin).interval;
    paired += a.low <= 1.03 && 1.03 <= a.high;
    unpaired += b.low <= 1.03 && 1.03 <= b.high;
  }
  CHECK(paired >= 935);
  CHECK(unpaired >= 935);
}

TEST_CASE("one process a cell supports no verdict") {
  const std::array<double, 1> a = {100};
  const std::array<double, 1> b = {200};
  for (const RatioTest& test : {paired_ratio(a, b, kMargin), unpaired_ratio(a, b, kMargin)}) {
    CHECK(test.ratio == Approx(0.5));
    CHECK_FALSE(test.interval.has_value());
    CHECK(judge(std::span(&test, 1)).front().verdict == Verdict::kInconclusive);
  }
}

TEST_CASE("Holm's correction is the one of the textbook") {
  const std::array<double, 4> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> corrected = holm(p);
  CHECK(corrected[3] == Approx(0.02));
  CHECK(corrected[0] == Approx(0.03));
  CHECK(corrected[2] == Approx(0.06));
  CHECK(corrected[1] == Approx(0.06));
  CHECK(holm({}).empty());
}

TEST_CASE("an A/A control rejects about as often as it says") {
  SimulatedMachine machine({}, 12);
  const SimulatedPair pair = simulate_pair(machine, 1.0, kProcesses, kRuns);
  const auto rate = false_positive_rate(pair.candidate_ns, pair.baseline_ns, 1);
  REQUIRE(rate.has_value());
  CHECK(*rate < 0.1);
  CHECK(rate == false_positive_rate(pair.candidate_ns, pair.baseline_ns, 1));
  const std::array<double, 2> few = {1, 2};
  CHECK_FALSE(false_positive_rate(few, few, 1).has_value());
}
