// The sampling loop: warm-up until stable, then timed executions until enough is known. It owns no clock and no model:
// both come in as functions, so that tests feed it simulated timings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace pterun::bench {

struct SamplingRules {
  std::optional<std::uint64_t> warmup = std::nullopt;  // none: until stable
  std::uint64_t min_runs = 10;
  std::int64_t min_time_ns = 1'000'000'000;
  std::int64_t max_time_ns = 60'000'000'000;      // of the timed executions, at least one is made; warm-up gets 1/10
  std::optional<double> until_ci = std::nullopt;  // relative width of the median's interval
};

// Why sampling stopped.
enum class StopReason : std::uint8_t { kEnough, kInterval, kMaxTime };
std::string_view stop_reason_name(StopReason reason);  // "enough", "interval", "max_time"

// What the loop does and asks.
struct SamplingHooks {
  // Executes once and returns the time it took, in ns. An error ends sampling with it.
  std::function<Result<std::int64_t>()> execute;
  std::function<std::int64_t()> now_ns;  // a monotonic clock
  // Called after every execution with the samples so far (empty during warm-up); may be empty.
  std::function<void(const std::vector<std::int64_t>& samples_ns)> progress;
};

struct Samples {
  std::uint64_t warmup_runs = 0;
  bool warmup_stable = true;  // false when the limit of the warm-up came before stable times
  std::vector<std::int64_t> samples_ns;
  StopReason stop = StopReason::kEnough;
};

// Warm-up until stable: windows of 5 executions; it ends when a window's median is not more than 2 % below that of the
// window before, after 200 executions, or after a tenth of the maximal time.
// The width of the interval is looked at each time the sample has grown by a tenth: looking after every run would stop
// on lucky streaks.
Result<Samples> sample(const SamplingRules& rules, const SamplingHooks& hooks);

}  // namespace pterun::bench
