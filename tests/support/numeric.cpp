// Reproducible random numbers and comparison.
#include "support/numeric.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pterun::test {
namespace {

// Numerical Recipes' linear congruential generator; the upper bits are random enough for tests.
std::uint32_t next(std::uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

}  // namespace

std::vector<double> random_values(std::size_t count, std::uint32_t seed, double low, double high) {
  std::uint32_t state = seed * 2654435761u + 1;
  const auto steps = static_cast<std::uint32_t>((high - low) * 64.0) + 1;
  std::vector<double> values(count);
  for (double& value : values)
    value = low + static_cast<double>(next(state) % steps) / 64.0;
  return values;
}

std::vector<double> random_integers(std::size_t count, std::uint32_t seed, int low, int high) {
  std::uint32_t state = seed * 2654435761u + 1;
  std::vector<double> values(count);
  for (double& value : values)
    value = low + static_cast<int>(next(state) % static_cast<std::uint32_t>(high - low + 1));
  return values;
}

double largest_excess(const std::vector<double>& got, const std::vector<double>& want, double atol, double rtol) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (got.size() != want.size()) return kInfinity;
  double largest = -kInfinity;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    const double excess = std::abs(got[i] - want[i]) - (atol + rtol * std::abs(want[i]));
    largest = std::max(largest, std::isfinite(excess) ? excess : kInfinity);
  }
  return largest;
}

}  // namespace pterun::test
