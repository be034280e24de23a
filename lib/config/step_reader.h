// Normalised inputs, shapes, dim orders, reference and tolerance of one step -> StepPlan.
#pragma once

#include "base/error.h"
#include "config/node.h"
#include "config/plan.h"

namespace pterun::config {

// `step` is a step or a whole tree in the form of normalize(); its "method" is not read. Errors: setting_error's codes.
Result<void> read_step(const Node& step, StepPlan& plan);

}  // namespace pterun::config
