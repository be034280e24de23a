// Sections in the order of the text report.
#include "report/formats/markdown.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/formats/escape.h"
#include "report/formats/wording.h"

namespace pterun::report {
namespace {

// Cells are Markdown already. Columns whose name starts with '>' are aligned to the right.
class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> columns) {
    text_ = "|";
    std::string rule = "|";
    for (const std::string& column : columns) {
      const bool right = column.starts_with('>');
      text_ += " " + column.substr(right ? 1 : 0) + " |";
      rule += right ? " ---: |" : " --- |";
    }
    text_ += "\n" + rule + "\n";
  }
  void add(const std::vector<std::string>& cells) {
    text_ += "|";
    for (const std::string& cell : cells)
      text_ += " " + cell + " |";
    text_ += "\n";
    empty_ = false;
  }
  std::string section(std::string_view title) const { return empty_ ? "" : fmt::format("\n## {}\n\n{}", title, text_); }

 private:
  std::string text_;
  bool empty_ = true;
};

std::string nanoseconds(std::int64_t elapsed_ns) {
  return duration_text(static_cast<double>(elapsed_ns));
}

std::string head(const RunReport& report) {
  std::string text = fmt::format("# pterun {}: {}\n", kind_name(report.kind), markdown(result_text(report)));
  if (report.error) {
    text +=
        fmt::format("\n**{}**: {}\n", markdown(error_code_name(report.error->code)), markdown(report.error->message));
    if (!report.error->hint.empty()) text += "\n" + markdown(report.error->hint) + "\n";
    for (const auto& [kind, place] : report.error->where)
      text += fmt::format("\n- {}: {}", markdown(kind), markdown_code(place));
    if (!report.error->where.empty()) text += "\n";
  }
  for (const FileIdentity& file : report.manifest.files) {
    if (file.role != "model") continue;
    text += fmt::format("\nModel {}, {}{}\n", markdown_code(file.path), size_text(static_cast<double>(file.bytes)),
                        report.manifest.threads == 0 ? "" : ", " + plural(report.manifest.threads, "thread"));
  }
  return text;
}

std::string options_section(const RunReport& report) {
  MarkdownTable table({"option", "path", "value", "evidence", "because", "source"});
  for (const OptionReport& option : report.options) {
    table.add({markdown_code(option.backend + "." + option.key), std::string(options::option_path_name(option.path)),
               markdown_code(option.requested.to_string()), std::string(evidence_name(option.evidence)),
               markdown(evidence_detail(option)), markdown(option.source)});
  }
  return table.section("Options");
}

std::string comparisons_section(const RunReport& report) {
  MarkdownTable table({"output", "reference", "verdict", ">max abs", ">mean abs", ">max rel", ">RMSE", ">cosine",
                       ">SNR dB", "tolerance"});
  std::string failures;
  for (const ComparisonReport& item : report.comparisons) {
    const compare::Comparison& c = item.comparison;
    const std::string output = markdown(compared_name(item, true));
    table.add({output, markdown(item.reference), c.pass ? "pass" : "**FAIL**", metric_text(c.metrics.max_abs),
               metric_text(c.metrics.mean_abs), metric_text(c.metrics.max_rel), metric_text(c.metrics.rmse),
               fmt::format("{:.6f}", c.metrics.cosine), metric_text(c.metrics.snr_db),
               markdown(tolerance_text(c.tolerance))});
    if (c.pass) continue;
    failures += fmt::format("\nOutput {}: {}\n\n", output, markdown(c.reason));
    for (const compare::WorstElement& element : c.worst) {
      failures += fmt::format("- at {}: got {}, want {}, error {}\n", markdown(element.index.to_string()), element.got,
                              element.want, metric_text(element.abs_error));
    }
  }
  return table.section("Comparison") + failures;
}

std::string outputs_section(const RunReport& report) {
  MarkdownTable table({"output", "type", ">min", ">max", ">mean", ">stddev", ">NaN", ">inf"});
  for (const OutputReport& output : report.outputs) {
    const std::string name = markdown(fmt::format("{} {}", output.method, output.index));
    if (!output.stats) {
      table.add({name, markdown(output.value.empty() ? output.dtype + shape_text(output.shape) : output.value), "", "",
                 "", "", "", ""});
      continue;
    }
    const TensorStats& s = *output.stats;
    table.add({name, markdown(output.dtype + shape_text(output.shape)), metric_text(s.min), metric_text(s.max),
               metric_text(s.mean), metric_text(s.stddev), std::to_string(s.nan), std::to_string(s.inf)});
  }
  return table.section("Outputs");
}

std::string accuracy_section(const RunReport& report) {
  MarkdownTable table({"output", "labels", ">correct", ">of"});
  for (const AccuracyReport& item : report.accuracy) {
    table.add({std::to_string(item.output), markdown_code(item.labels), std::to_string(item.correct),
               std::to_string(item.total)});
  }
  return table.section("Accuracy");
}

std::string times_section(const RunReport& report) {
  const Timing& timing = report.timing;
  MarkdownTable table({"phase", ">time"});
  if (timing.load_ns > 0) table.add({"load", nanoseconds(timing.load_ns)});
  if (timing.first_ns > 0) table.add({"first execution", nanoseconds(timing.first_ns)});
  const TimingSummary s = steady_summary(timing);
  if (s.runs > 0) {
    table.add({fmt::format("steady, median of {}", plural(s.runs, "run")), nanoseconds(s.p50_ns.value_or(0))});
    table.add({"min", nanoseconds(s.min_ns)});
    if (s.p90_ns) table.add({"p90", nanoseconds(*s.p90_ns)});
    if (s.p99_ns) table.add({"p99", nanoseconds(*s.p99_ns)});
  }
  return table.section("Times");
}

std::string memory_section(const std::map<std::string, std::int64_t>& memory) {
  MarkdownTable table({"memory", ">size"});
  for (const auto& [name, bytes] : memory)
    table.add({markdown(memory_label(name)), size_text(static_cast<double>(bytes))});
  return table.section("Memory");
}

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

std::string bench_sections(const BenchReport& bench) {
  const bool single = bench.cells.size() == 1 && bench.cells.front().processes.size() == 1;
  std::string text = single ? process_section(bench.cells.front().processes.front()) : cells_section(bench);
  for (const CellReport& cell : bench.cells)
    text += profile_section(cell);
  MarkdownTable gates({"gate", "verdict", "cell", ">change"});
  for (const GateReport& gate : bench.gates) {
    gates.add({markdown_code(gate.gate), gate.verdict == "failed" ? "**failed**" : markdown(gate.verdict),
               markdown(gate.cell), markdown(gate_change_text(gate))});
  }
  return text + gates.section("Gates");
}

std::string tail(const RunReport& report) {
  MarkdownTable warnings({"warning", "what", "what to do"});
  for (const Warning& warning : report.warnings)
    warnings.add({markdown_code(warning.code), markdown(warning.message), markdown(warning.hint)});
  MarkdownTable facts({"", ""});
  for (const auto& [name, value] : report.manifest.versions)
    facts.add({markdown(name), markdown(value)});
  for (const auto& [name, value] : report.manifest.host)
    facts.add({markdown(name), markdown(value)});
  for (const FileIdentity& file : report.manifest.files) {
    if (!file.sha256.empty()) facts.add({markdown_code(file.path), "sha256 " + markdown_code(file.sha256)});
  }
  std::string text = warnings.section("Warnings") + facts.section("Made with");
  if (!report.manifest.argv.empty()) text += "\n" + markdown_code(command_text(report.manifest)) + "\n";
  return text;
}

}  // namespace

std::string to_markdown(const RunReport& report) {
  if (report.bench) {
    return head(report) + options_section(report) + comparisons_section(report) + bench_sections(*report.bench) +
           tail(report);
  }
  return head(report) + options_section(report) + comparisons_section(report) + outputs_section(report) +
         accuracy_section(report) + times_section(report) + memory_section(report.memory) + tail(report);
}

}  // namespace pterun::report
