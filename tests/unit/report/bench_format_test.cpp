// The "bench" part of a report survives being written and read; what is no such report is refused.
#include <catch2/catch_test_macros.hpp>

#include "report/formats/bench.h"
#include "report/formats/json.h"
#include "report/formats/read.h"

using namespace pterun;
using namespace pterun::report;

namespace {

RunReport full_report() {
  RunReport report;
  report.kind = Kind::kBench;
  CellReport cell;
  cell.name = "threads=1";
  cell.model = "m.pte";
  cell.axes = {{"threads", "1"}};
  cell.command = "pterun bench m.pte --threads 1";
  cell.is_baseline = true;
  ProcessReport process;
  process.block = 2;
  process.load_ns = 5;
  process.first_ns = 6;
  process.warmup_runs = 3;
  process.warmup_stable = false;
  process.stop = "interval";
  process.samples_ns = {10, 11, 12, 13, 14, 15, 16};
  process.steady = bench::summarize(process.samples_ns);
  process.memory = {{"peak_rss_bytes", 4096}};
  process.output_sha256 = {"ab"};
  cell.processes = {process};
  cell.metrics = summarize_cell(cell.processes);
  cell.failures = {{"crash", "killed", 6}};
  cell.comparison = CellComparison{{1.25, bench::Interval{1.1, 1.4}, {}, {}, 5}, {bench::Verdict::kSlower, 0.01, 0.9}};
  cell.outputs = OutputCheck{false, true, "", 0.5};
  cell.profile = {{"forward", 1, "delegate 0 (XnnpackBackend)", 100, 10, 1.0, {{"Sigmoid (NC, F32)", 80, 10, 0.8}}}};
  cell.warnings = {{"noisy", "message", "hint"}};
  BenchReport& bench = report.bench.emplace();
  bench.cells = {cell};
  bench.processes = 5;
  bench.order_seed = 7;
  bench.margin = 0.02;
  bench.shard = "1/2";
  bench.baseline = "b.json";
  bench.control = ControlReport{{{1.0, {}, {}, {}, 5}, {bench::Verdict::kEquivalent, 0.5, 0.01}}, 0.05};
  bench.gates = {{"p50>+3%", "threads=1", 13, 12.5, bench::Interval{0.9, 1.2}, "inconclusive"}};
  return report;
}

}  // namespace

TEST_CASE("a benchmark's report survives being written and read") {
  const std::string text = to_json(full_report());
  const auto read = read_report(text, "r.json");
  REQUIRE(read.has_value());
  CHECK(to_json(*read) == text);
  CHECK(read->bench->cells[0].metrics[static_cast<std::size_t>(bench::GateMetric::kP50)] == 13.0);
  CHECK_FALSE(read->bench->cells[0].metrics[static_cast<std::size_t>(bench::GateMetric::kP99)].has_value());
}

TEST_CASE("the report of one process becomes a record, with its error if it had one") {
  RunReport report = full_report();
  const auto good = parse_process_report(to_json(report), "r.json");
  REQUIRE(good.has_value());
  CHECK_FALSE(good->failure.has_value());
  CHECK(good->process.samples_ns.size() == 7);
  report.bench.reset();
  report.error = make_error(ErrorCode::kInvalidProgram, "bad");
  report.exit_code = 3;
  const auto bad = parse_process_report(to_json(report), "r.json");
  REQUIRE(bad.has_value());
  REQUIRE(bad->failure.has_value());
  CHECK(bad->failure->code == "InvalidProgram");
  CHECK(bad->failure->exit_code == 3);
}

TEST_CASE("a record survives being a line") {
  ProcessRecord record;
  record.command = "pterun bench 'a b.pte'";
  record.block = 4;
  record.control = true;
  record.process = full_report().bench->cells[0].processes[0];
  const std::string line = record_line(record);
  CHECK(line.find('\n') == line.size() - 1);
  const auto read = parse_record(line, "r.jsonl");
  REQUIRE(read.has_value());
  CHECK(record_line(*read) == line);
}

TEST_CASE("what is no record is refused, naming the file") {
  for (const std::string text : {"", "[]", "{}", "{\"schema\": 3}", R"({"schema": "pterun.report/1"})",
                                 R"({"schema": "pterun.bench-record/1", "command": "c", "block": 1})"}) {
    CAPTURE(text);
    const auto read = parse_record(text, "r.jsonl");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::kInput);
    CHECK(read.error().message.find("'r.jsonl'") != std::string::npos);
  }
}

TEST_CASE("metrics of a cell are medians over its processes, of min the least") {
  std::vector<ProcessReport> processes(3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto base = static_cast<std::int64_t>(100 * (i + 1));
    processes[i].steady = bench::summarize(std::vector<std::int64_t>{base, base + 10, base + 20});
  }
  const CellMetrics metrics = summarize_cell(processes);
  CHECK(metrics[static_cast<std::size_t>(bench::GateMetric::kP50)] == 210.0);
  CHECK(metrics[static_cast<std::size_t>(bench::GateMetric::kMin)] == 100.0);
  CHECK_FALSE(metrics[static_cast<std::size_t>(bench::GateMetric::kPeakRss)].has_value());
}
