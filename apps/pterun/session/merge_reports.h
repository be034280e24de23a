// Several reports of one sweep as one: the shares of --shard, measured by several processes or machines.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "report/run_report.h"

namespace pterun::app {

struct SavedReport {
  std::string path;
  report::RunReport report;
};

// All cells, each compared with the baseline of its own share, which was measured where it was; the verdicts corrected
// for the number of all cells. The baseline of the first share is the baseline of the whole, those of the others stay
// as cells that name their share. Adds warnings for different machines and for shares that are missing. At least one
// report. Errors: kUsage for what is no benchmark; kInput when the programs differ or a cell is in two shares.
Result<report::RunReport> merge_reports(std::vector<SavedReport> saved);

}  // namespace pterun::app
