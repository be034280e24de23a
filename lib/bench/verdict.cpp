// t tests on logarithms of per-process medians.
#include "bench/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "bench/student_t.h"

namespace pterun::bench {
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;  // n - 1
  double count = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments moments;
  moments.count = static_cast<double>(values.size());
  if (values.empty()) return moments;
  moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / moments.count;
  for (const double value : values)
    moments.variance += (value - moments.mean) * (value - moments.mean);
  moments.variance = values.size() < 2 ? 0 : moments.variance / (moments.count - 1);
  return moments;
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> result;
  for (const double value : values)
    result.push_back(std::log(value));
  return result;
}

std::vector<double> log_differences(std::span<const double> first, std::span<const double> second) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i)
    result.push_back(std::log(first[i] / second[i]));
  return result;
}

double two_sided(double mean, double error, double degrees) {
  if (error <= 0) return mean == 0 ? 1 : 0;
  return 2 * student_t_cdf(-std::abs(mean / error), degrees);
}

// P of a mean at most this far inside, were the truth at the bound `limit`.
double inside(double distance_to_limit, double error, double degrees) {
  if (error <= 0) return distance_to_limit > 0 ? 0 : 1;
  return student_t_cdf(-distance_to_limit / error, degrees);
}

RatioTest test_of(double mean, double error, double degrees, double margin) {
  RatioTest test;
  test.ratio = std::exp(mean);
  if (!(degrees > 0)) return test;
  const double reach = student_t_quantile((1 + kConfidence) / 2, degrees) * error;
  test.interval = Interval{std::exp(mean - reach), std::exp(mean + reach)};
  test.p_different = two_sided(mean, error, degrees);
  const double limit = std::log1p(margin);
  test.p_equivalent = std::max(inside(limit - mean, error, degrees), inside(limit + mean, error, degrees));
  return test;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> kNames = {"faster", "slower", "equivalent", "inconclusive"};
  return kNames[static_cast<std::size_t>(verdict)];
}

RatioTest paired_ratio(std::span<const double> candidate_ns, std::span<const double> baseline_ns, double margin) {
  const Moments moments = moments_of(log_differences(candidate_ns, baseline_ns));
  const double error = moments.count > 0 ? std::sqrt(moments.variance / moments.count) : 0;
  RatioTest test = test_of(moments.mean, error, moments.count - 1, margin);
  test.pairs = static_cast<std::size_t>(moments.count);
  return test;
}

RatioTest unpaired_ratio(std::span<const double> candidate_ns, std::span<const double> baseline_ns, double margin) {
  const Moments candidate = moments_of(logarithms(candidate_ns));
  const Moments baseline = moments_of(logarithms(baseline_ns));
  double degrees = 0;
  double error = 0;
  if (candidate.count >= 2 && baseline.count >= 2) {
    const double a = candidate.variance / candidate.count;
    const double b = baseline.variance / baseline.count;
    error = std::sqrt(a + b);
    degrees = candidate.count + baseline.count - 2;
    if (a + b > 0) degrees = (a + b) * (a + b) / (a * a / (candidate.count - 1) + b * b / (baseline.count - 1));
  }
  RatioTest test = test_of(candidate.mean - baseline.mean, error, degrees, margin);
  test.pairs = std::min(candidate_ns.size(), baseline_ns.size());
  return test;
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, p_values[order[rank]] * static_cast<double>(order.size() - rank)));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

std::vector<Judgement> judge(std::span<const RatioTest> tests) {
  std::vector<double> different;
  std::vector<double> equivalent;
  for (const RatioTest& test : tests) {
    if (!test.p_different || !test.p_equivalent) continue;
    different.push_back(*test.p_different);
    equivalent.push_back(*test.p_equivalent);
  }
  different = holm(different);
  equivalent = holm(equivalent);
  constexpr double kLevel = 1 - kConfidence;
  std::vector<Judgement> judgements(tests.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (!tests[i].p_different || !tests[i].p_equivalent) continue;
    Judgement& judgement = judgements[i];
    judgement.p_different = different[next];
    judgement.p_equivalent = equivalent[next];
    ++next;
    if (*judgement.p_equivalent < kLevel) {
      judgement.verdict = Verdict::kEquivalent;
    } else if (*judgement.p_different < kLevel) {
      judgement.verdict = tests[i].ratio < 1 ? Verdict::kFaster : Verdict::kSlower;
    }
  }
  return judgements;
}

std::optional<double> false_positive_rate(std::span<const double> first_ns, std::span<const double> second_ns,
                                          std::uint64_t seed) {
  constexpr int kFlips = 2000;
  const std::vector<double> differences = log_differences(first_ns, second_ns);
  if (differences.size() < 3) return std::nullopt;
  std::mt19937_64 random(seed);
  int rejected = 0;
  const auto degrees = static_cast<double>(differences.size() - 1);
  // One quantile for all flips: |mean / error| beyond it is a rejection.
  const double limit = student_t_quantile((1 + kConfidence) / 2, degrees);
  std::vector<double> flipped(differences.size());
  for (int flip = 0; flip < kFlips; ++flip) {
    for (std::size_t i = 0; i < differences.size(); ++i)
      flipped[i] = (random() >> 63) != 0 ? differences[i] : -differences[i];
    const Moments moments = moments_of(flipped);
    const double error = std::sqrt(moments.variance / moments.count);
    rejected += error > 0 ? std::abs(moments.mean) > limit * error : moments.mean != 0;
  }
  return static_cast<double>(rejected) / kFlips;
}

}  // namespace pterun::bench
