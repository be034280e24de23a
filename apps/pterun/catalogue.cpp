// Tables of what this build is made of.
#include "pterun/catalogue.h"

#include <array>

#include "backends/interpreter/interpreter_backend.h"
#include "backends/xnnpack/xnnpack_backend.h"
#include "operators/families/families.h"
#include "report/formats/csv.h"
#include "report/formats/exports.h"
#include "report/formats/html.h"
#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "report/formats/markdown.h"

namespace pterun::app {

Result<backend::BackendRegistry> make_backend_registry() {
  backend::BackendRegistry registry;
  PTERUN_TRY(registry.add(backends::make_xnnpack_backend()));
  return registry;
}

Result<backend::BackendRegistry> make_interpreter_registry() {
  backend::BackendRegistry registry;
  PTERUN_TRY(registry.add(backends::make_interpreter_backend()));
  return registry;
}

operators::OperatorRegistry make_operators() {
  return operators::make_operator_registry();
}

std::span<const reference::SourceKind> reference_kinds() {
  static const std::array kKinds = {reference::bundled_source(),     reference::program_source(),
                                    reference::interpreter_source(), reference::eager_source(),
                                    reference::executorch_source(),  reference::file_source()};
  return kKinds;
}

std::span<const ReportFormat> report_formats() {
  using config::OutputPlan;
  static const std::array kFormats = {
      ReportFormat{"--json", &OutputPlan::json, &report::to_json},
      ReportFormat{"--junit", &OutputPlan::junit, &report::to_junit},
      ReportFormat{"--markdown", &OutputPlan::markdown, &report::to_markdown},
      ReportFormat{"--csv", &OutputPlan::csv, &report::to_csv},
      ReportFormat{"--html", &OutputPlan::html, &report::to_html},
      ReportFormat{"--export-hyperfine", &OutputPlan::export_hyperfine, &report::to_hyperfine},
      ReportFormat{"--export-google-benchmark", &OutputPlan::export_google_benchmark, &report::to_google_benchmark}};
  return kFormats;
}

}  // namespace pterun::app
