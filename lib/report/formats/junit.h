// Verdicts as JUnit XML, as CI systems read it: one test case for the command itself, one for each comparison, the
// search of --diverge, gate and evidence requirement, and one for each cell of a sweep.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report {

// One <testsuites> with one <testsuite>. Inconclusive gates are skipped cases, failed processes errors.
std::string to_junit(const RunReport& report);

}  // namespace pterun::report
