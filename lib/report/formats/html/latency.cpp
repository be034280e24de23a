// Time per execution: its distribution, and how it changed while it was measured.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/formats/html/parts.h"
#include "report/formats/html/sections.h"

namespace pterun::report::html {
namespace {

constexpr std::size_t kMostDots = 600;
constexpr std::size_t kMostRows = 40;

// The samples of one process, in order, with what every other picture of them needs.
struct Series {
  std::vector<double> samples;
  std::vector<double> sorted;
  std::size_t stride = 1;
  std::optional<bench::Interval> median_ci;
  std::size_t runs = 0;  // before thinning

  Series(std::span<const std::int64_t> samples_ns, std::size_t sample_stride, std::size_t all_runs)
      : samples(to_doubles(samples_ns)), sorted(samples), stride(sample_stride), runs(all_runs) {
    std::ranges::sort(sorted);
  }
  double quantile(double share) const {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
};

// From the least sample to where nearly all are; a few far ones would make the rest a line.
Range shown_range(const Series& series) {
  const double low = series.sorted.front();
  const double median = series.quantile(0.5);
  const double spread = std::max(series.quantile(0.9) - series.quantile(0.1), median * 1e-3);
  const double high = std::min(series.sorted.back(), median + 4 * spread);
  const double edge = std::max((high - low) * 0.04, median * 1e-3);
  return {std::max(low - edge, 0.0), high + edge};
}

std::vector<Mark> time_marks(const Range& range, const Scale& scale, std::size_t most) {
  const std::vector<double> places = ticks(range, most);
  const double step = places.size() > 1 ? (places[1] - places[0]) / scale.unit : 1;
  const Scale round{scale.unit, scale.name, step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3};
  std::vector<Mark> marks;
  for (const double place : places)
    marks.push_back({place, round.number(place)});
  if (!marks.empty()) marks.back().text += fmt::format(" {}", scale.name);
  return marks;
}

std::string distribution(const Series& series, const Range& x, const Scale& scale) {
  const std::size_t bins = std::clamp<std::size_t>(
      static_cast<std::size_t>(2 * std::sqrt(static_cast<double>(series.samples.size()))), 8, 60);
  std::vector<std::size_t> counts(bins);
  std::size_t beyond = 0;
  for (const double sample : series.samples) {
    if (sample > x.high) {
      ++beyond;
      continue;
    }
    const double share = std::clamp(x.share(sample), 0.0, 1.0);
    ++counts[std::min(static_cast<std::size_t>(share * static_cast<double>(bins)), bins - 1)];
  }
  const auto most = static_cast<double>(std::max<std::size_t>(*std::ranges::max_element(counts), 1));
  Plot plot(x, {0, most * 1.08});
  const double width = (x.high - x.low) / static_cast<double>(bins);
  if (series.median_ci)
    plot.box(series.median_ci->low, 0, series.median_ci->high, most * 1.08, "band", "95 % interval");
  for (std::size_t i = 0; i < bins; ++i) {
    if (counts[i] == 0) continue;
    const double left = x.low + width * static_cast<double>(i);
    plot.box(left + width * 0.06, 0, left + width * 0.94, static_cast<double>(counts[i]), "bar",
             fmt::format("{} to {}: {}", scale.number(left), scale.with_unit(left + width), plural(counts[i], "run")));
  }
  plot.line(series.quantile(0.5), 0, series.quantile(0.5), most * 1.08, "middle");
  std::string caption = fmt::format("Distribution of {}; the line is the median", plural(series.runs, "run"));
  if (series.median_ci) caption += ", the band its 95 % interval";
  if (beyond > 0)
    caption += fmt::format("; {} beyond {}", plural(beyond * series.stride, "run"), scale.with_unit(x.high));
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}{}</figure>\n", markup(caption),
                     plot.to_string("medium", "histogram of execution times"), x_axis(x, time_marks(x, scale, 5)));
}

// Medians of at most 30 stretches of the series.
std::vector<std::pair<double, double>> moving_median(const Series& series) {
  const std::size_t stretches = std::min<std::size_t>(30, series.samples.size() / 5);
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = series.samples.size() * i / stretches;
    const std::size_t end = series.samples.size() * (i + 1) / stretches;
    const double middle = static_cast<double>(begin + end - 1) / 2 * static_cast<double>(series.stride);
    points.emplace_back(middle, bench::median({series.samples.begin() + static_cast<std::ptrdiff_t>(begin),
                                               series.samples.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return points;
}

std::string drift(const Series& series, const Range& y, const Scale& scale, const std::string& verdict) {
  if (series.samples.size() < 3) return "";
  const Range x{0, static_cast<double>((series.samples.size() - 1) * series.stride)};
  Plot plot(x, y);
  for (const double place : ticks(y, 4))
    plot.line(x.low, place, x.high, place, "grid");
  const std::size_t step = (series.samples.size() + kMostDots - 1) / kMostDots;
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < series.samples.size(); i += step)
    points.emplace_back(static_cast<double>(i * series.stride), series.samples[i]);
  plot.dots(points, "sample");
  plot.path(moving_median(series), "trend");
  std::vector<Mark> marks;
  for (const double place : ticks(x, 5))
    marks.push_back({place, fmt::format("{:.0f}", place)});
  if (!marks.empty()) marks.back().text = "run " + marks.back().text;
  return fmt::format(
      "<figure><figcaption>Over time{}</figcaption>\n{}</figure>\n", markup(verdict),
      with_y_axis(y, time_marks(y, scale, 4),
                  plot.to_string("tall", "execution times in order, with their moving median") + x_axis(x, marks)));
}

std::string drift_text(const bench::Drift& drift) {
  return fmt::format(": {:+.2f} % from the first third to the last{}", drift.relative * 100,
                     drift.significant ? ", more than chance" : "");
}

std::string pictures(const Series& series, const std::string& verdict) {
  if (series.samples.empty()) return "";
  const Range range = shown_range(series);
  const Scale scale = duration_scale(std::vector<double>{range.high});
  return "<div class=\"pair\">\n" + distribution(series, range, scale) + drift(series, range, scale, verdict) +
         "</div>\n";
}

void add_percentile(Table& table, std::string_view name, const bench::Percentile& percentile, const Scale& scale) {
  table.add({std::string(name), percentile.value_ns ? scale.with_unit(static_cast<double>(*percentile.value_ns))
                                                    : markup(percentile_text(percentile))});
}

std::string process_table(const ProcessReport& process) {
  const bench::Statistics& s = process.steady;
  const Scale scale = duration_scale(std::vector<double>{static_cast<double>(s.p50.value_ns.value_or(s.min_ns))});
  Table table({"steady state", ">time"});
  table.add({"min", scale.with_unit(static_cast<double>(s.min_ns))});
  add_percentile(table, "p50", s.p50, scale);
  if (s.median_ci) {
    table.add({"95 % interval of p50",
               fmt::format("{} – {}", scale.number(s.median_ci->low), scale.with_unit(s.median_ci->high))});
  }
  add_percentile(table, "p90", s.p90, scale);
  add_percentile(table, "p99", s.p99, scale);
  table.add({"max", scale.with_unit(static_cast<double>(s.max_ns))});
  table.add({"mean", scale.with_unit(s.mean_ns)});
  table.add({"standard deviation", duration(s.stddev_ns)});
  table.add({"median absolute deviation", duration(s.mad_ns)});
  table.add({"coefficient of variation", fmt::format("{:.2f} %", s.cv * 100)});
  table.add({"outliers", fmt::format("{} of {}", s.outliers, s.runs)});
  table.add({"warm-up",
             fmt::format("{}{}", plural(process.warmup_runs, "run"), process.warmup_stable ? "" : ", not stable")});
  return details("All figures", table.to_string());
}

std::string one_process(const ProcessReport& process) {
  Series series(process.samples_ns, process.sample_stride, process.steady.runs);
  series.median_ci = process.steady.median_ci;
  return pictures(series, drift_text(process.steady.drift)) + process_table(process);
}

std::string run_latency(const Timing& timing) {
  const TimingSummary s = steady_summary(timing);
  return pictures(Series(timing.steady_ns, timing.sample_stride, s.runs), "");
}

// A row for each cell: where its runs lie (10th to 90th percentile, median of each process), and all runs in order.
std::string cell_row(const CellReport& cell, const Range& x, const Scale& scale) {
  Plot spread(x, {0, 1});
  std::vector<std::pair<double, double>> medians;
  std::size_t count = 0;
  for (const ProcessReport& process : cell.processes)
    count += process.samples_ns.size();
  const Range order{0, static_cast<double>(std::max<std::size_t>(count, 2) - 1)};
  Plot time(order, x);
  const std::size_t step = (count + kMostDots / 2 - 1) / (kMostDots / 2);
  std::size_t done = 0;
  for (const ProcessReport& process : cell.processes) {
    const Series series(process.samples_ns, process.sample_stride, process.steady.runs);
    if (series.samples.empty()) continue;
    spread.line(series.quantile(0.1), 0.5, series.quantile(0.9), 0.5, "spread");
    medians.emplace_back(series.quantile(0.5), 0.5);
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < series.samples.size(); i += step)
      points.emplace_back(static_cast<double>(done + i), series.samples[i]);
    time.dots(points, "sample");
    time.path(std::vector<std::pair<double, double>>{{static_cast<double>(done), series.quantile(0.5)},
                                                     {static_cast<double>(done + series.samples.size() - 1),
                                                      series.quantile(0.5)}},
              "trend");
    done += series.samples.size();
  }
  for (const auto& [value, height] : medians)
    spread.dot(value, height, "median", scale.with_unit(value));
  const auto& p50 = metric_of(cell, bench::GateMetric::kP50);
  return fmt::format("<div class=\"row\"><span class=\"name\">{}</span><span class=\"figure\">{}</span>{}{}</div>\n",
                     markup(cell_label(cell.name)), p50 ? scale.with_unit(*p50) : "failed",
                     spread.to_string("strip", "execution times of a cell"),
                     time.to_string("strip", "execution times of a cell in order"));
}

std::string cells_latency(const BenchReport& bench) {
  std::vector<double> lows;
  std::vector<double> highs;
  for (const CellReport& cell : bench.cells) {
    for (const ProcessReport& process : cell.processes) {
      const Series series(process.samples_ns, process.sample_stride, process.steady.runs);
      if (series.samples.empty()) continue;
      lows.push_back(series.quantile(0.05));
      highs.push_back(series.quantile(0.95));
    }
  }
  if (lows.empty()) return "";
  const double low = *std::ranges::min_element(lows);
  const double high = *std::ranges::max_element(highs);
  const double edge = std::max((high - low) * 0.05, high * 1e-3);
  const Range x{std::max(low - edge, 0.0), high + edge};
  const Scale scale = duration_scale(std::vector<double>{x.high});
  std::string rows =
      "<div class=\"row names\"><span></span><span></span><span>10th to 90th percentile, medians</span>"
      "<span>all runs in order</span></div>\n";
  const std::size_t shown = std::min(bench.cells.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i)
    rows += cell_row(bench.cells[i], x, scale);
  rows +=
      "<div class=\"row\"><span></span><span></span>" + x_axis(x, time_marks(x, scale, 4)) + "<span></span></div>\n";
  const std::string rest = shown < bench.cells.size()
                               ? fmt::format("<p class=\"note\">and {} more cells</p>\n", bench.cells.size() - shown)
                               : "";
  return "<div class=\"rows four\">\n" + rows + "</div>\n" + rest;
}

}  // namespace

std::string latency_section(const RunReport& report) {
  if (!report.bench) return section("Latency", "", run_latency(report.timing));
  const BenchReport& bench = *report.bench;
  if (bench.cells.size() == 1 && bench.cells.front().processes.size() == 1) {
    return section("Latency", "", one_process(bench.cells.front().processes.front()));
  }
  return section("Latency",
                 "One row a cell: each process is a line with its median, then its runs in the order of time.",
                 cells_latency(bench));
}

}  // namespace pterun::report::html
