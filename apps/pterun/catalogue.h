// The one place that names concrete backends, operators, reference sources and report formats. A new one is a new file
// and one line in catalogue.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backend/backend_registry.h"
#include "base/error.h"
#include "config/plan.h"
#include "operators/operator.h"
#include "reference/reference.h"
#include "report/run_report.h"

namespace pterun::app {

// Errors: kInternal, kInvalidArgument when two backends clash.
Result<backend::BackendRegistry> make_backend_registry();
// The backends that --reference interpreter runs delegates on. Errors: as above.
Result<backend::BackendRegistry> make_interpreter_registry();
operators::OperatorRegistry make_operators();

// Kinds of --reference, the plain file last.
std::span<const reference::SourceKind> reference_kinds();

struct ReportFormat {
  std::string_view flag;                                    // "--json"
  config::Setting<std::string> config::OutputPlan::* path;  // where the plan keeps its file
  std::string (*format)(const report::RunReport& report);
};
std::span<const ReportFormat> report_formats();

}  // namespace pterun::app
