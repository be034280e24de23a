// What a report's manifest says of the plan: the resolved config and what was shadowed in it.
#pragma once

#include "config/plan.h"
#include "options/check.h"
#include "report/run_report.h"

namespace pterun::app {

// `options` are the checked ones, which the resolved config then holds too; null when they were refused or are not
// used.
void describe_plan(const config::Plan& plan, const options::CheckedOptions* options, report::Manifest& manifest);

}  // namespace pterun::app
