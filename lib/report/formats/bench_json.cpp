// Writing the "bench" part and records.
#include "report/formats/bench.h"
#include "report/formats/json_values.h"

namespace pterun::report {
namespace {

using nlohmann::json;

json interval_json(const std::optional<bench::Interval>& interval) {
  return interval ? json{number_json(interval->low), number_json(interval->high)} : json(nullptr);
}

json percentile_json(const bench::Percentile& percentile) {
  return {{"value_ns", optional_json(percentile.value_ns)}, {"needed_runs", percentile.needed_runs}};
}

json statistics_json(const bench::Statistics& s) {
  return {{"runs", s.runs},
          {"min_ns", s.min_ns},
          {"max_ns", s.max_ns},
          {"p50", percentile_json(s.p50)},
          {"p90", percentile_json(s.p90)},
          {"p99", percentile_json(s.p99)},
          {"mean_ns", s.mean_ns},
          {"stddev_ns", s.stddev_ns},
          {"mad_ns", s.mad_ns},
          {"cv", s.cv},
          {"median_ci_ns", interval_json(s.median_ci)},
          {"outliers", s.outliers},
          {"drift", {{"relative", s.drift.relative}, {"significant", s.drift.significant}}}};
}

json process_json(const ProcessReport& process) {
  return {{"block", process.block},
          {"load_ns", process.load_ns},
          {"first_ns", process.first_ns},
          {"warmup", {{"runs", process.warmup_runs}, {"stable", process.warmup_stable}}},
          {"stop", process.stop},
          {"steady", statistics_json(process.steady)},
          {"samples_ns", process.samples_ns},
          {"sample_stride", process.sample_stride},
          {"memory", process.memory},
          {"output_sha256", process.output_sha256}};
}

json options_json(const std::vector<CellOption>& options) {
  json array = json::array();
  for (const CellOption& option : options) {
    array.push_back({{"backend", option.backend},
                     {"key", option.key},
                     {"path", option.path},
                     {"value", option.value},
                     {"evidence", evidence_name(option.evidence)}});
  }
  return array;
}

json failure_json(const CellFailure& failure) {
  return {{"code", failure.code}, {"message", failure.message}, {"exit_code", failure.exit_code}};
}

json profile_json(const std::vector<ProfileEntry>& profile) {
  json array = json::array();
  for (const ProfileEntry& entry : profile) {
    json nodes = json::array();
    for (const ProfileNode& node : entry.nodes) {
      nodes.push_back({{"name", node.name}, {"total_ns", node.total_ns}, {"calls", node.calls}, {"share", node.share}});
    }
    array.push_back({{"method", entry.method},
                     {"instruction", entry.instruction},
                     {"name", entry.name},
                     {"total_ns", entry.total_ns},
                     {"calls", entry.calls},
                     {"share", entry.share},
                     {"nodes", nodes}});
  }
  return array;
}

json comparison_json(const CellComparison& comparison) {
  return {{"ratio", number_json(comparison.test.ratio)},
          {"interval", interval_json(comparison.test.interval)},
          {"pairs", comparison.test.pairs},
          {"p_different", optional_json(comparison.judgement.p_different)},
          {"p_equivalent", optional_json(comparison.judgement.p_equivalent)},
          {"verdict", bench::verdict_name(comparison.judgement.verdict)}};
}

json cell_json(const CellReport& cell) {
  json axes = json::object();
  for (const auto& [name, value] : cell.axes)
    axes[name] = value;
  json metrics = json::object();
  for (std::size_t i = 0; i < cell.metrics.size(); ++i)
    metrics[std::string(bench::kGateMetricNames[i])] = optional_json(cell.metrics[i]);
  json processes = json::array();
  for (const ProcessReport& process : cell.processes)
    processes.push_back(process_json(process));
  json failures = json::array();
  for (const CellFailure& failure : cell.failures)
    failures.push_back(failure_json(failure));
  json outputs = nullptr;
  if (cell.outputs) {
    outputs = {{"identical", cell.outputs->identical},
               {"pass", cell.outputs->pass},
               {"reason", cell.outputs->reason},
               {"max_abs", number_json(cell.outputs->max_abs)}};
  }
  return {{"name", cell.name},
          {"model", cell.model},
          {"axes", axes},
          {"command", cell.command},
          {"baseline", cell.is_baseline},
          {"metrics", metrics},
          {"options", options_json(cell.options)},
          {"processes", processes},
          {"failures", failures},
          {"comparison", cell.comparison ? comparison_json(*cell.comparison) : json(nullptr)},
          {"outputs", outputs},
          {"profile", profile_json(cell.profile)},
          {"warnings", warnings_json(cell.warnings)}};
}

json gate_json(const GateReport& gate) {
  return {{"gate", gate.gate},
          {"cell", gate.cell},
          {"value", number_json(gate.value)},
          {"baseline", optional_json(gate.baseline)},
          {"interval", interval_json(gate.interval)},
          {"verdict", gate.verdict}};
}

}  // namespace

json bench_json(const BenchReport& report) {
  json cells = json::array();
  for (const CellReport& cell : report.cells)
    cells.push_back(cell_json(cell));
  json gates = json::array();
  for (const GateReport& gate : report.gates)
    gates.push_back(gate_json(gate));
  json control = nullptr;
  if (report.control) {
    control = comparison_json(report.control->comparison);
    control["false_positive_rate"] = optional_json(report.control->false_positive_rate);
  }
  return {{"cells", cells},
          {"processes", report.processes},
          {"order_seed", report.order_seed},
          {"margin", report.margin},
          {"confidence", bench::kConfidence},
          {"shard", report.shard},
          {"baseline", report.baseline},
          {"control", control},
          {"gates", gates}};
}

std::string record_line(const ProcessRecord& record) {
  json document = {{"schema", "pterun.bench-record/1"},
                   {"command", record.command},
                   {"block", record.block},
                   {"control", record.control},
                   {"failure", record.failure ? failure_json(*record.failure) : json(nullptr)},
                   {"process", process_json(record.process)},
                   {"options", options_json(record.options)},
                   {"profile", profile_json(record.profile)},
                   {"warnings", warnings_json(record.warnings)}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pterun::report
