// What a run's outputs are held against: the sources of expected outputs, and labels.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend_registry.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "config/plan.h"
#include "operators/operator.h"
#include "pterun/session/event_log.h"
#include "pterun/session/prepared_step.h"
#include "reference/reference.h"
#include "report/run_report.h"
#include "runtime/loader.h"

namespace pterun::app {

// What references are made with; borrowed for the life of the StepReferences.
struct ReferenceParts {
  runtime::Loader* loader = nullptr;  // of the run
  const operators::OperatorRegistry* operators = nullptr;
  ThreadPool* threads = nullptr;
  LogSink* log = nullptr;
  program::Verification verification = program::Verification::kFull;
};

class StepReferences {
 public:
  // Makes the source of every step that names one and puts it into the step; steps that name the same share it.
  // Errors: kUsage, kReference, as reference::make_source.
  Result<void> prepare(const config::Plan& plan, const ReferenceParts& parts, std::span<PreparedStep> steps);

 private:
  backend::BackendRegistry backends_;  // of the interpreter
  std::unique_ptr<runtime::Loader> interpreter_;
  std::vector<std::pair<std::string, std::unique_ptr<reference::Source>>> sources_;  // by spec
};

// An error in steps of the scale that a result comes from; nothing without a scale.
std::optional<report::Quanta> quanta_of(const compare::Metrics& metrics, DType dtype, std::optional<double> scale);
// The event of one comparison.
void tell(const report::ComparisonReport& item, EventLog& events);

// Holds the executed steps' outputs against their labels and references: the report gets accuracies and comparisons.
// Errors: kReference for a reference that cannot be had or does not fit, kUsage for a tolerance.
Result<void> compare_with_references(std::span<const PreparedStep> steps, EventLog& events, report::RunReport& report);

}  // namespace pterun::app
