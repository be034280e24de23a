// pterun report: saved reports in any format, shares of a sweep as one.
#include <fmt/format.h>

#include "config/settings.h"
#include "pterun/commands/commands.h"
#include "pterun/failure.h"
#include "pterun/session/merge_reports.h"
#include "pterun/session/output_files.h"
#include "pterun/session/saved_report.h"
#include "pterun/session/terminal.h"
#include "report/formats/text.h"

namespace pterun::app {

std::vector<config::FlagSpec> report_flags() {
  std::vector<config::FlagSpec> flags = {{"FILE", "", "", "a report that --json wrote, - is stdin; several are merged",
                                          true, true, config::ValueHint::kFile, ""}};
  const std::vector<config::FlagSpec> common = config::plan_flags(config::Command::kReport);
  flags.insert(flags.end(), common.begin(), common.end());
  return flags;
}

Result<int> report_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kReport));
  PTERUN_ASSIGN(OutputFiles files, OutputFiles::open(plan.output));
  std::vector<SavedReport> saved;
  for (const std::string& path : invocation.all("FILE")) {
    PTERUN_ASSIGN(report::RunReport report, load_report(path, "FILE"));
    if (report.kind == report::Kind::kInspect) {
      return fail(
          make_error(ErrorCode::kInput, fmt::format("'{}' is the report of `pterun inspect`: it has no results", path))
              .with_hint("run `pterun inspect` again for its text")
              .at("file", path));
    }
    saved.push_back({path, std::move(report)});
  }
  report::RunReport report;
  if (saved.size() == 1) {
    report = std::move(saved.front().report);
  } else {
    PTERUN_ASSIGN(report, merge_reports(std::move(saved)));
  }
  PTERUN_TRY(files.write(report));
  invocation.report_written = true;
  if (files.owns_stdout()) return 0;
  print_warnings(report, *plan.output.verbosity);
  if (report.error && report.status == report::Status::kError) {
    fmt::print("{}", error_text(*report.error, false));
  }
  fmt::print("{}", report::to_text(report, text_style(plan.output)));
  return 0;
}

}  // namespace pterun::app
