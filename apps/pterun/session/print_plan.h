// --print-config: the resolved settings instead of the work.
#pragma once

#include "base/error.h"
#include "config/make_plan.h"
#include "config/plan.h"

namespace pterun::app {

// Checks the options of the plan and prints the plan with the origin of every value to stdout. The value is the exit
// code. Errors: the option codes.
Result<int> print_plan(const config::Plan& plan, config::Command command);

}  // namespace pterun::app
