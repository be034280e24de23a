// Tables of what this build is made of.
#include "pterun/catalogue.h"

#include <array>

#include "backends/interpreter/interpreter_backend.h"
#include "backends/xnnpack/xnnpack_backend.h"
#include "operators/families/families.h"
#include "report/formats/json.h"

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
  static const std::array kFormats = {ReportFormat{"--json", &config::OutputPlan::json, &report::to_json}};
  return kFormats;
}

}  // namespace pterun::app
