// The inputs of one step: from files, generators, a bundled test case or the defaults.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/plan.h"
#include "program/bundled_program.h"
#include "reference/reference.h"
#include "runtime/method.h"

namespace pterun::app {

struct ResolvedInput {
  reference::StepInput value;
  std::string source;  // "m.inputs.npz:arr_0", "uniform(0,1) seed 0", "case 0", "baked into the program"
};

struct StepInputs {
  std::vector<ResolvedInput> inputs;  // one for each input of the method
  std::vector<std::string> files;     // that were read
  bool generated = false;             // some tensor came from a generator
};

// Errors: kInput naming input, given and allowed; kUsage for specs that cannot be parsed.
Result<StepInputs> resolve_inputs(const config::StepPlan& step, const runtime::Method& method,
                                  const program::BundledProgram* bundle, std::size_t bundled_case, std::uint64_t seed);

// Sets all of them. Errors: kInput.
Result<void> set_inputs(runtime::Method& method, const StepInputs& inputs);

}  // namespace pterun::app
