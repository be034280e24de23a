// What follows from the cells of a sweep: ratios and verdicts, the A/A control, outputs against the baseline's, gates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "bench/gate.h"
#include "config/plan.h"
#include "report/bench_report.h"

namespace pterun::app {

// Sets `comparison` of every cell but the baseline, from medians of processes of the same blocks, all corrected for
// their number; and the control, when `control` holds processes.
void compare_cells(report::BenchReport& report, const std::vector<report::ProcessReport>& control, LogSink& log);

// The ratio of a cell's p50 to that of the baseline, from processes of the same blocks; none without such a pair.
std::optional<bench::RatioTest> test_against(const report::CellReport& cell, const report::CellReport& baseline,
                                             double margin);

// Sets `outputs` of a cell: equal hashes, or the saved outputs within the plan's tolerances. The files may be missing.
// Errors: none of the files; kUsage for bounds that cannot be parsed.
Result<void> check_outputs(const config::Plan& plan, const report::CellReport& baseline,
                           const std::string& baseline_file, report::CellReport& cell, const std::string& cell_file);

struct GatePlan {
  std::vector<bench::Gate> gates;
  std::optional<report::BenchReport> baseline;  // of --baseline
};

// Parses the gates and reads the baseline report before any work. Errors: kUsage, kInput (the report); kUsage for a
// relative gate with nothing to be relative to.
Result<GatePlan> read_gates(const config::BenchPlan& plan, std::size_t cells);

// Judges every gate on every cell that has it. With --baseline and no gate, p50 is compared and nothing can fail.
// Errors: kGate naming each gate that failed.
Result<void> judge_gates(const GatePlan& plan, report::BenchReport& report, LogSink& log);

}  // namespace pterun::app
