// `pterun options check`: options set, read back and restored without a model.
#pragma once

#include <vector>

#include "backend/backend_registry.h"
#include "base/error.h"
#include "base/log.h"
#include "config/plan.h"
#include "report/run_report.h"

namespace pterun::app {

// Checks every request, sets the process-wide ones, hands the load options to a load map, and restores what was set.
// `reports` gets what each option went through, also when a later one fails.
// Errors: kUsage when there is no request; the option codes; a backend's refusal (exit 6); kEvidence when a value does
// not read back as set, is not restored, or has less than the required evidence.
Result<void> check_round_trip(const config::OptionsPlan& plan, backend::BackendRegistry& registry, LogSink& log,
                              std::vector<report::OptionReport>& reports);

}  // namespace pterun::app
