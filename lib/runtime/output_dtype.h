// Outputs whose dtype the exporter declared wrongly (operators/result_dtype.h) are given the one that eager gives.
#pragma once

#include "base/log.h"
#include "program/program.h"
#include "runtime/method_state.h"

namespace pterun::runtime {

// Changes the dtype of the call's result, and of the method's outputs that it is, when nothing else in the method
// mentions it: instructions that read it were exported for the declared dtype, which then stays. Warns of a change.
// The call's arguments are the state's last ones, and the new dtype's elements are not larger than the declared one's.
void correct_output_dtype(Method::State& state, const Step& step, const program::KernelCall& call, LogSink& log);

}  // namespace pterun::runtime
