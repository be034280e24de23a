// The sample reports, and golden files.
#include "samples.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include <catch2/catch_test_macros.hpp>

namespace pterun::report {
namespace {

OptionReport load_option() {
  OptionReport option;
  option.backend = "XnnpackBackend";
  option.key = "workspace_sharing_mode";
  option.path = options::OptionPath::kLoad;
  option.requested = options::OptionValue(1);
  option.source = "--load-option #1";
  option.shadowed.push_back(
      {options::OptionValue(2), "m.json:/load_options/XnnpackBackend/workspace_sharing_mode (line 4)"});
  option.receipts.push_back(
      {"XnnpackBackend", "forward", 0, "workspace_sharing_mode", options::OptionValue(1), 1200, "Ok"});
  option.effects.push_back(
      {"forward", 0, options::OptionValue(1), "per_model: workspace 1, 640 bytes, used by 1 delegate"});
  option.evidence = Evidence::kEffective;
  return option;
}

OptionReport process_wide_option() {
  OptionReport option;
  option.backend = "XnnpackBackend";
  option.key = "weight_cache_enabled";
  option.requested = options::OptionValue(true);
  option.source = "--global-option #1";
  option.original = options::OptionValue(false);
  option.stored = options::OptionValue(true);
  option.stored_after = options::OptionValue(true);
  option.evidence = Evidence::kStored;
  return option;
}

// Whole numbers only, so that the samples are the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::int64_t roll(std::int64_t sides) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(sides));
  }

 private:
  std::uint64_t state_;
};

// Runs around `level_ns` with a tail upwards, a level of its own and a small drift.
ProcessReport sample_process(std::size_t block, std::int64_t level_ns, Dice& dice) {
  ProcessReport process;
  process.block = block;
  process.load_ns = 4 * level_ns + dice.roll(level_ns / 4);
  process.first_ns = 2 * level_ns + dice.roll(level_ns / 5);
  process.warmup_runs = 5;
  process.stop = "enough";
  const std::int64_t level = level_ns + dice.roll(level_ns / 60);
  for (std::int64_t run = 0; run < 60; ++run) {
    std::int64_t time = level + run * level / 6000;
    for (int i = 0; i < 3; ++i)
      time += dice.roll(level / 80);
    if (dice.roll(30) == 0) time += dice.roll(level / 3);
    process.samples_ns.push_back(time);
  }
  process.steady = bench::summarize(process.samples_ns);
  process.memory = {{"peak_rss_bytes", 9000000 + dice.roll(50000)},
                    {"planned_bytes", 65536},
                    {"workspace_after_load_bytes", 131072},
                    {"rss_after_first_bytes", 8900000},
                    {"rss_after_load_bytes", 8100000},
                    {"rss_before_load_bytes", 5200000},
                    {"rss_steady_bytes", 8950000}};
  process.output_sha256 = {std::string(64, 'c')};
  return process;
}

CellReport sample_cell(const std::string& threads, const std::string& mode, std::int64_t level_ns, Dice& dice) {
  CellReport cell;
  cell.options = {{"XnnpackBackend", "workspace_sharing_mode", "load", mode, Evidence::kEffective}};
  cell.name = "threads=" + threads + " XnnpackBackend.workspace_sharing_mode=" + mode;
  cell.model = "m.pte";
  cell.axes = {{"XnnpackBackend.workspace_sharing_mode", mode}, {"threads", threads}};
  cell.command =
      "pterun bench m.pte --threads " + threads + " --load-option XnnpackBackend.workspace_sharing_mode=" + mode;
  for (std::size_t block = 0; block < 5; ++block)
    cell.processes.push_back(sample_process(block, level_ns, dice));
  cell.metrics = summarize_cell(cell.processes);
  return cell;
}

}  // namespace

RunReport sample_bench() {
  RunReport report;
  report.kind = Kind::kBench;
  report.status = Status::kFail;
  report.exit_code = 7;
  report.error = make_error(ErrorCode::kGate, "a performance gate failed: p50>+3% on threads=2 <global>");
  report.manifest.started_at = "2026-12-02T09:30:00Z";
  report.manifest.argv = {"pterun", "bench", "m.pte", "--axis", "threads=1,2", "--processes", "5"};
  report.manifest.resolved_config_json = R"({"threads":null})";
  report.manifest.versions = {{"build_type", "Release"}, {"pterun", "0.1.0"}};
  report.manifest.host = {{"cpu", "A <fast> & \"good\" one"}, {"system", "Linux"}};
  report.manifest.files = {{"model", "m.pte", 2048, std::string(64, 'a')}};
  report.manifest.verification = "full";
  BenchReport& bench = report.bench.emplace();
  Dice dice(7);
  for (const std::string threads : {"1", "2"}) {
    std::int64_t level_ns = threads == "1" ? 900000 : 520000;
    for (const std::string mode : {"disabled", "per_model", "global"}) {
      bench.cells.push_back(sample_cell(threads, mode, level_ns, dice));
      level_ns += level_ns / 25;
    }
  }
  bench.cells[0].is_baseline = true;
  const auto compare = [&](std::size_t cell, double ratio, bench::Verdict verdict) {
    bench.cells[cell].comparison =
        CellComparison{{ratio, bench::Interval{ratio - 0.02, ratio + 0.02}, {}, {}, 5}, {verdict, 0.01, 0.9}};
    bench.cells[cell].outputs = OutputCheck{true, true, "", 0};
  };
  compare(1, 1.04, bench::Verdict::kSlower);
  compare(2, 1.01, bench::Verdict::kInconclusive);
  compare(3, 0.58, bench::Verdict::kFaster);
  compare(4, 0.6, bench::Verdict::kFaster);
  bench.cells[4].outputs = OutputCheck{false, false, "output_0: 1 of 10 elements are outside", 0.5};
  bench.cells[5].failures = {{"crash", "killed by signal 9 (Killed)", 6}};
  bench.cells[5].processes.clear();
  bench.cells[5].metrics = {};
  bench.cells[0].profile = {
      {"forward", 0, "delegate 0 (XnnpackBackend)", 8000000, 10, 0.8, {{"Fully Connected", 7000000, 10, 0.875}}},
      {"forward", 1, "aten::add.out", 2000000, 10, 0.2, {}}};
  bench.cells[0].warnings = {{"noisy", "times vary by 12.0 %", "compare medians"}};
  bench.processes = 5;
  bench.order_seed = 3;
  bench.margin = 0.02;
  bench.control =
      ControlReport{{{1.002, bench::Interval{0.99, 1.014}, {}, {}, 5}, {bench::Verdict::kEquivalent, 0.6, 0.01}}, 0.04};
  bench.gates = {{"p50>+3%", bench.cells[1].name, 1.04e6, 1e6, bench::Interval{1.02, 1.06}, "failed"},
                 {"p50>+3%", bench.cells[3].name, 0.58e6, 1e6, bench::Interval{0.56, 0.6}, "passed"},
                 {"load>50ms", bench.cells[1].name, 4e6, {}, {}, "inconclusive"}};
  report.warnings = {{"noisy", bench.cells[0].name + ": times vary by 12.0 %", "compare medians"}};
  return report;
}

RunReport sample_run() {
  RunReport report;
  report.status = Status::kFail;
  report.exit_code = 1;
  report.error = make_error(ErrorCode::kMismatch, "output 0 of 'forward': 1 of 2 elements are outside");
  report.manifest.started_at = "2026-12-02T09:30:00Z";
  report.manifest.argv = {"pterun", "run", "m.pte"};
  report.manifest.versions = {{"pterun", "0.1.0"}};
  report.manifest.files = {{"model", "m.pte", 2048, std::string(64, 'a')}};
  report.manifest.threads = 2;
  report.manifest.verification = "full";
  report.options = {process_wide_option(), load_option()};
  report.required_evidence = Evidence::kDelivered;
  report.load = {1000, 2000, {{"forward", 0, "XnnpackBackend", 1024, 1500, 1, {}, {{"packed_bytes", 256}}}}};
  MethodReport method;
  method.name = "forward";
  method.load_ns = 2000;
  method.inputs = {{"tensor", "float32", {1, 2}, "float32[1, 2]", "uniform(0,1), seed 0", ""}};
  method.outputs = {{"tensor", "float32", {1, 2}, "float32[1, 2]", "", ""}};
  method.planned_bytes = {64};
  method.delegates = 1;
  method.delegate_calls = 1;
  report.methods = {method};
  OutputReport output;
  output.method = "forward";
  output.name = "output_0";
  output.dtype = "float32";
  output.shape = {1, 2};
  output.sha256 = std::string(64, 'b');
  output.stats = TensorStats{-1, 2.5, 0.75, 1.75, 0, 1};
  report.outputs = {output};
  ComparisonReport comparison;
  comparison.method = "forward";
  comparison.reference = "m.expected.npz";
  comparison.comparison.reason = "1 of 2 elements are outside atol 0.0001 + rtol 0.0001 x |want|";
  comparison.comparison.metrics.elements = 2;
  comparison.comparison.metrics.max_abs = 0.5;
  comparison.comparison.metrics.max_rel = std::numeric_limits<double>::infinity();
  comparison.comparison.metrics.max_ulp = 7;
  comparison.comparison.metrics.mismatches = 1;
  comparison.comparison.metrics.mismatch_fraction = 0.5;
  comparison.comparison.worst = {{Shape{0, 1}, 2.5, std::numeric_limits<double>::quiet_NaN(), 0.5}};
  comparison.comparison.tolerance = {1e-4, 1e-4, {}};
  comparison.comparison.histogram.assign(compare::kHistogramBins, 0);
  comparison.comparison.histogram[0] = 1;
  comparison.comparison.histogram[16] = 1;
  comparison.reference_kind = "converted_graph";
  comparison.quanta = Quanta{0.25, 2, 1.5};
  ComparisonReport passed;
  passed.method = "forward";
  passed.output = 1;
  passed.reference = "m.expected.npz";
  passed.reference_kind = "file";
  passed.comparison.pass = true;
  passed.comparison.metrics.elements = 1000;
  passed.comparison.metrics.max_abs = 2.4e-7;
  passed.comparison.metrics.mean_abs = 3e-8;
  passed.comparison.metrics.rmse = 4.5e-8;
  passed.comparison.metrics.max_rel = 1e-6;
  passed.comparison.metrics.snr_db = 138.5;
  passed.comparison.metrics.argmax_agree = 1;
  passed.comparison.worst = {{Shape{7, 3}, 1.25, 1.25000024, 2.4e-7}};
  passed.comparison.tolerance = {1e-4, 1e-4, {}};
  passed.comparison.histogram = {310, 0, 0, 0, 0, 0, 0, 0, 12, 170, 508};
  passed.comparison.histogram.resize(compare::kHistogramBins);
  report.comparisons = {comparison, passed};
  report.accuracy = {{0, "forward", 0, "labels.npy", 9, 10}};
  report.timing.load_ns = 3000;
  report.timing.first_ns = 500;
  report.timing.steady_ns = {100, 110, 120};
  report.memory = {{"peak_rss_bytes", 1048576}, {"planned_bytes", 64}};
  report.warnings = {{"no_delegate", "method 'forward' runs without any delegate", "export it for XNNPACK"}};
  return report;
}

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(PTERUN_TEST_DATA) + "/../golden/" + name;
  if (std::getenv("PTERUN_RENEW_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  CHECK(text == std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace pterun::report
