// Reports made by hand, which the tests of all formats share, and comparison with golden files.
#pragma once

#include <string>
#include <vector>

#include "report/formats/option_list.h"
#include "report/run_report.h"

namespace pterun::report {

// A run with one output that fails, and every section filled.
RunReport sample_run();

// One cell in one process, with a profile.
RunReport sample_bench();
// A sweep of threads x workspace sharing with five processes a cell, a failed process, a control and gates.
RunReport sample_sweep();
// Of `pterun compare`: a tensor that differs, one that agrees and one that only one side has.
RunReport sample_compare();
// Of `pterun options check`.
RunReport sample_options();
// A command that failed before it had anything.
RunReport sample_error();
// Options of every type and path, and a backend without any.
std::vector<BackendOptions> sample_option_list();

// Compares with tests/golden/<name>; with PTERUN_RENEW_GOLDEN set, writes it first.
void check_golden(const std::string& name, const std::string& text);

}  // namespace pterun::report
