// The report as JSON: schema "pterun.report/1" (configs/schema/report.schema.json). Keys sorted, NaN and infinities as
// the strings "NaN", "Infinity", "-Infinity".
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report {

// The document, two spaces of indent, with a final newline.
std::string to_json(const RunReport& report);

}  // namespace pterun::report
