// Cases first, then the document with their counts. The attributes and their order of elements satisfy both schemas in
// use (Ant's, and the one of Jenkins' xUnit plugin).
#include "report/formats/junit.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/formats/escape.h"
#include "report/formats/wording.h"

namespace pterun::report {
namespace {

struct Case {
  std::string group;  // "comparison", "gate", "evidence", "cell", or the command
  std::string name;
  double time_s = 0;
  std::string outcome;  // element of the child: "", "failure", "error" or "skipped"
  std::string type;     // "mismatch", "gate", …
  std::string message;
  std::string details;
};

double seconds(std::int64_t elapsed_ns) {
  return static_cast<double>(elapsed_ns) / 1e9;
}

Case command_case(const RunReport& report) {
  Case item{std::string(kind_name(report.kind)), "completes", 0, "", "", "", ""};
  const TimingSummary steady = steady_summary(report.timing);
  item.time_s =
      seconds(report.timing.load_ns + report.timing.first_ns) + steady.mean_ns * static_cast<double>(steady.runs) / 1e9;
  if (report.status != Status::kError || !report.error) return item;
  item.outcome = "error";
  item.type = error_code_name(report.error->code);
  item.message = report.error->message;
  for (const auto& [kind, place] : report.error->where)
    item.details += kind + ": " + place + "\n";
  if (!report.error->hint.empty()) item.details += "hint: " + report.error->hint + "\n";
  return item;
}

Case comparison_case(const ComparisonReport& item) {
  const compare::Comparison& c = item.comparison;
  Case result{"comparison",
              fmt::format("step {} output {} against {}", item.step, compared_name(item, true), reference_text(item)),
              0,
              "",
              "",
              "",
              ""};
  if (c.pass) return result;
  result.outcome = "failure";
  result.type = "mismatch";
  result.message = c.reason;
  result.details = fmt::format(
      "tolerance: {}\nmax abs {}, mean abs {}, max rel {}, RMSE {}, cosine {:.6f}, SNR {} dB\n",
      tolerance_text(c.tolerance), metric_text(c.metrics.max_abs), metric_text(c.metrics.mean_abs),
      metric_text(c.metrics.max_rel), metric_text(c.metrics.rmse), c.metrics.cosine, metric_text(c.metrics.snr_db));
  if (item.quanta) result.details += quanta_text(*item.quanta) + "\n";
  for (const compare::WorstElement& element : c.worst) {
    result.details += fmt::format("at {}: got {}, want {}, error {}\n", element.index.to_string(), element.got,
                                  element.want, metric_text(element.abs_error));
  }
  return result;
}

Case diverge_case(const DivergeReport& diverge) {
  Case item{"diverge", fmt::format("{} against {}", diverge_title(diverge), diverge.reference), 0, "", "", "", ""};
  if (!diverge.first) return item;
  item.outcome = "failure";
  item.type = "diverge";
  item.message = diverge_node_text(*diverge.first);
  item.details = diverge_counts_text(diverge) + "\n" + diverge_watching_text(diverge) + "\n";
  for (const std::string& line : diverge_mapping_lines(diverge))
    item.details += line + "\n";
  item.details += fmt::format("its inputs, got and want: {}\nagain: {}\n", diverge.inputs_file, diverge.command);
  for (const DivergeSkipped& skipped : diverge.skipped)
    item.details += fmt::format("not compared: {} x{} ({})\n", skipped.name, skipped.count, skipped.reason);
  return item;
}

Case evidence_case(const OptionReport& option, Evidence required) {
  Case item{"evidence",
            fmt::format("{}.{} ({}) reaches {}", option.backend, option.key, options::option_path_name(option.path),
                        evidence_name(required)),
            0,
            "",
            "",
            "",
            ""};
  if (option.evidence >= required) return item;
  item.outcome = "failure";
  item.type = "evidence";
  item.message =
      fmt::format("{} from {} reached {}", option.requested.to_string(), option.source, evidence_name(option.evidence));
  item.details = evidence_detail(option);
  return item;
}

Case gate_case(const GateReport& gate) {
  Case item{"gate", fmt::format("{} on {}", gate.gate, gate.cell), 0, "", "", "", ""};
  if (gate.verdict == "passed") return item;
  item.outcome = gate.verdict == "failed" ? "failure" : "skipped";
  item.type = "gate";
  item.message = fmt::format("{} {}", gate.verdict, gate_change_text(gate));
  item.details =
      fmt::format("value {}{}\n", gate.value, gate.baseline ? fmt::format(", baseline {}", *gate.baseline) : "");
  return item;
}

Case cell_case(const CellReport& cell) {
  Case item{"cell", cell.name, 0, "", "", "", cell.command};
  for (const ProcessReport& process : cell.processes)
    item.time_s += seconds(process.load_ns + process.first_ns) +
                   process.steady.mean_ns * static_cast<double>(process.steady.runs) / 1e9;
  if (!cell.failures.empty()) {
    item.outcome = "error";
    item.type = cell.failures.front().code;
    item.message = cell.failures.front().message;
  } else if (cell.outputs && !cell.outputs->pass) {
    item.outcome = "failure";
    item.type = "mismatch";
    item.message = cell.outputs->reason;
  }
  return item;
}

std::vector<Case> cases_of(const RunReport& report) {
  std::vector<Case> cases = {command_case(report)};
  for (const ComparisonReport& item : report.comparisons)
    cases.push_back(comparison_case(item));
  if (report.diverge) cases.push_back(diverge_case(*report.diverge));
  for (const OptionReport& option : report.options) {
    if (report.required_evidence) cases.push_back(evidence_case(option, *report.required_evidence));
  }
  if (!report.bench) return cases;
  for (const CellReport& cell : report.bench->cells) {
    if (report.bench->cells.size() > 1 || !cell.failures.empty()) cases.push_back(cell_case(cell));
  }
  for (const GateReport& gate : report.bench->gates)
    cases.push_back(gate_case(gate));
  return cases;
}

std::string case_xml(const Case& item) {
  const std::string open = fmt::format(R"(    <testcase name="{}" classname="pterun.{}" time="{:.6f}")",
                                       markup(item.name), item.group, item.time_s);
  if (item.outcome.empty()) return open + "/>\n";
  std::string attributes = fmt::format(R"( message="{}")", markup(item.message));
  // <skipped> has no type in the common schemas.
  if (item.outcome != "skipped") attributes += fmt::format(R"( type="{}")", markup(item.type));
  std::string details;
  for (std::size_t begin = 0; begin < item.details.size() && item.outcome != "skipped";) {
    const std::size_t end = std::min(item.details.find('\n', begin), item.details.size());
    details += markup(std::string_view(item.details).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return fmt::format("{}>\n      <{}{}>{}</{}>\n    </testcase>\n", open, item.outcome, attributes, details,
                     item.outcome);
}

std::string properties_xml(const RunReport& report) {
  std::string text = "    <properties>\n";
  const auto add = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", markup(name), markup(value));
  };
  add("command", command_text(report.manifest));
  for (const auto& [name, value] : report.manifest.versions)
    add(name, value);
  for (const FileIdentity& file : report.manifest.files)
    add(file.role + " " + file.path, file.sha256);
  return text + "    </properties>\n";
}

}  // namespace

std::string to_junit(const RunReport& report) {
  const std::vector<Case> cases = cases_of(report);
  const auto count = [&cases](std::string_view outcome) { return std::ranges::count(cases, outcome, &Case::outcome); };
  double time_s = 0;
  for (const Case& item : cases)
    time_s += item.time_s;
  const std::string counts = fmt::format(R"(tests="{}" failures="{}" errors="{}" time="{:.6f}")", cases.size(),
                                         count("failure"), count("error"), time_s);
  std::string time = report.manifest.started_at.substr(0, report.manifest.started_at.find('Z'));
  if (time.empty()) time = "1970-01-01T00:00:00";
  const std::string name = fmt::format("pterun {}", kind_name(report.kind));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites name=\"{}\" {}>\n", name, counts);
  text += fmt::format(
              R"(  <testsuite name="{}" package="pterun" id="0" {} skipped="{}" timestamp="{}" hostname="localhost">)",
              name, counts, count("skipped"), markup(time)) +
          "\n";
  text += properties_xml(report);
  for (const Case& item : cases)
    text += case_xml(item);
  std::string warnings;
  for (const Warning& warning : report.warnings)
    warnings += markup(fmt::format("warning[{}]: {}", warning.code, warning.message)) + "\n";
  return text + "    <system-out/>\n    <system-err>" + warnings + "</system-err>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace pterun::report
