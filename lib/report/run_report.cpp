// Small computations that every format shares.
#include "report/run_report.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pterun::report {

std::string_view evidence_name(Evidence evidence) {
  static constexpr std::array<std::string_view, 5> kNames = {"parsed", "accepted", "stored", "delivered", "effective"};
  return kNames[static_cast<std::size_t>(evidence) - 1];
}

TimingSummary summarize(const std::vector<std::int64_t>& samples_ns) {
  TimingSummary summary;
  summary.runs = samples_ns.size();
  if (samples_ns.empty()) return summary;
  std::vector<std::int64_t> sorted = samples_ns;
  std::ranges::sort(sorted);
  const std::size_t count = sorted.size();
  summary.min_ns = sorted.front();
  summary.p50_ns = count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
  // Nearest rank: the smallest sample that at least a share p of the samples does not exceed.
  const auto percentile = [&](std::size_t hundredths) -> std::optional<std::int64_t> {
    if (count * (100 - hundredths) < 500) return std::nullopt;
    return sorted[(count * hundredths + 99) / 100 - 1];
  };
  summary.p90_ns = percentile(90);
  summary.p99_ns = percentile(99);
  double sum = 0;
  for (const std::int64_t sample : sorted)
    sum += static_cast<double>(sample);
  summary.mean_ns = sum / static_cast<double>(count);
  double squares = 0;
  for (const std::int64_t sample : sorted)
    squares += std::pow(static_cast<double>(sample) - summary.mean_ns, 2);
  summary.stddev_ns = count < 2 ? 0 : std::sqrt(squares / static_cast<double>(count - 1));
  return summary;
}

TimingSummary steady_summary(const Timing& timing) {
  return timing.summary ? *timing.summary : summarize(timing.steady_ns);
}

std::size_t stride_for(std::size_t runs) {
  return std::max<std::size_t>((runs + kMostSamples - 1) / kMostSamples, 1);
}

}  // namespace pterun::report
