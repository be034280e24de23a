// A benchmark as Markdown: one process in detail, or the cells of a sweep; profile and gates.
#include <algorithm>

#include <fmt/format.h>

#include "report/formats/markdown/parts.h"

namespace pterun::report::md {
namespace {

std::string process_section(const ProcessReport& process) {
  const bench::Statistics& s = process.steady;
  MarkdownTable table({"measure", ">time"});
  table.add({"load", nanoseconds(process.load_ns)});
  table.add({"first execution", nanoseconds(process.first_ns)});
  table.add({fmt::format("p50 of {}", plural(s.runs, "run")), percentile_text(s.p50)});
  if (s.median_ci) {
    table.add({"95 % interval of p50", duration_text(s.median_ci->low) + " to " + duration_text(s.median_ci->high)});
  }
  table.add({"min", nanoseconds(s.min_ns)});
  table.add({"p90", percentile_text(s.p90)});
  table.add({"p99", percentile_text(s.p99)});
  table.add({"mean", duration_text(s.mean_ns)});
  table.add({"standard deviation", duration_text(s.stddev_ns)});
  table.add({"MAD", duration_text(s.mad_ns)});
  table.add({"coefficient of variation", fmt::format("{:.2f} %", s.cv * 100)});
  table.add({"outliers", std::to_string(s.outliers)});
  table.add(
      {"drift", fmt::format("{:+.2f} %{}", s.drift.relative * 100, s.drift.significant ? " (more than chance)" : "")});
  return table.section("Benchmark") + memory_section(process.memory);
}

std::string cells_section(const BenchReport& bench) {
  using bench::GateMetric;
  MarkdownTable table({"cell", ">p50", ">load", ">first", ">peak memory", ">ratio \\[95 %\\]", "verdict", "outputs"});
  for (const CellReport& cell : bench.cells) {
    const auto& peak = metric_of(cell, GateMetric::kPeakRss);
    table.add({markdown(cell.name), duration_or_dash(metric_of(cell, GateMetric::kP50)),
               duration_or_dash(metric_of(cell, GateMetric::kLoad)),
               duration_or_dash(metric_of(cell, GateMetric::kFirst)), peak ? size_text(*peak) : "-",
               cell.comparison ? markdown(ratio_text(*cell.comparison)) : "-",
               cell.comparison ? std::string(bench::verdict_name(cell.comparison->judgement.verdict)) : "-",
               markdown(outputs_text(cell))});
  }
  std::string text = table.section(
      fmt::format("Cells, medians of {} process{} each", bench.processes, bench.processes == 1 ? "" : "es"));
  for (const CellReport& cell : bench.cells) {
    for (const CellFailure& failure : cell.failures) {
      text += fmt::format("\n**failed**: {}: {}: {}\n", markdown(cell.name), markdown(failure.code),
                          markdown(failure.message));
    }
  }
  if (!bench.control) return text;
  text += fmt::format("\nA/A control: {} {}", markdown(ratio_text(bench.control->comparison)),
                      bench::verdict_name(bench.control->comparison.judgement.verdict));
  if (bench.control->false_positive_rate) {
    text += fmt::format(", equal cells called different in {:.1f} % of resamplings",
                        *bench.control->false_positive_rate * 100);
  }
  return text + "\n";
}

std::string cell_options_section(const BenchReport& bench) {
  MarkdownTable table({"cell", "option", "path", "value", "evidence"});
  for (const CellReport& cell : bench.cells) {
    for (const CellOption& option : cell.options) {
      table.add({markdown(cell.name), markdown_code(option.backend + "." + option.key), markdown(option.path),
                 markdown_code(option.value), std::string(evidence_name(option.evidence))});
    }
  }
  return table.section("Options, the least evidence of a cell's processes");
}

std::string profile_section(const CellReport& cell) {
  constexpr std::size_t kMostRows = 15;
  std::vector<const ProfileEntry*> sorted;
  for (const ProfileEntry& entry : cell.profile)
    sorted.push_back(&entry);
  std::ranges::stable_sort(sorted, std::greater(), [](const ProfileEntry* entry) { return entry->total_ns; });
  MarkdownTable table({">share", ">each", "what", "where"});
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostRows); ++i) {
    const ProfileEntry& entry = *sorted[i];
    const auto calls = static_cast<double>(std::max<std::int64_t>(entry.calls, 1));
    table.add({fmt::format("{:.1f} %", entry.share * 100), duration_text(static_cast<double>(entry.total_ns) / calls),
               markdown(entry.name), markdown(fmt::format("{} #{}", entry.method, entry.instruction))});
  }
  return table.section("Profile of " + markdown(cell.name));
}

}  // namespace

std::string bench_sections(const BenchReport& bench) {
  const bool single = bench.cells.size() == 1 && bench.cells.front().processes.size() == 1;
  std::string text = single ? process_section(bench.cells.front().processes.front())
                            : cells_section(bench) + cell_options_section(bench);
  for (const CellReport& cell : bench.cells)
    text += profile_section(cell);
  MarkdownTable gates({"gate", "verdict", "cell", ">change"});
  for (const GateReport& gate : bench.gates) {
    gates.add({markdown_code(gate.gate), gate.verdict == "failed" ? "**failed**" : markdown(gate.verdict),
               markdown(gate.cell), markdown(gate_change_text(gate))});
  }
  return text + gates.section("Gates");
}

}  // namespace pterun::report::md
