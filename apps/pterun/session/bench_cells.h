// The cells of a benchmark: every combination of models and axis values that is not excluded, each with the command
// line that measures it once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/make_plan.h"
#include "config/plan.h"
#include "pterun/command.h"

namespace pterun::app {

struct BenchCell {
  std::string name;  // "threads=1 XnnpackBackend.workspace_sharing_mode=per_model"; without axes the model's file name
  std::string model;
  std::vector<std::pair<std::string, std::string>> axes;
  std::vector<config::FlagValue> flags;
  bool is_baseline = false;

  // "bench", then flags and values.
  std::vector<std::string> arguments() const;
  // "pterun bench m.pte --threads 1", quoted for a shell.
  std::string command() const;
};

// Models first, then axes in their order, the first axis changing slowest. The options of every cell are checked as
// `run` would check them. Errors: kUsage for an axis, exclude or baseline that names what is not there, or an axis
// whose value is also given by a flag; those of make_plan and the option codes, naming the cell.
Result<std::vector<BenchCell>> make_cells(const config::Plan& plan, const Invocation& invocation);

// The share "K/N" of the cells; the baseline is in every share, since ratios need it on the same machine. "" is all.
// Errors: kUsage.
Result<std::vector<BenchCell>> take_shard(std::vector<BenchCell> cells, const config::Setting<std::string>& shard);

}  // namespace pterun::app
