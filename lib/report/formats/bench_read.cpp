// Reading the "bench" part and records.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "report/formats/bench.h"
#include "report/formats/read.h"

namespace pterun::report {
namespace {

std::optional<bench::Interval> read_interval(const JsonView& object, std::string_view key) {
  const auto member = object.find(key);
  if (!member) return std::nullopt;
  std::vector<double> ends;
  member->get(ends);
  if (ends.size() != 2) member->fail_with("two numbers");
  return bench::Interval{ends[0], ends[1]};
}

void read_percentile(const JsonView& object, std::string_view key, bench::Percentile& percentile) {
  const auto member = object.find(key);
  if (!member) return;
  member->read("value_ns", percentile.value_ns);
  member->read("needed_runs", percentile.needed_runs);
}

bench::Statistics read_statistics(const JsonView& value) {
  bench::Statistics s;
  value.at("runs").get(s.runs);
  value.read("min_ns", s.min_ns);
  value.read("max_ns", s.max_ns);
  read_percentile(value, "p50", s.p50);
  read_percentile(value, "p90", s.p90);
  read_percentile(value, "p99", s.p99);
  value.read("mean_ns", s.mean_ns);
  value.read("stddev_ns", s.stddev_ns);
  value.read("mad_ns", s.mad_ns);
  value.read("cv", s.cv);
  s.median_ci = read_interval(value, "median_ci_ns");
  value.read("outliers", s.outliers);
  if (const auto drift = value.find("drift")) {
    drift->read("relative", s.drift.relative);
    drift->read("significant", s.drift.significant);
  }
  return s;
}

ProcessReport read_process(const JsonView& value) {
  ProcessReport process;
  value.read("block", process.block);
  value.read("load_ns", process.load_ns);
  value.read("first_ns", process.first_ns);
  if (const auto warmup = value.find("warmup")) {
    warmup->read("runs", process.warmup_runs);
    warmup->read("stable", process.warmup_stable);
  }
  value.read("stop", process.stop);
  process.steady = read_statistics(value.at("steady"));
  value.read("samples_ns", process.samples_ns);
  value.read("sample_stride", process.sample_stride);
  value.read("memory", process.memory);
  value.read("output_sha256", process.output_sha256);
  return process;
}

CellFailure read_failure(const JsonView& value) {
  CellFailure failure;
  value.at("code").get(failure.code);
  value.read("message", failure.message);
  value.read("exit_code", failure.exit_code);
  return failure;
}

std::vector<CellOption> read_options(const JsonView& object) {
  std::vector<CellOption> options;
  for (const JsonView& item : object.items_of("options")) {
    CellOption& option = options.emplace_back();
    item.at("backend").get(option.backend);
    item.at("key").get(option.key);
    item.read("path", option.path);
    item.read("value", option.value);
    option.evidence = read_evidence(item.at("evidence"));
  }
  return options;
}

std::vector<ProfileEntry> read_profile(const JsonView& object) {
  std::vector<ProfileEntry> profile;
  for (const JsonView& item : object.items_of("profile")) {
    ProfileEntry& entry = profile.emplace_back();
    item.read("method", entry.method);
    item.read("instruction", entry.instruction);
    item.at("name").get(entry.name);
    item.read("total_ns", entry.total_ns);
    item.read("calls", entry.calls);
    item.read("share", entry.share);
    for (const JsonView& part : item.items_of("nodes")) {
      ProfileNode& node = entry.nodes.emplace_back();
      part.at("name").get(node.name);
      part.read("total_ns", node.total_ns);
      part.read("calls", node.calls);
      part.read("share", node.share);
    }
  }
  return profile;
}

CellComparison read_comparison(const JsonView& value) {
  CellComparison comparison;
  value.read("ratio", comparison.test.ratio);
  comparison.test.interval = read_interval(value, "interval");
  value.read("pairs", comparison.test.pairs);
  value.read("p_different", comparison.judgement.p_different);
  value.read("p_equivalent", comparison.judgement.p_equivalent);
  const JsonView verdict = value.at("verdict");
  for (const auto known :
       {bench::Verdict::kFaster, bench::Verdict::kSlower, bench::Verdict::kEquivalent, bench::Verdict::kInconclusive}) {
    if (verdict.value() != bench::verdict_name(known)) continue;
    comparison.judgement.verdict = known;
    return comparison;
  }
  verdict.fail_with("faster, slower, equivalent or inconclusive");
}

CellReport read_cell(const JsonView& value) {
  CellReport cell;
  value.at("name").get(cell.name);
  value.read("model", cell.model);
  std::map<std::string, std::string> axes;
  value.read("axes", axes);
  cell.axes.assign(axes.begin(), axes.end());
  value.read("command", cell.command);
  value.read("baseline", cell.is_baseline);
  if (const auto metrics = value.find("metrics")) {
    for (std::size_t i = 0; i < cell.metrics.size(); ++i)
      metrics->read(bench::kGateMetricNames[i], cell.metrics[i]);
  }
  for (const JsonView& process : value.items_of("processes"))
    cell.processes.push_back(read_process(process));
  for (const JsonView& failure : value.items_of("failures"))
    cell.failures.push_back(read_failure(failure));
  if (const auto comparison = value.find("comparison")) cell.comparison = read_comparison(*comparison);
  if (const auto outputs = value.find("outputs")) {
    OutputCheck& check = cell.outputs.emplace();
    outputs->read("identical", check.identical);
    outputs->read("pass", check.pass);
    outputs->read("reason", check.reason);
    outputs->read("max_abs", check.max_abs);
  }
  cell.options = read_options(value);
  cell.profile = read_profile(value);
  cell.warnings = read_warnings(value);
  return cell;
}

ProcessRecord read_record(const JsonView& document) {
  ProcessRecord record;
  document.at("command").get(record.command);
  document.at("block").get(record.block);
  document.read("control", record.control);
  if (const auto failure = document.find("failure")) record.failure = read_failure(*failure);
  record.process = read_process(document.at("process"));
  record.options = read_options(document);
  record.profile = read_profile(document);
  record.warnings = read_warnings(document);
  return record;
}

}  // namespace

BenchReport read_bench(const JsonView& value) {
  BenchReport report;
  for (const JsonView& cell : value.at("cells").items())
    report.cells.push_back(read_cell(cell));
  value.read("processes", report.processes);
  value.read("order_seed", report.order_seed);
  value.read("margin", report.margin);
  value.read("shard", report.shard);
  value.read("baseline", report.baseline);
  if (const auto control = value.find("control")) {
    report.control = ControlReport{read_comparison(*control), std::nullopt};
    control->read("false_positive_rate", report.control->false_positive_rate);
  }
  for (const JsonView& item : value.items_of("gates")) {
    GateReport& gate = report.gates.emplace_back();
    item.at("gate").get(gate.gate);
    item.read("cell", gate.cell);
    item.read("value", gate.value);
    item.read("baseline", gate.baseline);
    gate.interval = read_interval(item, "interval");
    item.at("verdict").get(gate.verdict);
  }
  return report;
}

Result<ProcessRecord> parse_process_report(std::string_view text, const std::string& file) {
  PTERUN_ASSIGN(RunReport report, read_report(text, file));
  ProcessRecord record;
  if (report.bench && !report.bench->cells.empty() && !report.bench->cells.front().processes.empty()) {
    CellReport& cell = report.bench->cells.front();
    record.process = std::move(cell.processes.front());
    record.profile = std::move(cell.profile);
    record.warnings = std::move(report.warnings);
  }
  for (const OptionReport& option : report.options) {
    record.options.push_back({option.backend, option.key, std::string(options::option_path_name(option.path)),
                              option.requested.to_string(), option.evidence});
  }
  if (report.error) {
    record.failure =
        CellFailure{std::string(error_code_name(report.error->code)), report.error->message, report.exit_code};
  }
  return record;
}

Result<ProcessRecord> parse_record(std::string_view line, const std::string& file) {
  ProcessRecord record;
  PTERUN_TRY(read_document(line, file, "pterun.bench-record/1",
                           [&record](const JsonView& document) { record = read_record(document); }));
  return record;
}

}  // namespace pterun::report
