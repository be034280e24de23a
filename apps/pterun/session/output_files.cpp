// Opening and writing report files.
#include "pterun/session/output_files.h"

#include <fmt/format.h>

#include "pterun/catalogue.h"

namespace pterun::app {

Result<OutputFiles> OutputFiles::open(const config::OutputPlan& plan) {
  OutputFiles files;
  const auto take_stdout = [&files](const OutputFile& file, std::string_view flag) -> Result<void> {
    if (file.is_stdout() && files.owns_stdout_) {
      return fail(ErrorCode::kUsage, fmt::format("{}: only one report can go to stdout", flag));
    }
    files.owns_stdout_ = files.owns_stdout_ || file.is_stdout();
    return {};
  };
  for (const ReportFormat& format : report_formats()) {
    const config::Setting<std::string>& path = plan.*format.path;
    if (path.value.empty()) continue;
    PTERUN_ASSIGN(OutputFile file, OutputFile::open(path, format.flag));
    PTERUN_TRY(take_stdout(file, format.flag));
    files.sinks_.push_back({std::move(file), format.format});
  }
  if (plan.events.value.empty()) return files;
  PTERUN_ASSIGN(OutputFile file, OutputFile::open(plan.events, "--events"));
  PTERUN_TRY(take_stdout(file, "--events"));
  files.events_ = EventLog(std::move(file));
  return files;
}

Result<void> OutputFiles::write(const report::RunReport& report) {
  for (Sink& sink : sinks_)
    PTERUN_TRY(sink.file.write(sink.format(report)));
  return events_.finish(report);
}

}  // namespace pterun::app
