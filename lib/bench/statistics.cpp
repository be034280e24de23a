// Order statistics come from one sorted copy; drift needs the order of measurement.
#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace pterun::bench {
namespace {

// The smallest sample that at least a share of hundredths/100 of the samples does not exceed.
Percentile percentile(const std::vector<std::int64_t>& sorted, std::size_t hundredths) {
  Percentile result;
  result.needed_runs = 500 / (100 - hundredths);
  if (sorted.size() < result.needed_runs) return result;
  result.value_ns = sorted[(sorted.size() * hundredths + 99) / 100 - 1];
  return result;
}

std::int64_t middle(const std::vector<std::int64_t>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
}

double median_of(std::span<const std::int64_t> samples_ns) {
  return median(std::vector<double>(samples_ns.begin(), samples_ns.end()));
}

// Medians of at most 200 blocks of equal length (the last one takes the rest), so that the test stays quadratic in
// little.
std::vector<double> block_medians(std::span<const std::int64_t> samples_ns) {
  constexpr std::size_t kBlocks = 200;
  const std::size_t blocks = std::min(kBlocks, samples_ns.size());
  std::vector<double> medians;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = samples_ns.size() * i / blocks;
    const std::size_t end = samples_ns.size() * (i + 1) / blocks;
    medians.push_back(median_of(samples_ns.subspan(begin, end - begin)));
  }
  return medians;
}

Drift find_drift(std::span<const std::int64_t> samples_ns) {
  constexpr std::size_t kFewest = 12;
  constexpr double kOnePercentTwoSided = 2.5758;
  Drift drift;
  if (samples_ns.size() < kFewest) return drift;
  const std::size_t third = samples_ns.size() / 3;
  const double first = median_of(samples_ns.first(third));
  const double last = median_of(samples_ns.last(third));
  drift.relative = first > 0 ? last / first - 1 : 0;
  const std::vector<double> medians = block_medians(samples_ns);
  double score = 0;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    for (std::size_t j = i + 1; j < medians.size(); ++j)
      score += (medians[j] > medians[i]) - (medians[j] < medians[i]);
  }
  const auto n = static_cast<double>(medians.size());
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  drift.significant = std::abs(score) - 1 > kOnePercentTwoSided * deviation;
  return drift;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*std::max_element(values.begin(), half) + *half) / 2;
}

std::optional<RankInterval> median_ranks(std::size_t count) {
  constexpr std::size_t kExact = 1000;
  if (count < 6) return std::nullopt;
  const auto n = static_cast<double>(count);
  if (count > kExact) {
    // Normal approximation of the binomial, rounded outwards.
    const double half = 1.959964 * std::sqrt(n) / 2;
    const double low = std::floor(n / 2 - half) - 1;
    return RankInterval{static_cast<std::size_t>(low), count - 1 - static_cast<std::size_t>(low)};
  }
  // The largest k with P(Bin <= k) <= 2.5 %; ranks k and n - 1 - k miss on either side with at most that.
  double term = std::exp2(-n);
  double below = 0;
  std::size_t low = 0;
  for (std::size_t k = 0; k < count / 2; ++k) {
    below += term;
    if (below > (1 - kConfidence) / 2) break;
    low = k;
    term *= (n - static_cast<double>(k)) / static_cast<double>(k + 1);
  }
  return RankInterval{low, count - 1 - low};
}

std::optional<double> median_ci_width(std::span<const std::int64_t> samples_ns) {
  const auto ranks = median_ranks(samples_ns.size());
  if (!ranks) return std::nullopt;
  std::vector<std::int64_t> sorted(samples_ns.begin(), samples_ns.end());
  std::ranges::sort(sorted);
  const auto center = static_cast<double>(middle(sorted));
  return center > 0 ? static_cast<double>(sorted[ranks->high] - sorted[ranks->low]) / center : 0;
}

Statistics summarize(std::span<const std::int64_t> samples_ns) {
  Statistics result;
  result.runs = samples_ns.size();
  result.p50.needed_runs = 1;
  result.p90.needed_runs = 50;
  result.p99.needed_runs = 500;
  if (samples_ns.empty()) return result;
  std::vector<std::int64_t> sorted(samples_ns.begin(), samples_ns.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  result.min_ns = sorted.front();
  result.max_ns = sorted.back();
  result.p50.value_ns = middle(sorted);
  result.p90 = percentile(sorted, 90);
  result.p99 = percentile(sorted, 99);
  double sum = 0;
  for (const std::int64_t sample : sorted)
    sum += static_cast<double>(sample);
  result.mean_ns = sum / n;
  double squares = 0;
  std::vector<double> deviations;
  deviations.reserve(sorted.size());
  const double center = median_of(sorted);
  for (const std::int64_t sample : sorted) {
    const double difference = static_cast<double>(sample) - result.mean_ns;
    squares += difference * difference;
    deviations.push_back(std::abs(static_cast<double>(sample) - center));
  }
  result.stddev_ns = sorted.size() < 2 ? 0 : std::sqrt(squares / (n - 1));
  result.cv = result.mean_ns > 0 ? result.stddev_ns / result.mean_ns : 0;
  result.mad_ns = median(deviations);
  if (const auto ranks = median_ranks(sorted.size())) {
    result.median_ci = Interval{static_cast<double>(sorted[ranks->low]), static_cast<double>(sorted[ranks->high])};
  }
  const double limit = kOutlierDeviations * 1.4826 * result.mad_ns;
  if (result.mad_ns > 0) {
    result.outliers = static_cast<std::size_t>(std::ranges::count_if(deviations, [&](double d) { return d > limit; }));
  }
  result.drift = find_drift(samples_ns);
  return result;
}

}  // namespace pterun::bench
