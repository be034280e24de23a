// The report as one HTML page that needs nothing else: no script, no resource, no URL. Its parts are in html/.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report {

// Sections appear when the report has their data. Every text is escaped.
std::string to_html(const RunReport& report);

}  // namespace pterun::report
