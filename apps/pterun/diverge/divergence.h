// `pterun run --diverge`: every operator and every node of a delegate computed again by reference kernels from the very
// inputs that it had, and the first whose error exceeds its share of the tolerance.
#pragma once

#include <span>
#include <string>

#include "pterun/diverge/walk.h"
#include "report/run_report.h"

namespace pterun::app {

struct DivergenceRequest {
  WalkRequest walk;                                       // its steps are executed: they have inputs and outputs
  std::string inputs_file;                                // .npz that the inputs of the first diverging node go to
  std::span<const report::ComparisonReport> comparisons;  // of the steps' outputs
};

// Executes the steps again with every intermediate result watched. Results of steps whose reference shows what each of
// its operators gives are also judged by that. Errors: of loading and executing; kReference when the reference program
// is built otherwise; kOutput.
Result<report::DivergeReport> find_divergence(const DivergenceRequest& request);

}  // namespace pterun::app
