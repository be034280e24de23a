// The numbers of a report as one CSV table (RFC 4180, but lines end in \n): of a benchmark one row for each process of
// each cell, else one row for each output. Every row holds what is true of all (status, model, times) as well, so that
// rows of several files can be put together.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report {

// Times in nanoseconds, sizes in bytes, numbers round-trip; what is absent is empty.
std::string to_csv(const RunReport& report);

}  // namespace pterun::report
