// How a run ends: what failed, and what its error means for status and exit code.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::app {

// "output 0 of 'forward': 3 elements differ; ...": the comparisons that failed, "" when none did.
std::string failed_comparisons(const report::RunReport& report);

// Sets status and exit code by the report's error, if it has one.
void settle(report::RunReport& report);

}  // namespace pterun::app
