// A sweep: heat map of the medians, intervals of the ratios to the baseline, gates, profile.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "report/formats/html/parts.h"
#include "report/formats/html/sections.h"

namespace pterun::report::html {
namespace {

using bench::GateMetric;

constexpr std::size_t kMostRows = 40;

// An axis with its values in the order in which cells have them.
struct Axis {
  std::string name;
  std::vector<std::string> values;
};

// "workspace_sharing_mode" of "load_options.XnnpackBackend.workspace_sharing_mode".
std::string short_name(const std::string& axis) {
  return axis.substr(axis.rfind('.') + 1);
}

const std::string* value_on(const CellReport& cell, const std::string& axis) {
  for (const auto& [name, value] : cell.axes) {
    if (name == axis) return &value;
  }
  return nullptr;
}

// Several models are an axis too.
std::vector<Axis> axes_of(const BenchReport& bench) {
  std::vector<Axis> axes;
  for (const CellReport& cell : bench.cells) {
    for (const auto& [name, value] : cell.axes) {
      auto axis = std::ranges::find(axes, name, &Axis::name);
      if (axis == axes.end()) axis = axes.insert(axes.end(), {name, {}});
      if (std::ranges::find(axis->values, value) == axis->values.end()) axis->values.push_back(value);
    }
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.values.size() < 2; });
  // The one with most values runs down: a phone is high rather than wide.
  std::ranges::stable_sort(axes, std::greater(), [](const Axis& axis) { return axis.values.size(); });
  return axes;
}

struct HeatScale {
  double low = 0;
  double high = 0;
  Scale scale;
  // The share of colour; logarithmic, because twice as slow is twice as slow everywhere.
  double share(double value) const { return high > low ? std::log(value / low) / std::log(high / low) : 0; }
};

std::string heat_cell(const CellReport* cell, const HeatScale& heat) {
  if (cell == nullptr) return "<td class=\"heat none\"></td>";
  const auto& p50 = metric_of(*cell, GateMetric::kP50);
  if (!p50) return "<td class=\"heat failed\">failed</td>";
  std::string note = cell->is_baseline ? "baseline" : "";
  std::string_view kind = "mild";
  if (cell->comparison) {
    note = fmt::format("×{:.2f}", cell->comparison->test.ratio);
    kind = badge_kind(cell->comparison->judgement.verdict);
  }
  const bool differs = cell->outputs && !cell->outputs->pass;
  return fmt::format("<td class=\"heat\" style=\"--heat:{:.2f}\" title=\"{}\">{}<small class=\"{}\">{}{}</small></td>",
                     heat.share(*p50), markup(cell->name), heat.scale.number(*p50), kind, markup(note),
                     differs ? " ≠ outputs" : "");
}

// Cells of one model that agree on all axes but the first two.
std::string heat_table(const std::string& caption, const std::vector<const CellReport*>& cells, const Axis& down,
                       const Axis* across, const HeatScale& heat) {
  std::string text = fmt::format("<table class=\"heatmap\"><caption>{}</caption>\n<thead><tr><th>{}</th>",
                                 markup(caption), markup(short_name(down.name)));
  const std::vector<std::string> columns = across == nullptr ? std::vector<std::string>{""} : across->values;
  for (const std::string& value : columns) {
    text += fmt::format("<th class=\"n\">{}</th>",
                        across == nullptr ? std::string("p50") : markup(short_name(across->name) + " " + value));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const std::string& row : down.values) {
    text += fmt::format("<tr><th>{}</th>", markup(row));
    for (const std::string& column : columns) {
      const auto found = std::ranges::find_if(cells, [&](const CellReport* cell) {
        const std::string* first = value_on(*cell, down.name);
        const std::string* second = across == nullptr ? nullptr : value_on(*cell, across->name);
        return first != nullptr && *first == row && (across == nullptr || (second != nullptr && *second == column));
      });
      text += heat_cell(found == cells.end() ? nullptr : *found, heat);
    }
    text += "</tr>\n";
  }
  return "<div class=\"scroll\">" + text + "</tbody></table></div>\n";
}

std::string heat_map(const BenchReport& bench) {
  const std::vector<Axis> axes = axes_of(bench);
  HeatScale heat;
  for (const CellReport& cell : bench.cells) {
    const auto& p50 = metric_of(cell, GateMetric::kP50);
    if (!p50 || *p50 <= 0) continue;
    heat.low = heat.low == 0 ? *p50 : std::min(heat.low, *p50);
    heat.high = std::max(heat.high, *p50);
  }
  if (axes.empty() || heat.high == 0) return "";
  heat.scale = duration_scale(std::vector<double>{heat.high});
  // One table for each combination of model and the values of the further axes, in the order of the cells.
  std::vector<std::pair<std::string, std::vector<const CellReport*>>> tables;
  const bool models =
      std::ranges::any_of(bench.cells, [&](const CellReport& cell) { return cell.model != bench.cells.front().model; });
  for (const CellReport& cell : bench.cells) {
    std::string caption = models ? cell.model : "";
    for (std::size_t i = 2; i < axes.size(); ++i) {
      const std::string* value = value_on(cell, axes[i].name);
      caption += fmt::format("{}{} {}", caption.empty() ? "" : ", ", short_name(axes[i].name), value ? *value : "-");
    }
    auto table = std::ranges::find(tables, caption, [](const auto& entry) { return entry.first; });
    if (table == tables.end()) table = tables.insert(tables.end(), {caption, {}});
    table->second.push_back(&cell);
  }
  std::string text;
  for (const auto& [caption, cells] : tables)
    text += heat_table(caption, cells, axes[0], axes.size() > 1 ? &axes[1] : nullptr, heat);
  return fmt::format(
      "<figure><figcaption>Median time of an execution in {}; the stronger the colour, the slower</figcaption>\n"
      "<div class=\"heatmaps\">{}</div></figure>\n",
      heat.scale.name, text);
}

std::string interval_row(const std::string& name, const CellComparison& comparison, const Range& x, double margin,
                         std::string_view extra) {
  const bench::RatioTest& test = comparison.test;
  const std::string kind(badge_kind(comparison.judgement.verdict));
  Plot plot(x, {0, 1});
  plot.box(-std::log(1 + margin), 0, std::log(1 + margin), 1, "margin");
  plot.line(0, 0, 0, 1, "middle");
  if (test.interval)
    plot.line(std::log(test.interval->low), 0.5, std::log(test.interval->high), 0.5, "interval " + kind);
  plot.dot(std::log(test.ratio), 0.5, "ratio " + kind, ratio_text(comparison));
  return fmt::format(
      "<div class=\"row {}\"><span class=\"name\">{}</span><span class=\"figure\">{:.3f}</span>{}{}</div>\n", extra,
      markup(name), test.ratio, plot.to_string("strip", "ratio to the baseline with its interval"),
      badge(kind, bench::verdict_name(comparison.judgement.verdict)));
}

// Ratios are shown logarithmically, so that 0.5 and 2 are equally far from 1.
std::string intervals(const BenchReport& bench) {
  double reach = std::log(1 + bench.margin) * 1.5;
  const auto widen = [&reach](const CellComparison& comparison) {
    reach = std::max(reach, std::abs(std::log(comparison.test.ratio)));
    if (!comparison.test.interval) return;
    for (const double end : {comparison.test.interval->low, comparison.test.interval->high}) {
      if (end > 0) reach = std::max(reach, std::abs(std::log(end)));
    }
  };
  std::size_t compared = 0;
  for (const CellReport& cell : bench.cells) {
    if (!cell.comparison || !(cell.comparison->test.ratio > 0)) continue;
    widen(*cell.comparison);
    ++compared;
  }
  if (bench.control) widen(bench.control->comparison);
  if (compared == 0 && !bench.control) return "";
  reach *= 1.08;
  const Range x{-reach, reach};
  std::string rows;
  std::size_t shown = 0;
  for (const CellReport& cell : bench.cells) {
    if (!cell.comparison || !(cell.comparison->test.ratio > 0) || ++shown > kMostRows) continue;
    rows += interval_row(cell_label(cell.name), *cell.comparison, x, bench.margin, "");
  }
  std::string note;
  if (compared > kMostRows) note = fmt::format("<p class=\"note\">and {} more cells</p>\n", compared - kMostRows);
  if (bench.control) {
    rows += interval_row("A/A control: the baseline again", bench.control->comparison, x, bench.margin, "control");
    if (bench.control->false_positive_rate) {
      note += fmt::format("<p class=\"note\">The test calls equal cells different in {:.1f} % of resamplings.</p>\n",
                          *bench.control->false_positive_rate * 100);
    }
  }
  std::vector<Mark> marks = {{0, "1"}};
  const double step = reach > std::log(2.2) ? std::log(2) : reach > std::log(1.25) ? std::log(1.2) : std::log(1.05);
  for (double at = step; at < reach && marks.size() < 9; at += step) {
    marks.push_back({-at, fmt::format("{:.2f}", std::exp(-at))});
    marks.push_back({at, fmt::format("{:.2f}", std::exp(at))});
  }
  rows += "<div class=\"row\"><span></span><span></span>" + x_axis(x, marks) + "<span></span></div>\n";
  return fmt::format(
      "<figure><figcaption>Time as a multiple of the baseline's, with 95 % intervals over processes; the band "
      "counts as equivalent (±{:.3g} %)</figcaption>\n<div class=\"rows\">\n{}</div>\n{}</figure>\n",
      bench.margin * 100, rows, note);
}

std::string cells_table(const BenchReport& bench) {
  std::vector<double> p50s;
  std::vector<double> loads;
  std::vector<double> firsts;
  std::vector<double> peaks;
  const auto add = [](std::vector<double>& values, const std::optional<double>& value) {
    if (value) values.push_back(*value);
  };
  for (const CellReport& cell : bench.cells) {
    add(p50s, metric_of(cell, GateMetric::kP50));
    add(loads, metric_of(cell, GateMetric::kLoad));
    add(firsts, metric_of(cell, GateMetric::kFirst));
    add(peaks, metric_of(cell, GateMetric::kPeakRss));
  }
  const Scale p50 = duration_scale(p50s);
  const Scale load = duration_scale(loads);
  const Scale first = duration_scale(firsts);
  const Scale peak = size_scale(peaks);
  const auto number = [](const Scale& scale, const std::optional<double>& value) {
    return value ? scale.number(*value) : std::string("–");
  };
  Table table({"cell", fmt::format(">p50, {}", p50.name), fmt::format(">load, {}", load.name),
               fmt::format(">first, {}", first.name), fmt::format(">peak memory, {}", peak.name), ">processes",
               "outputs"});
  std::string failures;
  for (const CellReport& cell : bench.cells) {
    const bool differs = cell.outputs && !cell.outputs->pass;
    table.add({markup(cell_label(cell.name)), number(p50, metric_of(cell, GateMetric::kP50)),
               number(load, metric_of(cell, GateMetric::kLoad)), number(first, metric_of(cell, GateMetric::kFirst)),
               number(peak, metric_of(cell, GateMetric::kPeakRss)), std::to_string(cell.processes.size()),
               differs ? badge("bad", outputs_text(cell)) : markup(outputs_text(cell))});
    for (const CellFailure& failure : cell.failures) {
      failures += fmt::format("<p class=\"reason\">{} failed: {}: {}</p>\n", markup(cell.name), markup(failure.code),
                              markup(failure.message));
    }
  }
  std::string commands;
  for (const CellReport& cell : bench.cells) {
    if (!cell.command.empty()) commands += markup(cell.command) + "\n";
  }
  if (!commands.empty()) commands = "<pre>" + commands + "</pre>\n";
  return table.to_string() + failures + details("One command for each cell", commands);
}

}  // namespace

std::string sweep_section(const RunReport& report) {
  if (!report.bench || (report.bench->cells.size() < 2 && !report.bench->control)) return "";
  const BenchReport& bench = *report.bench;
  std::string lead =
      fmt::format("{} × {}", plural(bench.cells.size(), "cell"),
                  bench.processes == 1 ? std::string("1 process") : fmt::format("{} fresh processes", bench.processes));
  if (!bench.shard.empty()) lead += ", share " + bench.shard;
  return section("Sweep", lead, heat_map(bench) + intervals(bench) + cells_table(bench));
}

std::string gates_section(const RunReport& report) {
  if (!report.bench) return "";
  Table table({"gate", "verdict", ">change", "cell"});
  for (const GateReport& gate : report.bench->gates) {
    const std::string_view kind = gate.verdict == "passed" ? "good" : gate.verdict == "failed" ? "bad" : "mild";
    table.add({fmt::format("<code>{}</code>", markup(gate.gate)), badge(kind, gate.verdict),
               markup(gate_change_text(gate)), markup(cell_label(gate.cell))});
  }
  const std::string against = report.bench->baseline.empty() ? "" : "Against " + report.bench->baseline;
  return section("Gates", against, table.to_string());
}

namespace {

std::string meter(double share) {
  return fmt::format("<span class=\"meter\"><i style=\"width:{:.1f}%\"></i></span>", std::clamp(share, 0.0, 1.0) * 100);
}

// The nodes of a delegate whose backend can tell, slowest first.
std::string nodes_of(const ProfileEntry& entry) {
  std::vector<const ProfileNode*> sorted;
  std::vector<double> times;
  double rest = 1;
  for (const ProfileNode& node : entry.nodes) {
    sorted.push_back(&node);
    rest -= node.share;
    times.push_back(static_cast<double>(node.total_ns) / static_cast<double>(std::max<std::int64_t>(node.calls, 1)));
  }
  std::ranges::stable_sort(sorted, std::greater(), [](const ProfileNode* node) { return node->total_ns; });
  const Scale scale = duration_scale(times);
  Table table({"node", ">share", "", fmt::format(">each, {}", scale.name)});
  for (const ProfileNode* node : sorted) {
    const auto calls = static_cast<double>(std::max<std::int64_t>(node->calls, 1));
    table.add({markup(node->name), fmt::format("{:.1f} %", node->share * 100), meter(node->share),
               scale.number(static_cast<double>(node->total_ns) / calls)});
  }
  if (!table.empty() && rest > 0)
    table.add({"outside its nodes", fmt::format("{:.1f} %", rest * 100), meter(rest), ""});
  return details(fmt::format("{} of {}", plural(sorted.size(), "node"), entry.name), table.to_string());
}

}  // namespace

std::string profile_section(const RunReport& report) {
  if (!report.bench) return "";
  constexpr std::size_t kMostEntries = 25;
  std::string body;
  for (const CellReport& cell : report.bench->cells) {
    std::vector<const ProfileEntry*> sorted;
    std::vector<double> times;
    for (const ProfileEntry& entry : cell.profile) {
      sorted.push_back(&entry);
      times.push_back(static_cast<double>(entry.total_ns) /
                      static_cast<double>(std::max<std::int64_t>(entry.calls, 1)));
    }
    if (sorted.empty()) continue;
    std::ranges::stable_sort(sorted, std::greater(), [](const ProfileEntry* entry) { return entry->total_ns; });
    const Scale scale = duration_scale(times);
    Table table({"what", "where", ">share", "", fmt::format(">each, {}", scale.name)});
    std::string nodes;
    for (std::size_t i = 0; i < std::min(sorted.size(), kMostEntries); ++i) {
      const ProfileEntry& entry = *sorted[i];
      const auto calls = static_cast<double>(std::max<std::int64_t>(entry.calls, 1));
      nodes += nodes_of(entry);
      table.add({markup(entry.name), markup(fmt::format("{} #{}", entry.method, entry.instruction)),
                 fmt::format("{:.1f} %", entry.share * 100), meter(entry.share),
                 scale.number(static_cast<double>(entry.total_ns) / calls)});
    }
    if (report.bench->cells.size() > 1) body += fmt::format("<h3>{}</h3>\n", markup(cell.name));
    body += table.to_string() + nodes;
    if (sorted.size() > kMostEntries) {
      body += fmt::format("<p class=\"note\">and {} more</p>\n", sorted.size() - kMostEntries);
    }
  }
  return section("Profile", "Measured in a run of its own, because looking costs time.", body);
}

}  // namespace pterun::report::html
