// Is one configuration faster than another? A verdict on per-process medians: one number a process, because runs inside
// one process share its memory layout, thread placement and clock speed and are no independent evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/statistics.h"

namespace pterun::bench {

enum class Verdict : std::uint8_t { kFaster, kSlower, kEquivalent, kInconclusive };
std::string_view verdict_name(Verdict verdict);  // "faster", "slower", "equivalent", "inconclusive"

// One candidate against its baseline, of the logarithms of the times.
struct RatioTest {
  double ratio = 1;                    // candidate / baseline, geometric mean; 1.03 is 3 % slower
  std::optional<Interval> interval;    // 95 % of the ratio; none with fewer than 2 pairs (or processes on a side)
  std::optional<double> p_different;   // two-sided t test of ratio == 1
  std::optional<double> p_equivalent;  // two one-sided t tests of the ratio inside [1 / (1 + margin), 1 + margin]
  std::size_t pairs = 0;               // paired: pairs; unpaired: the smaller side
};

// Times of equal blocks of time, pair by pair: what drifts from block to block falls out. All positive; equal lengths.
RatioTest paired_ratio(std::span<const double> candidate_ns, std::span<const double> baseline_ns, double margin);

// Times that were measured apart, such as a report of last week: Welch's t test.
RatioTest unpaired_ratio(std::span<const double> candidate_ns, std::span<const double> baseline_ns, double margin);

// Holm's correction: p-values multiplied so that the chance of one false rejection or more among all stays below the
// level. In the order given.
std::vector<double> holm(std::span<const double> p_values);

struct Judgement {
  Verdict verdict = Verdict::kInconclusive;
  std::optional<double> p_different;   // corrected
  std::optional<double> p_equivalent;  // corrected
};

// Verdicts at level 1 - kConfidence, both families of tests corrected for their number. `equivalent` goes before
// `faster` and `slower`: a difference that is real but smaller than the margin does not matter.
std::vector<Judgement> judge(std::span<const RatioTest> tests);

// What an A/A control says: the share of random sign flips of the paired log differences at which the test calls A
// different from A. Near 5 % when the test keeps its promise on this machine's noise. None with fewer than 3 pairs.
std::optional<double> false_positive_rate(std::span<const double> first_ns, std::span<const double> second_ns,
                                          std::uint64_t seed);

}  // namespace pterun::bench
