// Reports made by hand, which the tests of all formats share, and comparison with golden files.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report {

// A run with one output that fails, and every section filled.
RunReport sample_run();

// A sweep of threads x workspace sharing with five processes a cell, a failed process, a control and gates.
RunReport sample_bench();

// Compares with tests/golden/<name>; with PTERUN_RENEW_GOLDEN set, writes it first.
void check_golden(const std::string& name, const std::string& text);

}  // namespace pterun::report
