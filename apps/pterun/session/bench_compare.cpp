// Comparing cells.
#include "pterun/session/bench_compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "pterun/session/report_parts.h"
#include "pterun/session/saved_report.h"
#include "tensor/io/tensor_file.h"

namespace pterun::app {
namespace {

using report::BenchReport;
using report::CellReport;
using report::ProcessReport;

struct Pairs {
  std::vector<double> candidate;
  std::vector<double> baseline;
};

std::optional<double> metric_of(const ProcessReport& process, bench::GateMetric metric) {
  return report::summarize_cell({process})[static_cast<std::size_t>(metric)];
}

// A metric of the processes that measured both in the same block.
Pairs pairs_of(const std::vector<ProcessReport>& candidate, const std::vector<ProcessReport>& baseline,
               bench::GateMetric metric) {
  Pairs pairs;
  for (const ProcessReport& process : candidate) {
    const auto other = std::ranges::find(baseline, process.block, &ProcessReport::block);
    if (other == baseline.end()) continue;
    const auto got = metric_of(process, metric);
    const auto want = metric_of(*other, metric);
    if (!got || !want || *got <= 0 || *want <= 0) continue;
    pairs.candidate.push_back(*got);
    pairs.baseline.push_back(*want);
  }
  return pairs;
}

std::vector<double> values_of(const CellReport& cell, bench::GateMetric metric) {
  std::vector<double> values;
  for (const ProcessReport& process : cell.processes) {
    if (const auto value = metric_of(process, metric); value && *value > 0) values.push_back(*value);
  }
  return values;
}

const CellReport* find_baseline(const BenchReport& report) {
  const auto found = std::ranges::find_if(report.cells, &CellReport::is_baseline);
  return found == report.cells.end() ? nullptr : &*found;
}

// "output_2" or "step1_output_2" as step and output.
std::pair<std::size_t, std::size_t> place_of(std::string_view key) {
  const auto number_after = [key](std::string_view word) {
    std::size_t value = 0;
    const std::size_t at = key.find(word);
    if (at != std::string_view::npos) std::from_chars(key.data() + at + word.size(), key.data() + key.size(), value);
    return value;
  };
  return {number_after("step"), number_after("output_")};
}

// The cell of the baseline's report that a cell is compared with: of the same name, or the only one against the only
// one.
const CellReport* counterpart(const BenchReport& baseline, const BenchReport& report, const CellReport& cell) {
  if (baseline.cells.size() == 1 && report.cells.size() == 1) return &baseline.cells.front();
  const auto found = std::ranges::find(baseline.cells, cell.name, &CellReport::name);
  return found == baseline.cells.end() ? nullptr : &*found;
}

report::GateReport judge_gate(const bench::Gate& gate, const CellReport& cell, const CellReport* baseline, bool paired,
                              double margin, LogSink& log) {
  report::GateReport result;
  result.gate = gate.text;
  result.cell = cell.name;
  result.verdict = "inconclusive";
  const auto index = static_cast<std::size_t>(gate.metric);
  const std::optional<double> want = baseline == nullptr ? std::nullopt : baseline->metrics[index];
  result.value = cell.metrics[index].value_or(std::numeric_limits<double>::quiet_NaN());
  if (gate.relative) result.baseline = want;
  if (!cell.metrics[index] || (gate.relative && !want)) {
    log.warn({"gate_without_value",
              fmt::format("gate {} on {}: {} has no such value", gate.text, cell.name,
                          cell.metrics[index] ? "the baseline" : "the cell"),
              "percentiles need enough runs (--min-runs); cells are matched by name"});
    return result;
  }
  if (gate.relative) {
    const Pairs pairs = pairs_of(cell.processes, baseline->processes, gate.metric);
    const bench::RatioTest test =
        paired ? bench::paired_ratio(pairs.candidate, pairs.baseline, margin)
               : bench::unpaired_ratio(values_of(cell, gate.metric), values_of(*baseline, gate.metric), margin);
    result.interval = test.interval;
  }
  if (!gate.holds(result.value, want.value_or(0))) {
    result.verdict = "passed";
  } else if (result.interval && result.interval->low <= 1 && 1 <= result.interval->high) {
    log.warn({"gate_inconclusive",
              fmt::format("gate {} on {}: beyond the limit, but the difference may be chance", gate.text, cell.name),
              "take more processes (--processes)"});
  } else {
    result.verdict = "failed";
  }
  return result;
}

}  // namespace

std::optional<bench::RatioTest> test_against(const CellReport& cell, const CellReport& baseline, double margin) {
  const Pairs pairs = pairs_of(cell.processes, baseline.processes, bench::GateMetric::kP50);
  if (pairs.candidate.empty()) return std::nullopt;
  return bench::paired_ratio(pairs.candidate, pairs.baseline, margin);
}

void compare_cells(BenchReport& report, const std::vector<ProcessReport>& control, LogSink& log) {
  const CellReport* baseline = find_baseline(report);
  if (baseline == nullptr || baseline->processes.empty()) return;
  std::vector<CellReport*> others;
  std::vector<bench::RatioTest> tests;
  for (CellReport& cell : report.cells) {
    if (&cell == baseline || cell.processes.empty()) continue;
    const auto test = test_against(cell, *baseline, report.margin);
    if (!test) continue;
    others.push_back(&cell);
    tests.push_back(*test);
  }
  const std::vector<bench::Judgement> judgements = bench::judge(tests);
  for (std::size_t i = 0; i < others.size(); ++i)
    others[i]->comparison = report::CellComparison{tests[i], judgements[i]};
  if (control.empty()) return;
  const Pairs pairs = pairs_of(control, baseline->processes, bench::GateMetric::kP50);
  const bench::RatioTest test = bench::paired_ratio(pairs.candidate, pairs.baseline, report.margin);
  if (test.pairs == 0) return;
  report.control =
      report::ControlReport{{test, bench::judge(std::span(&test, 1)).front()},
                            bench::false_positive_rate(pairs.candidate, pairs.baseline, report.order_seed)};
  const bench::Verdict verdict = report.control->comparison.judgement.verdict;
  if (verdict != bench::Verdict::kFaster && verdict != bench::Verdict::kSlower) return;
  log.warn({"control_differs",
            fmt::format("the baseline measured twice comes out as {} than itself", bench::verdict_name(verdict)),
            "one control in twenty does by chance; else the machine is too unsteady for these verdicts"});
}

Result<void> check_outputs(const config::Plan& plan, const CellReport& baseline, const std::string& baseline_file,
                           CellReport& cell, const std::string& cell_file) {
  if (baseline.processes.empty() || cell.processes.empty()) return {};
  report::OutputCheck& check = cell.outputs.emplace();
  check.identical = cell.processes.front().output_sha256 == baseline.processes.front().output_sha256;
  check.pass = check.identical;
  if (check.identical) return {};
  const auto want = io::read_tensor_file(baseline_file);
  const auto got = io::read_tensor_file(cell_file);
  if (!want || !got) {
    check.reason = "the hashes differ, and the values were not kept";
    return {};
  }
  if (want->size() != got->size()) {
    check.reason = fmt::format("{} outputs, the baseline has {}", got->size(), want->size());
    return {};
  }
  check.pass = true;
  for (const io::NamedTensor& expected : *want) {
    const auto same = std::ranges::find(*got, expected.name, &io::NamedTensor::name);
    const auto [step, output] = place_of(expected.name);
    if (same == got->end() || step >= plan.steps.size() ||
        !compare::check_comparable(expected.name, same->tensor.view(), expected.tensor.view())) {
      check.pass = false;
      check.reason = fmt::format("{} has another shape or dtype", expected.name);
      continue;
    }
    PTERUN_ASSIGN(const compare::Tolerance tolerance,
                  tolerance_for(plan.steps[step], output, expected.tensor.view().dtype()));
    const compare::Comparison comparison =
        compare::compare_tensors(same->tensor.view(), expected.tensor.view(), tolerance);
    check.max_abs = std::max(check.max_abs, comparison.metrics.max_abs);
    if (comparison.pass) continue;
    check.pass = false;
    check.reason = fmt::format("{}: {}", expected.name, comparison.reason);
  }
  return {};
}

Result<GatePlan> read_gates(const config::BenchPlan& plan, std::size_t cells) {
  GatePlan gates;
  bool relative = false;
  for (const auto& text : plan.fail_if) {
    auto gate = bench::parse_gate(*text);
    if (!gate) return fail(std::move(gate).error().at("source", text.origin.describe()));
    relative = relative || gate->relative;
    gates.gates.push_back(*std::move(gate));
  }
  const std::string& path = *plan.baseline_report;
  if (path.empty()) {
    if (!relative || cells > 1) return gates;
    return fail(make_error(ErrorCode::kUsage, "a relative gate on one cell needs something to be relative to")
                    .with_hint("give an earlier report with --baseline REPORT.json"));
  }
  PTERUN_ASSIGN(report::RunReport saved, load_report(path, "--baseline"));
  if (!saved.bench) {
    return fail(make_error(ErrorCode::kInput, fmt::format("--baseline '{}': expected the report of a benchmark", path))
                    .with_hint("pterun bench MODEL --json FILE writes one")
                    .at("file", path));
  }
  gates.baseline = *std::move(saved.bench);
  return gates;
}

Result<void> judge_gates(const GatePlan& plan, BenchReport& report, LogSink& log) {
  std::vector<bench::Gate> gates = plan.gates;
  if (gates.empty() && plan.baseline) {
    bench::Gate shown;
    shown.text = "p50";
    shown.relative = true;
    shown.limit = std::numeric_limits<double>::infinity();
    gates.push_back(shown);
  }
  std::string failed;
  for (const bench::Gate& gate : gates) {
    for (const CellReport& cell : report.cells) {
      if (cell.processes.empty()) continue;
      const bool here = !plan.baseline;
      if (here && gate.relative && cell.is_baseline) continue;
      const CellReport* baseline = here ? find_baseline(report) : counterpart(*plan.baseline, report, cell);
      report.gates.push_back(judge_gate(gate, cell, baseline, here, report.margin, log));
      if (report.gates.back().verdict != "failed") continue;
      failed += fmt::format("{}{} on {}", failed.empty() ? "" : "; ", gate.text, cell.name);
    }
  }
  if (failed.empty()) return {};
  return fail(ErrorCode::kGate, "a performance gate failed: " + failed);
}

}  // namespace pterun::app
