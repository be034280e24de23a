// Flags that were taken and have nothing to act on in this call: each is warned about ("inert_flag"). Only flags are:
// a config serves many calls, and what one of them does not need is no mistake there.
#pragma once

#include "base/log.h"
#include "config/plan.h"

namespace pterun::app {

// What the call turned out to be.
struct CallFacts {
  bool bundled = false;           // the program has test cases
  bool generated_inputs = false;  // some input comes from a generator
  bool live_reference = false;    // some reference runs a Python interpreter
  bool one_execution = false;     // and no more
};

void warn_about_inert_flags(const config::Plan& plan, const CallFacts& facts, LogSink& log);

// Those of a benchmark that compares nothing: one cell, no baseline report.
void warn_about_inert_bench_flags(const config::Plan& plan, bool sweep, LogSink& log);

}  // namespace pterun::app
