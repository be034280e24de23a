// Parsing and judging one gate.
#include "bench/gate.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pterun::bench {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 4> kTimes = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
constexpr std::array<Unit, 4> kSizes = {Unit{"B", 1}, Unit{"KiB", 1024}, Unit{"MiB", 1048576}, Unit{"GiB", 1073741824}};

Error gate_error(std::string_view text, const std::string& detail) {
  return make_error(ErrorCode::kUsage, fmt::format("the gate '{}': {}", text, detail))
      .with_hint("gates look like 'p50>+3%', 'load>20ms' or 'peak_rss>100MiB'");
}

std::optional<GateMetric> find_metric(std::string_view name) {
  for (std::size_t i = 0; i < kGateMetricNames.size(); ++i) {
    if (kGateMetricNames[i] == name) return static_cast<GateMetric>(i);
  }
  return std::nullopt;
}

// The number in front of `suffix`, or none when the text does not end in it or holds no finite number.
std::optional<double> number_before(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  text.remove_suffix(suffix.size());
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

bool Gate::holds(double value, double baseline) const {
  const double bound = relative ? baseline * (1 + limit) : limit;
  return above ? value > bound : value < bound;
}

Result<Gate> parse_gate(std::string_view text) {
  Gate gate;
  gate.text = text;
  const std::size_t split = text.find_first_of("<>");
  if (split == std::string_view::npos) return fail(gate_error(text, "expected > or <"));
  const auto metric = find_metric(text.substr(0, split));
  if (!metric) {
    return fail(gate_error(text, fmt::format("expected one of {} in front of '{}', found '{}'",
                                             fmt::join(kGateMetricNames, ", "), text[split], text.substr(0, split))));
  }
  gate.metric = *metric;
  gate.above = text[split] == '>';
  const std::string_view limit = text.substr(split + 1);
  if (limit.ends_with('%')) {
    const auto percent = number_before(limit, "%");
    if (!percent || !(limit.starts_with('+') || limit.starts_with('-'))) {
      return fail(gate_error(text, fmt::format("expected a signed percentage such as +3%, found '{}'", limit)));
    }
    gate.relative = true;
    gate.limit = *percent / 100;
    return gate;
  }
  for (const Unit& unit : *metric == GateMetric::kPeakRss ? kSizes : kTimes) {
    if (const auto value = number_before(limit, unit.name)) {
      gate.limit = *value * unit.factor;
      return gate;
    }
  }
  return fail(gate_error(
      text,
      fmt::format("expected a signed percentage or {}, found '{}'",
                  *metric == GateMetric::kPeakRss ? "a size (B, KiB, MiB, GiB)" : "a time (ns, us, ms, s)", limit)));
}

}  // namespace pterun::bench
