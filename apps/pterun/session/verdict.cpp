// A verdict is a failure, anything else that is wrong an error.
#include "pterun/session/verdict.h"

#include <fmt/format.h>

namespace pterun::app {

std::string failed_comparisons(const report::RunReport& report) {
  std::string failed;
  for (const report::ComparisonReport& item : report.comparisons) {
    if (item.comparison.pass) continue;
    failed += fmt::format("{}output {} of '{}': {}", failed.empty() ? "" : "; ", item.output, item.method,
                          item.comparison.reason);
  }
  return failed;
}

void settle(report::RunReport& report) {
  if (!report.error) return;
  report.exit_code = exit_code(*report.error);
  const bool is_verdict = report.error->blame == Blame::kOutputs || report.error->blame == Blame::kEvidence ||
                          report.error->blame == Blame::kGate;
  report.status = is_verdict ? report::Status::kFail : report::Status::kError;
}

}  // namespace pterun::app
