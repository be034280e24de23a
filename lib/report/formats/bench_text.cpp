// Benchmarks at a terminal: one cell in detail, several as a table against the baseline.
#include <algorithm>

#include <fmt/format.h>

#include "report/formats/bench.h"

namespace pterun::report {
namespace {

using bench::GateMetric;

std::string bold(const TextStyle& style, std::string_view text) {
  return style.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string percentile(std::string_view name, const bench::Percentile& percentile) {
  return fmt::format(", {} {}", name, percentile_text(percentile));
}

std::string process_text(const ProcessReport& process) {
  const bench::Statistics& s = process.steady;
  std::string text = fmt::format("  load    {}\n  first   {}\n", duration_text(static_cast<double>(process.load_ns)),
                                 duration_text(static_cast<double>(process.first_ns)));
  text += fmt::format("  warm-up {} runs{}\n", process.warmup_runs, process.warmup_stable ? "" : ", not stable");
  if (s.runs == 0) return text;
  text += fmt::format("  steady  {} median of {} runs", duration_text(static_cast<double>(s.p50.value_ns.value_or(0))),
                      s.runs);
  if (s.median_ci) {
    text += fmt::format(", 95 % interval {} to {}", duration_text(s.median_ci->low), duration_text(s.median_ci->high));
  }
  text += fmt::format("\n          min {}{}{}, mean {}, stddev {}, MAD {}, CV {:.2f} %\n",
                      duration_text(static_cast<double>(s.min_ns)), percentile("p90", s.p90), percentile("p99", s.p99),
                      duration_text(s.mean_ns), duration_text(s.stddev_ns), duration_text(s.mad_ns), s.cv * 100);
  text += fmt::format("          outliers {}, drift {:+.2f} %{}\n", s.outliers, s.drift.relative * 100,
                      s.drift.significant ? " (more than chance)" : "");
  return text;
}

// The nodes of a delegate under its line, the slowest first; the rest of its time in a line of its own.
void add_nodes(TextTable& table, const ProfileEntry& entry, const TextStyle& style) {
  if (entry.nodes.empty()) return;
  std::vector<const ProfileNode*> sorted;
  double rest = 1;
  for (const ProfileNode& node : entry.nodes) {
    sorted.push_back(&node);
    rest -= node.share;
  }
  std::ranges::stable_sort(sorted, std::greater(), [](const ProfileNode* node) { return node->total_ns; });
  const std::size_t shown = style.verbosity > 0 ? sorted.size() : std::min<std::size_t>(sorted.size(), 5);
  const auto line = [&](double share, double total_ns, std::int64_t calls, const std::string& name) {
    const double each = total_ns / static_cast<double>(std::max<std::int64_t>(calls, 1));
    table.add({fmt::format("  {:.1f} %", share * entry.share * 100), duration_text(each), "  " + name, ""});
  };
  double others = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const ProfileNode& node = *sorted[i];
    if (i < shown) {
      line(node.share, static_cast<double>(node.total_ns), node.calls, node.name);
    } else {
      others += node.share;
    }
  }
  const auto total_ns = static_cast<double>(entry.total_ns);
  if (shown < sorted.size()) {
    line(others, others * total_ns, entry.calls, fmt::format("{} more nodes (-v lists them)", sorted.size() - shown));
  }
  if (rest > 0) line(rest, rest * total_ns, entry.calls, "outside its nodes");
}

std::string profile_text(const CellReport& cell, const TextStyle& style) {
  if (cell.profile.empty()) return "";
  std::vector<const ProfileEntry*> sorted;
  for (const ProfileEntry& entry : cell.profile)
    sorted.push_back(&entry);
  std::ranges::stable_sort(sorted, std::greater(), [](const ProfileEntry* entry) { return entry->total_ns; });
  const std::size_t shown = style.verbosity > 0 ? sorted.size() : std::min<std::size_t>(sorted.size(), 15);
  TextTable table;
  for (std::size_t i = 0; i < shown; ++i) {
    const ProfileEntry& entry = *sorted[i];
    const double each =
        static_cast<double>(entry.total_ns) / static_cast<double>(std::max<std::int64_t>(entry.calls, 1));
    table.add({fmt::format("{:.1f} %", entry.share * 100), duration_text(each), entry.name,
               fmt::format("{} #{}", entry.method, entry.instruction)});
    add_nodes(table, entry, style);
  }
  if (shown < sorted.size()) table.add({"", "", fmt::format("and {} more (-v lists them)", sorted.size() - shown)});
  return bold(style, "Profile, in a run of its own") + "\n" + table.to_string();
}

std::string cells_text(const BenchReport& report, const TextStyle& style) {
  TextTable table;
  table.add({"cell", "p50", "load", "first", "peak memory", "ratio [95 %]", "verdict", "outputs"});
  for (const CellReport& cell : report.cells) {
    const auto& peak = metric_of(cell, GateMetric::kPeakRss);
    table.add({cell.name, duration_or_dash(metric_of(cell, GateMetric::kP50)),
               duration_or_dash(metric_of(cell, GateMetric::kLoad)),
               duration_or_dash(metric_of(cell, GateMetric::kFirst)), peak ? size_text(*peak) : "-",
               cell.comparison ? ratio_text(*cell.comparison) : "-",
               cell.comparison ? std::string(bench::verdict_name(cell.comparison->judgement.verdict)) : "-",
               outputs_text(cell)});
  }
  std::string text = bold(style, fmt::format("Cells, medians of {} process{} each", report.processes,
                                             report.processes == 1 ? "" : "es")) +
                     "\n" + table.to_string();
  for (const CellReport& cell : report.cells) {
    for (const CellFailure& failure : cell.failures)
      text += fmt::format("  failed: {}: {}: {}\n", cell.name, failure.code, failure.message);
  }
  return text;
}

// One line for each cell and option.
std::string options_text(const BenchReport& report, const TextStyle& style) {
  TextTable table;
  for (const CellReport& cell : report.cells) {
    for (const CellOption& option : cell.options) {
      table.add({cell.name, option.backend + "." + option.key, option.path, option.value,
                 std::string(evidence_name(option.evidence))});
    }
  }
  return table.empty() ? ""
                       : bold(style, "Options, the least evidence of a cell's processes") + "\n" + table.to_string();
}

std::string control_text(const ControlReport& control) {
  std::string text = fmt::format("  A/A control: {} {}", ratio_text(control.comparison),
                                 bench::verdict_name(control.comparison.judgement.verdict));
  if (control.false_positive_rate) {
    text += fmt::format(", the test calls equal cells different in {:.1f} % of resamplings",
                        *control.false_positive_rate * 100);
  }
  return text + "\n";
}

std::string gates_text(const BenchReport& report, const TextStyle& style) {
  if (report.gates.empty()) return "";
  TextTable table;
  for (const GateReport& gate : report.gates) {
    table.add({gate.gate, gate.verdict, gate.cell, gate_change_text(gate)});
  }
  return bold(style, "Gates") + "\n" + table.to_string();
}

}  // namespace

std::string bench_text(const BenchReport& report, const TextStyle& style) {
  std::string text;
  if (report.cells.size() == 1 && report.cells.front().processes.size() == 1) {
    const CellReport& cell = report.cells.front();
    text += bold(style, "Benchmark") + "\n" + process_text(cell.processes.front()) +
            memory_text(cell.processes.front().memory, "  memory");
  } else {
    text += cells_text(report, style) + options_text(report, style);
  }
  if (report.control) text += control_text(*report.control);
  for (const CellReport& cell : report.cells)
    text += profile_text(cell, style);
  return text + gates_text(report, style);
}

}  // namespace pterun::report
