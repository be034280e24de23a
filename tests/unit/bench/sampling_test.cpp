// The sampling loop on a simulated clock.
#include "bench/sampling.h"

#include <functional>
#include <memory>

#include <catch2/catch_test_macros.hpp>

#include "bench/statistics.h"
#include "unit/bench/simulated_timings.h"

using namespace pterun;
using namespace pterun::bench;

namespace {

// A clock that moves by what each execution takes.
struct Simulation {
  std::function<std::int64_t(std::uint64_t run)> time_of;
  std::uint64_t runs = 0;
  std::int64_t clock_ns = 0;

  SamplingHooks hooks() {
    return {.execute = [this]() -> Result<std::int64_t> {
              const std::int64_t elapsed_ns = time_of(runs++);
              clock_ns += elapsed_ns;
              return elapsed_ns;
            },
            .now_ns = [this] { return clock_ns; },
            .progress = {}};
  }
};

constexpr std::int64_t kMs = 1'000'000;

}  // namespace

TEST_CASE("a given number of warm-up executions is kept and left out of the samples") {
  Simulation simulation{[](std::uint64_t run) { return run < 3 ? 100 * kMs : kMs; }};
  const auto samples = sample({.warmup = 3, .min_runs = 20, .min_time_ns = 0}, simulation.hooks());
  REQUIRE(samples.has_value());
  CHECK(samples->warmup_runs == 3);
  CHECK(samples->samples_ns == std::vector<std::int64_t>(20, kMs));
  CHECK(samples->stop == StopReason::kEnough);
}

TEST_CASE("warm-up goes on while times fall") {
  Simulation simulation{
      [](std::uint64_t run) { return run < 23 ? (40 - static_cast<std::int64_t>(run)) * kMs : 10 * kMs; }};
  const auto samples = sample({.min_runs = 5, .min_time_ns = 0}, simulation.hooks());
  REQUIRE(samples.has_value());
  CHECK(samples->warmup_runs >= 25);
  CHECK(samples->warmup_stable);
  CHECK(samples->samples_ns.front() == 10 * kMs);
}

TEST_CASE("warm-up that never settles ends and is told") {
  Simulation simulation{[](std::uint64_t run) { return static_cast<std::int64_t>(1e6 * std::pow(0.98, run)); }};
  const auto samples = sample({.min_runs = 5, .min_time_ns = 0}, simulation.hooks());
  REQUIRE(samples.has_value());
  CHECK(samples->warmup_runs == 200);
  CHECK_FALSE(samples->warmup_stable);
}

TEST_CASE("sampling goes on for the least time and stops at the most") {
  Simulation steady{[](std::uint64_t) { return kMs; }};
  const auto least = sample({.warmup = 0, .min_runs = 3, .min_time_ns = 50 * kMs}, steady.hooks());
  CHECK(least->samples_ns.size() == 50);
  const auto most = sample({.warmup = 0, .min_runs = 1000, .min_time_ns = 0, .max_time_ns = 20 * kMs}, steady.hooks());
  CHECK(most->samples_ns.size() == 20);
  CHECK(most->stop == StopReason::kMaxTime);
  const auto one = sample({.warmup = 0, .min_runs = 10, .min_time_ns = 0, .max_time_ns = 0}, steady.hooks());
  CHECK(one->samples_ns.size() == 1);
}

TEST_CASE("sampling until the interval is narrow stops when it is, and not before") {
  auto machine = std::make_shared<SimulatedMachine>(Noise{}, 5);
  Simulation simulation{
      [machine](std::uint64_t) { return static_cast<std::int64_t>(1e6 * std::exp(0.1 * machine->normal())); }};
  const auto samples = sample({.warmup = 0, .min_runs = 10, .min_time_ns = 0, .until_ci = 0.02}, simulation.hooks());
  REQUIRE(samples.has_value());
  CHECK(samples->stop == StopReason::kInterval);
  CHECK(*median_ci_width(samples->samples_ns) <= 0.02);
  // The width is about 2 * 1.96 * 1.2533 * 0.1 / sqrt(n): some 600 runs.
  CHECK(samples->samples_ns.size() > 250);
  CHECK(samples->samples_ns.size() < 1200);
}

TEST_CASE("an error of an execution ends sampling with it") {
  SamplingHooks hooks;
  int calls = 0;
  hooks.now_ns = [] { return std::int64_t{0}; };
  hooks.execute = [&]() -> Result<std::int64_t> {
    if (++calls == 4) return fail(ErrorCode::kInterrupted, "stop");
    return 5;
  };
  const auto samples = sample({.warmup = 2, .min_runs = 10}, hooks);
  REQUIRE_FALSE(samples.has_value());
  CHECK(samples.error().code == ErrorCode::kInterrupted);
}
