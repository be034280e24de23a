// --fail-if: a performance gate such as "p50>+3%" (relative to a baseline) or "load>20ms" (absolute).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pterun::bench {

enum class GateMetric : std::uint8_t { kMin, kP50, kP90, kP99, kMean, kFirst, kLoad, kPeakRss };
inline constexpr std::array<std::string_view, 8> kGateMetricNames = {"min",  "p50",   "p90",  "p99",
                                                                     "mean", "first", "load", "peak_rss"};

struct Gate {
  std::string text;  // as written
  GateMetric metric = GateMetric::kP50;
  bool above = true;      // holds when the value is above the limit, else below
  bool relative = false;  // `limit` is a share of the baseline: 0.03 for "+3%"
  double limit = 0;       // or nanoseconds or bytes

  // Whether the gate holds, which is a failure. `baseline` is not used by absolute gates.
  bool holds(double value, double baseline) const;
};

// METRIC, then > or <, then a signed percentage, a time (ns, us, ms, s) or, for peak_rss, a size (B, KiB, MiB, GiB).
// Errors: kUsage, with what was expected and found.
Result<Gate> parse_gate(std::string_view text);

}  // namespace pterun::bench
