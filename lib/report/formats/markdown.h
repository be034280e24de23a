// The report as GitHub's Markdown, for a pull request's comment or a job summary: verdict, tables, the command.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report {

std::string to_markdown(const RunReport& report);

}  // namespace pterun::report
