// Sample reports of benchmarks.
#include "samples.h"

namespace pterun::report {
namespace {

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
ProcessReport sample_process(std::size_t block, std::int64_t level_ns, std::int64_t runs, Dice& dice) {
  ProcessReport process;
  process.block = block;
  process.load_ns = 4 * level_ns + dice.roll(level_ns / 4);
  process.first_ns = 2 * level_ns + dice.roll(level_ns / 5);
  process.warmup_runs = 5;
  process.stop = "enough";
  const std::int64_t level = level_ns + dice.roll(level_ns / 60);
  for (std::int64_t run = 0; run < runs; ++run) {
    std::int64_t time = level + run * level / (100 * runs);
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
    cell.processes.push_back(sample_process(block, level_ns, 12, dice));
  cell.metrics = summarize_cell(cell.processes);
  return cell;
}

// What both have.
RunReport sample_report() {
  RunReport report;
  report.kind = Kind::kBench;
  report.manifest.started_at = "2026-12-02T09:30:00Z";
  report.manifest.versions = {{"build_type", "Release"}, {"pterun", "0.1.0"}};
  report.manifest.host = {{"cpu", "A <fast> & \"good\" one"}, {"logical_processors", "4"}, {"system", "Linux"}};
  report.manifest.files = {{"model", "m.pte", 2048, std::string(64, 'a')}};
  report.manifest.verification = "full";
  return report;
}

}  // namespace

RunReport sample_sweep() {
  RunReport report = sample_report();
  report.status = Status::kFail;
  report.exit_code = 7;
  report.error = make_error(ErrorCode::kGate, "a performance gate failed: p50>+3% on threads=2 <global>");
  report.manifest.argv = {"pterun", "bench", "m.pte", "--axis", "threads=1,2", "--processes", "5"};
  report.manifest.resolved_config_json = R"({"threads":null})";
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
  bench.cells[5].options.clear();
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

RunReport sample_bench() {
  RunReport report = sample_report();
  report.manifest.argv = {"pterun", "bench", "m.pte", "--profile", "--fail-if", "p50>2ms"};
  report.manifest.threads = 2;
  BenchReport& bench = report.bench.emplace();
  Dice dice(11);
  CellReport cell;
  cell.name = "m.pte";
  cell.model = "m.pte";
  cell.is_baseline = true;
  cell.processes = {sample_process(0, 750000, 60, dice)};
  cell.metrics = summarize_cell(cell.processes);
  cell.profile = {{"forward", 0, "aten::permute_copy.out", 1500000, 10, 0.25, {}},
                  {"forward", 1, "delegate 0 (XnnpackBackend)", 4500000, 10, 0.75, {{"Softmax", 4000000, 10, 0.9}}}};
  report.timing.load_ns = cell.processes.front().load_ns;
  report.timing.first_ns = cell.processes.front().first_ns;
  bench.cells = {cell};
  bench.gates = {{"p50>2ms", "m.pte", 0.75e6, {}, {}, "passed"}};
  return report;
}

}  // namespace pterun::report
