// Filling an InspectReport: what a program holds, what it needs, and what of that this build has.
#pragma once

#include <string>
#include <vector>

#include "backend/backend_registry.h"
#include "config/plan.h"
#include "operators/operator.h"
#include "report/inspect_report.h"

namespace pterun::app {

// Opens the plan's model and data files and describes them; loads nothing. Errors: see program::Program::open and
// ExternalDataFile::open; kUsage for a method that is not there, listing those there are.
Result<report::InspectReport> inspect_program(const config::Plan& plan, const backend::BackendRegistry& backends,
                                              const operators::OperatorRegistry& operators);

// Every overload of this build with its dtypes.
std::vector<report::OperatorSupport> list_operators(const operators::OperatorRegistry& operators);

}  // namespace pterun::app
