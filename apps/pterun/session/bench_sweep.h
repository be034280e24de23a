// A sweep: every cell in fresh processes, in random blocks, so that what changes with time hits all cells alike.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "config/plan.h"
#include "pterun/session/bench_cells.h"
#include "pterun/session/event_log.h"
#include "report/run_report.h"

namespace pterun::app {

// Whether the plan needs processes of their own: several cells or processes, an axis, a shard or a file to resume.
bool needs_sweep(const config::Plan& plan);

// One block is one process of each cell, in an order of its own drawn from the order seed; with 3 processes or more and
// several cells, the baseline once more as the A/A control. Finished processes go to the --resume file at once; those
// in it are not measured again, failed ones are. Fills report.bench, the manifest and warnings. A process that fails is
// noted in its cell and the rest goes on. Errors: kInterrupted, kInput (the resume file), kOutput, kInternal.
Result<void> run_sweep(const config::Plan& plan, const std::vector<BenchCell>& cells, report::RunReport& report,
                       LogSink& log, EventLog& events);

// What makes a sweep fail beside gates: the first failure of a cell, then outputs of cells of the baseline's model that
// differ (kMismatch).
Result<void> judge_sweep(const report::BenchReport& report);

}  // namespace pterun::app
