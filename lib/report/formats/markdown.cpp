// Sections in the order of the text report; the larger ones are in markdown/.
#include "report/formats/markdown.h"

#include <fmt/format.h>

#include "report/formats/markdown/parts.h"

namespace pterun::report {
namespace md {
namespace {

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

std::string nanoseconds(std::int64_t elapsed_ns) {
  return duration_text(static_cast<double>(elapsed_ns));
}

std::string memory_section(const std::map<std::string, std::int64_t>& memory) {
  MarkdownTable table({"memory", ">size"});
  for (const auto& [name, bytes] : memory)
    table.add({markdown(memory_label(name)), size_text(static_cast<double>(bytes))});
  return table.section("Memory");
}

}  // namespace md

std::string to_markdown(const RunReport& report) {
  using namespace md;
  if (report.bench) {
    return head(report) + options_section(report) + comparisons_section(report) + bench_sections(*report.bench) +
           tail(report);
  }
  return head(report) + options_section(report) + node_section(report) + comparisons_section(report) +
         diverge_section(report) + outputs_section(report) + accuracy_section(report) + times_section(report) +
         memory_section(report.memory) + tail(report);
}

}  // namespace pterun::report
