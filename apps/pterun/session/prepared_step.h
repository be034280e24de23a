// One execution of one method, ready to be done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/plan.h"
#include "program/program.h"
#include "pterun/session/step_inputs.h"
#include "reference/reference.h"
#include "runtime/method.h"

namespace pterun::app {

struct PreparedStep {
  const config::StepPlan* plan = nullptr;
  runtime::Method* method = nullptr;
  StepInputs inputs;
  reference::Source* source = nullptr;               // null without a reference
  std::vector<HostTensor> outputs;                   // copies of the tensor outputs of the execution that is reported
  std::vector<std::optional<double>> output_scales;  // beside outputs: of quantised ones that are compared
};

// The method of a step: the one named, else `forward`, else the only one. Errors: kUsage listing those there are.
Result<std::string> choose_method(const program::Program& program, const std::string& wanted);

}  // namespace pterun::app
