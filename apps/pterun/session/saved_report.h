// Reading JSON reports that pterun wrote earlier.
#pragma once

#include <string>

#include "base/error.h"
#include "report/run_report.h"

namespace pterun::app {

// The report in a file, "-" is stdin. `flag` is what asked for it, for messages.
// Errors: kInput, naming the file and, for what does not fit, the JSON pointer.
Result<report::RunReport> load_report(const std::string& path, std::string_view flag);

}  // namespace pterun::app
