// Warm-up and the timed loop.
#include "bench/sampling.h"

#include <algorithm>
#include <array>

#include "bench/statistics.h"

namespace pterun::bench {
namespace {

constexpr std::size_t kWindow = 5;
constexpr std::uint64_t kMostWarmup = 200;
constexpr double kStable = 0.02;

Result<std::int64_t> execute(const SamplingHooks& hooks, const std::vector<std::int64_t>& samples_ns) {
  PTERUN_ASSIGN(const std::int64_t elapsed_ns, hooks.execute());
  if (hooks.progress) hooks.progress(samples_ns);
  return elapsed_ns;
}

Result<void> warm_up(const SamplingRules& rules, const SamplingHooks& hooks, Samples& samples) {
  const std::int64_t begin_ns = hooks.now_ns();
  double previous = 0;
  std::vector<double> window;
  const std::uint64_t most = rules.warmup.value_or(kMostWarmup);
  while (samples.warmup_runs < most) {
    if (!rules.warmup && samples.warmup_runs > 0 && hooks.now_ns() - begin_ns > rules.max_time_ns / 10) break;
    PTERUN_ASSIGN(const std::int64_t elapsed_ns, execute(hooks, samples.samples_ns));
    ++samples.warmup_runs;
    if (rules.warmup) continue;
    window.push_back(static_cast<double>(elapsed_ns));
    if (window.size() < kWindow) continue;
    const double current = median(window);
    if (previous > 0 && current >= previous * (1 - kStable)) return {};
    previous = current;
    window.clear();
  }
  samples.warmup_stable = rules.warmup.has_value();
  return {};
}

}  // namespace

std::string_view stop_reason_name(StopReason reason) {
  static constexpr std::array<std::string_view, 3> kNames = {"enough", "interval", "max_time"};
  return kNames[static_cast<std::size_t>(reason)];
}

Result<Samples> sample(const SamplingRules& rules, const SamplingHooks& hooks) {
  Samples samples;
  PTERUN_TRY(warm_up(rules, hooks, samples));
  const std::int64_t begin_ns = hooks.now_ns();
  std::size_t next_look = std::max<std::size_t>(rules.min_runs, 6);
  while (true) {
    PTERUN_ASSIGN(const std::int64_t elapsed_ns, execute(hooks, samples.samples_ns));
    samples.samples_ns.push_back(elapsed_ns);
    const std::int64_t spent_ns = hooks.now_ns() - begin_ns;
    if (samples.samples_ns.size() >= rules.min_runs && spent_ns >= rules.min_time_ns) {
      if (!rules.until_ci) break;
      if (samples.samples_ns.size() >= next_look) {
        next_look = samples.samples_ns.size() + samples.samples_ns.size() / 10 + 1;
        const auto width = median_ci_width(samples.samples_ns);
        samples.stop = StopReason::kInterval;
        if (width && *width <= *rules.until_ci) break;
      }
    }
    samples.stop = StopReason::kMaxTime;
    if (spent_ns >= rules.max_time_ns) break;
    samples.stop = StopReason::kEnough;
  }
  return samples;
}

}  // namespace pterun::bench
