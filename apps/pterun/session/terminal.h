// What run and bench say at a terminal beside their report: how text looks there, and warnings on stderr.
#pragma once

#include "config/plan.h"
#include "report/formats/text.h"
#include "report/run_report.h"

namespace pterun::app {

// Colour when stdout is a terminal and NO_COLOR is unset or empty.
report::TextStyle text_style(const config::OutputPlan& plan);
// The report's warnings on stderr; none with -q.
void print_warnings(const report::RunReport& report, int verbosity);

}  // namespace pterun::app
