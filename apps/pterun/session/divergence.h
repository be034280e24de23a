// `pterun run --diverge`: every operator and every node of a delegate computed again by reference kernels from the very
// inputs that it had, and the first whose error exceeds its share of the tolerance.
#pragma once

#include <span>
#include <string>

#include "base/thread_pool.h"
#include "operators/operator.h"
#include "pterun/session/prepared_step.h"
#include "report/diverge_report.h"
#include "runtime/loader.h"

namespace pterun::app {

// Everything is borrowed.
struct DivergenceRequest {
  const runtime::LoadRequest* load = nullptr;  // the program, its data and verification; options are left out
  std::string reference_program;               // whose operators and nodes are the reference; "": the program's own
  const operators::OperatorRegistry* operators = nullptr;
  ThreadPool* threads = nullptr;
  LogSink* log = nullptr;
  std::span<const PreparedStep> steps;  // executed: with inputs and outputs
  std::string inputs_file;              // .npz that the inputs of the first diverging node go to
};

// Executes the steps again with every intermediate result watched. Errors: of loading and executing; kReference when
// the reference program is built otherwise; kOutput.
Result<report::DivergeReport> find_divergence(const DivergenceRequest& request);

}  // namespace pterun::app
