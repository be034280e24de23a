// Opening and writing report files.
#include "pterun/session/output_files.h"

#include <fmt/format.h>

#include "pterun/catalogue.h"

namespace pterun::app {

Result<OutputFiles> OutputFiles::open(const config::OutputPlan& plan) {
  std::vector<Error> failures;
  OutputFiles files = open_what_can_be(plan, failures);
  if (!failures.empty()) return fail(std::move(failures.front()));
  return files;
}

OutputFiles OutputFiles::open_what_can_be(const config::OutputPlan& plan, std::vector<Error>& failures) {
  OutputFiles files;
  for (const ReportFormat& format : report_formats()) {
    if (auto file = files.open_one(plan.*format.path, format.flag, failures)) {
      files.sinks_.push_back({*std::move(file), format.format});
    }
  }
  if (auto file = files.open_one(plan.events, "--events", failures)) files.events_ = EventLog(*std::move(file));
  return files;
}

std::optional<OutputFile> OutputFiles::open_one(const config::Setting<std::string>& path, std::string_view flag,
                                                std::vector<Error>& failures) {
  if (path.value.empty()) return std::nullopt;
  auto file = OutputFile::open(path, flag);
  if (file && file->is_stdout() && owns_stdout_) {
    file = fail(ErrorCode::kUsage, fmt::format("{}: only one report can go to stdout", flag));
  }
  if (!file) {
    failures.push_back(std::move(file).error());
    return std::nullopt;
  }
  owns_stdout_ = owns_stdout_ || file->is_stdout();
  return *std::move(file);
}

Result<void> OutputFiles::write(const report::RunReport& report) {
  std::optional<Error> failure;
  for (Sink& sink : sinks_) {
    auto written = sink.file.write(sink.format(report));
    if (!written && !failure) failure = std::move(written).error();
  }
  if (!failure) return events_.finish(report);
  report::RunReport failed;
  failed.status = report::Status::kError;
  failed.exit_code = exit_code(*failure);
  failed.error = failure;
  PTERUN_TRY(events_.finish(failed));
  return fail(*std::move(failure));
}

}  // namespace pterun::app
