// Robust statistics of timings: what a sample says, and what it is too small to say. Plain functions of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pterun::bench {

// A percentile, by nearest rank. None when fewer than 5 samples are expected beyond it; `needed_runs` says how many
// runs it takes, whether there were that many or not.
struct Percentile {
  std::optional<std::int64_t> value_ns;
  std::size_t needed_runs = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
};

// Slow change during the measurement: the median of the last third over that of the first one, minus 1, and whether it
// is more than chance: Mann and Kendall's trend test on at most 200 medians of equally long blocks, p below 0.01.
struct Drift {
  double relative = 0;
  bool significant = false;
};

struct Statistics {
  std::size_t runs = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
  Percentile p50;
  Percentile p90;
  Percentile p99;
  double mean_ns = 0;
  double stddev_ns = 0;  // n - 1
  double mad_ns = 0;     // median of |x - median|
  double cv = 0;         // stddev / mean
  // At least 95 % for the median, from order statistics (no assumption about the distribution, but independent runs);
  // none below 6 runs.
  std::optional<Interval> median_ci;
  std::size_t outliers = 0;  // more than 3.5 robust standard deviations (1.4826 MAD) away from the median
  Drift drift;
};

inline constexpr double kConfidence = 0.95;
inline constexpr double kOutlierDeviations = 3.5;

// `samples_ns` in the order in which they were measured. All zero for no samples.
Statistics summarize(std::span<const std::int64_t> samples_ns);

// The middle value, or the mean of the two middle ones; 0 for none.
double median(std::vector<double> values);

// Ranks (from 0) of the two order statistics that enclose the median of the population with at least 95 %
// confidence: P(low < Bin(n, 1/2) <= high) >= 0.95. None below 6 samples, where no two do.
struct RankInterval {
  std::size_t low = 0;
  std::size_t high = 0;
};
std::optional<RankInterval> median_ranks(std::size_t count);

// (high - low) / median of the interval of the median; none below 6 samples.
std::optional<double> median_ci_width(std::span<const std::int64_t> samples_ns);

}  // namespace pterun::bench
