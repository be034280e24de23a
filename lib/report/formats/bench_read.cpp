// Reading the "bench" part and records. What is missing or of another type is an error that names the file: these files
// are pterun's own.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/formats/bench.h"

namespace pterun::report {
namespace {

using nlohmann::json;

double read_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string& text = value.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return text == "-Infinity" ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

template <typename T>
std::optional<T> read_optional(const json& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

std::optional<bench::Interval> read_interval(const json& value) {
  if (value.is_null()) return std::nullopt;
  return bench::Interval{read_number(value.at(0)), read_number(value.at(1))};
}

bench::Percentile read_percentile(const json& value) {
  return {read_optional<std::int64_t>(value.at("value_ns")), value.at("needed_runs").get<std::size_t>()};
}

bench::Statistics read_statistics(const json& value) {
  bench::Statistics s;
  s.runs = value.at("runs").get<std::size_t>();
  s.min_ns = value.at("min_ns").get<std::int64_t>();
  s.max_ns = value.at("max_ns").get<std::int64_t>();
  s.p50 = read_percentile(value.at("p50"));
  s.p90 = read_percentile(value.at("p90"));
  s.p99 = read_percentile(value.at("p99"));
  s.mean_ns = value.at("mean_ns").get<double>();
  s.stddev_ns = value.at("stddev_ns").get<double>();
  s.mad_ns = value.at("mad_ns").get<double>();
  s.cv = value.at("cv").get<double>();
  s.median_ci = read_interval(value.at("median_ci_ns"));
  s.outliers = value.at("outliers").get<std::size_t>();
  s.drift = {value.at("drift").at("relative").get<double>(), value.at("drift").at("significant").get<bool>()};
  return s;
}

ProcessReport read_process(const json& value) {
  ProcessReport process;
  process.block = value.at("block").get<std::size_t>();
  process.load_ns = value.at("load_ns").get<std::int64_t>();
  process.first_ns = value.at("first_ns").get<std::int64_t>();
  process.warmup_runs = value.at("warmup").at("runs").get<std::uint64_t>();
  process.warmup_stable = value.at("warmup").at("stable").get<bool>();
  process.stop = value.at("stop").get<std::string>();
  process.steady = read_statistics(value.at("steady"));
  process.samples_ns = value.at("samples_ns").get<std::vector<std::int64_t>>();
  process.sample_stride = value.at("sample_stride").get<std::size_t>();
  process.memory = value.at("memory").get<std::map<std::string, std::int64_t>>();
  process.output_sha256 = value.at("output_sha256").get<std::vector<std::string>>();
  return process;
}

std::vector<Warning> read_warnings(const json& value) {
  std::vector<Warning> warnings;
  for (const json& item : value) {
    warnings.push_back({item.at("code").get<std::string>(), item.at("message").get<std::string>(),
                        item.at("hint").get<std::string>()});
  }
  return warnings;
}

CellFailure read_failure(const json& value) {
  return {value.at("code").get<std::string>(), value.at("message").get<std::string>(),
          value.at("exit_code").get<int>()};
}

std::vector<ProfileEntry> read_profile(const json& value) {
  std::vector<ProfileEntry> profile;
  for (const json& item : value) {
    std::vector<ProfileNode> nodes;
    for (const json& node : item.at("nodes")) {
      nodes.push_back({node.at("name").get<std::string>(), node.at("total_ns").get<std::int64_t>(),
                       node.at("calls").get<std::int64_t>(), node.at("share").get<double>()});
    }
    profile.push_back({item.at("method").get<std::string>(), item.at("instruction").get<std::size_t>(),
                       item.at("name").get<std::string>(), item.at("total_ns").get<std::int64_t>(),
                       item.at("calls").get<std::int64_t>(), item.at("share").get<double>(), std::move(nodes)});
  }
  return profile;
}

bench::Verdict read_verdict(const json& value) {
  for (const auto verdict : {bench::Verdict::kFaster, bench::Verdict::kSlower, bench::Verdict::kEquivalent}) {
    if (value == bench::verdict_name(verdict)) return verdict;
  }
  return bench::Verdict::kInconclusive;
}

CellComparison read_comparison(const json& value) {
  CellComparison comparison;
  comparison.test.ratio = read_number(value.at("ratio"));
  comparison.test.interval = read_interval(value.at("interval"));
  comparison.test.pairs = value.at("pairs").get<std::size_t>();
  comparison.judgement = {read_verdict(value.at("verdict")), read_optional<double>(value.at("p_different")),
                          read_optional<double>(value.at("p_equivalent"))};
  return comparison;
}

CellReport read_cell(const json& value) {
  CellReport cell;
  cell.name = value.at("name").get<std::string>();
  cell.model = value.at("model").get<std::string>();
  for (const auto& [name, text] : value.at("axes").items())
    cell.axes.emplace_back(name, text.get<std::string>());
  cell.command = value.at("command").get<std::string>();
  cell.is_baseline = value.at("baseline").get<bool>();
  for (std::size_t i = 0; i < cell.metrics.size(); ++i)
    cell.metrics[i] = read_optional<double>(value.at("metrics").at(std::string(bench::kGateMetricNames[i])));
  for (const json& process : value.at("processes"))
    cell.processes.push_back(read_process(process));
  for (const json& failure : value.at("failures"))
    cell.failures.push_back(read_failure(failure));
  if (!value.at("comparison").is_null()) cell.comparison = read_comparison(value.at("comparison"));
  if (const json& outputs = value.at("outputs"); !outputs.is_null()) {
    cell.outputs = OutputCheck{outputs.at("identical").get<bool>(), outputs.at("pass").get<bool>(),
                               outputs.at("reason").get<std::string>(), read_number(outputs.at("max_abs"))};
  }
  cell.profile = read_profile(value.at("profile"));
  cell.warnings = read_warnings(value.at("warnings"));
  return cell;
}

BenchReport read_bench(const json& value) {
  BenchReport report;
  for (const json& cell : value.at("cells"))
    report.cells.push_back(read_cell(cell));
  report.processes = value.at("processes").get<std::size_t>();
  report.order_seed = value.at("order_seed").get<std::uint64_t>();
  report.margin = value.at("margin").get<double>();
  report.shard = value.at("shard").get<std::string>();
  report.baseline = value.at("baseline").get<std::string>();
  if (const json& control = value.at("control"); !control.is_null()) {
    report.control = ControlReport{read_comparison(control), read_optional<double>(control.at("false_positive_rate"))};
  }
  for (const json& gate : value.at("gates")) {
    report.gates.push_back({gate.at("gate").get<std::string>(), gate.at("cell").get<std::string>(),
                            read_number(gate.at("value")), read_optional<double>(gate.at("baseline")),
                            read_interval(gate.at("interval")), gate.at("verdict").get<std::string>()});
  }
  return report;
}

ProcessRecord read_process_report(const json& document) {
  ProcessRecord record;
  const bool measured = document.contains("bench") && !document.at("bench").at("cells").empty();
  if (measured && !document.at("bench").at("cells").at(0).at("processes").empty()) {
    CellReport cell = read_cell(document.at("bench").at("cells").at(0));
    record.process = std::move(cell.processes.front());
    record.profile = std::move(cell.profile);
    record.warnings = read_warnings(document.at("warnings"));
  }
  const json& error = document.at("error");
  if (error.is_null()) return record;
  record.failure = CellFailure{error.at("code").get<std::string>(), error.at("message").get<std::string>(),
                               document.at("exit_code").get<int>()};
  return record;
}

ProcessRecord read_record(const json& document) {
  ProcessRecord record;
  record.command = document.at("command").get<std::string>();
  record.block = document.at("block").get<std::size_t>();
  record.control = document.at("control").get<bool>();
  if (!document.at("failure").is_null()) record.failure = read_failure(document.at("failure"));
  record.process = read_process(document.at("process"));
  record.profile = read_profile(document.at("profile"));
  record.warnings = read_warnings(document.at("warnings"));
  return record;
}

// Parses and reads with one of the functions above, whose exceptions end here.
template <typename Read>
auto parse_with(Read read, std::string_view text, std::string_view schema, const std::string& file)
    -> Result<decltype(read(json()))> {
  try {
    const json document = json::parse(text);
    const std::string found = document.value("schema", "");
    if (found == schema) return read(document);
    return fail(make_error(ErrorCode::kInput, fmt::format("'{}': expected schema {}, found '{}'", file, schema, found))
                    .at("file", file));
  } catch (const json::exception& exception) {
    return fail(make_error(ErrorCode::kInput,
                           fmt::format("'{}' cannot be read as a benchmark's {}: {}", file, schema, exception.what()))
                    .at("file", file));
  }
}

constexpr std::string_view kReportSchema = "pterun.report/1";

}  // namespace

Result<BenchReport> parse_bench_report(std::string_view text, const std::string& file) {
  return parse_with([](const json& document) { return read_bench(document.at("bench")); }, text, kReportSchema, file);
}

Result<ProcessRecord> parse_process_report(std::string_view text, const std::string& file) {
  return parse_with(read_process_report, text, kReportSchema, file);
}

Result<ProcessRecord> parse_record(std::string_view line, const std::string& file) {
  return parse_with(read_record, line, "pterun.bench-record/1", file);
}

}  // namespace pterun::report
