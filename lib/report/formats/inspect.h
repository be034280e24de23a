// An InspectReport as text and as the "inspect" part of the JSON report.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "report/inspect_report.h"

namespace pterun::report {

nlohmann::json inspect_json(const InspectReport& report);

// For a person at a terminal. With verbosity 1 every named blob, compile spec, instruction and node, with -1 one line a
// method: what is missing.
std::string inspect_text(const InspectReport& report, int verbosity);

}  // namespace pterun::report
