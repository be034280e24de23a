// One measurement in a fresh process: this program again, with a cell's command line, reporting into a file.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "report/formats/bench.h"

namespace pterun::app {

// Runs `pterun ARGUMENTS --json json_path` with no output of its own and reads the report. What goes wrong inside the
// process (an error, a signal, no report) is the record's failure.
// Errors: kInternal when no process can be started.
Result<report::ProcessRecord> run_process(std::vector<std::string> arguments, const std::string& json_path);

}  // namespace pterun::app
