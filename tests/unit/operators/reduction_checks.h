// A slow reference for reductions: the inputs of each output element, in row-major order. Included after Catch2.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include <catch2/catch_all.hpp>

#include "move_checks.h"

namespace pterun::test {

// Shape of the result when the dimensions in `dims` (a bit each) are reduced.
inline Shape folded_shape(const Shape& shape, unsigned dims, bool keepdim) {
  Shape result;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if ((dims >> i & 1u) == 0)
      result.push_back(shape[i]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

// For each output element the values that are folded into it, passed through `fold`.
inline std::vector<double> folded(const Shape& shape, unsigned dims, const std::vector<double>& values,
                                  const std::function<double(const std::vector<double>&)>& fold) {
  const Shape kept = folded_shape(shape, dims, true);
  std::vector<std::vector<double>> groups(static_cast<std::size_t>(kept.numel()));
  for (std::int64_t n = 0; n < shape.numel(); ++n) {
    Index index = index_of(shape, n);
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if ((dims >> i & 1u) != 0) index[i] = 0;
    }
    groups[static_cast<std::size_t>(position_of(kept, index))].push_back(values[static_cast<std::size_t>(n)]);
  }
  std::vector<double> results;
  for (const auto& group : groups)
    results.push_back(fold(group));
  return results;
}

inline std::vector<double> random_values(const Shape& shape, double low, double high, unsigned seed = 7) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> numbers(low, high);
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (double& value : values)
    value = numbers(random);
  return values;
}

inline std::vector<std::int64_t> dim_list(unsigned dims) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < 16; ++i) {
    if ((dims >> i & 1u) != 0) list.push_back(i);
  }
  return list;
}

// Relative to the larger of 1 and the expected value; NaN equals NaN.
inline void check_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool exact = std::isinf(want[i]) && got[i] == want[i];
    const bool both_nan = std::isnan(want[i]) && std::isnan(got[i]);
    if (exact || both_nan || std::abs(got[i] - want[i]) <= tolerance * std::max(1.0, std::abs(want[i]))) continue;
    FAIL_CHECK("element " << i << " is " << got[i] << ", not " << want[i]);
  }
}

// Shapes and sets of dimensions that reach rows, columns, short rows, merged loops and several blocks.
struct ReductionCase {
  Shape shape;
  unsigned dims;
};
inline std::vector<ReductionCase> reduction_cases() {
  return {{{3, 4, 5}, 0b001}, {{3, 4, 5}, 0b010}, {{3, 4, 5}, 0b100},    {{3, 4, 5}, 0b101}, {{3, 4, 5}, 0b111},
          {{2, 2500}, 0b10},  {{2500, 2}, 0b01},  {{2, 1, 1500}, 0b001}, {{40, 3}, 0b10},    {{1, 6, 7, 7}, 0b1100},
          {{5}, 0b1},         {{300, 17}, 0b10},  {{2, 3, 4, 5}, 0b1010}};
}

}  // namespace pterun::test
