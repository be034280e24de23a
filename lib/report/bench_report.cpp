// Medians over the processes of a cell.
#include "report/bench_report.h"

#include <algorithm>

namespace pterun::report {
namespace {

using bench::GateMetric;

std::optional<double> metric_of(const ProcessReport& process, GateMetric metric) {
  const auto whole = [](const std::optional<std::int64_t>& value) -> std::optional<double> {
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  };
  const auto peak = process.memory.find("peak_rss_bytes");
  const bool any = process.steady.runs > 0;
  switch (metric) {
    case GateMetric::kMin: return any ? whole(process.steady.min_ns) : std::nullopt;
    case GateMetric::kP50: return whole(process.steady.p50.value_ns);
    case GateMetric::kP90: return whole(process.steady.p90.value_ns);
    case GateMetric::kP99: return whole(process.steady.p99.value_ns);
    case GateMetric::kMean: return any ? std::optional<double>(process.steady.mean_ns) : std::nullopt;
    case GateMetric::kFirst: return whole(process.first_ns);
    case GateMetric::kLoad: return whole(process.load_ns);
    case GateMetric::kPeakRss: return peak == process.memory.end() ? std::nullopt : whole(peak->second);
  }
  return std::nullopt;
}

}  // namespace

CellMetrics summarize_cell(const std::vector<ProcessReport>& processes) {
  CellMetrics metrics;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    std::vector<double> values;
    for (const ProcessReport& process : processes) {
      if (const auto value = metric_of(process, static_cast<GateMetric>(i))) values.push_back(*value);
    }
    if (values.empty()) continue;
    metrics[i] = static_cast<GateMetric>(i) == GateMetric::kMin ? *std::ranges::min_element(values)
                                                                : bench::median(std::move(values));
  }
  return metrics;
}

}  // namespace pterun::report
