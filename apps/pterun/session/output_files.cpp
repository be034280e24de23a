// Opening and writing report files.
#include "pterun/session/output_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/utf8.h"
#include "pterun/catalogue.h"

namespace pterun::app {
namespace {

// A report that is asked for and that no format of this build writes must not be forgotten.
Result<void> check_formats(const config::OutputPlan& plan) {
  for (const auto path : {&config::OutputPlan::json, &config::OutputPlan::junit, &config::OutputPlan::markdown,
                          &config::OutputPlan::csv, &config::OutputPlan::html}) {
    const bool written = std::ranges::any_of(report_formats(), [&](const auto& format) { return format.path == path; });
    if (written || (plan.*path).value.empty()) continue;
    return fail(make_error(ErrorCode::kUsage,
                           fmt::format("{}: this build does not write that format", (plan.*path).origin.describe()))
                    .at("source", (plan.*path).origin.describe()));
  }
  return {};
}

}  // namespace

Result<OutputFile> OutputFile::open(const config::Setting<std::string>& path, std::string_view flag) {
  OutputFile output;
  output.path_ = path.value;
  if (path.value == "-") return output;
  output.file_.reset(std::fopen(path.value.c_str(), "wbe"));
  if (output.file_ == nullptr) {
    return fail(make_error(ErrorCode::kOutput,
                           fmt::format("{} cannot open {}: {}", flag, in_quotes(path.value), std::strerror(errno)))
                    .at("file", path.value)
                    .at("source", path.origin.describe()));
  }
  return output;
}

Result<void> OutputFile::write(std::string_view text) {
  std::FILE* file = file_ == nullptr ? stdout : file_.get();
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0) return {};
  return fail(make_error(ErrorCode::kOutput, fmt::format("cannot write {}: {}", in_quotes(path_), std::strerror(errno)))
                  .at("file", path_));
}

Result<OutputFiles> OutputFiles::open(const config::OutputPlan& plan) {
  PTERUN_TRY(check_formats(plan));
  OutputFiles files;
  for (const ReportFormat& format : report_formats()) {
    const config::Setting<std::string>& path = plan.*format.path;
    if (path.value.empty()) continue;
    PTERUN_ASSIGN(OutputFile file, OutputFile::open(path, format.flag));
    if (file.is_stdout() && files.owns_stdout_) {
      return fail(ErrorCode::kUsage, fmt::format("{}: only one report can go to stdout", format.flag));
    }
    files.owns_stdout_ = files.owns_stdout_ || file.is_stdout();
    files.sinks_.push_back({std::move(file), format.format});
  }
  return files;
}

Result<void> OutputFiles::write(const report::RunReport& report) {
  for (Sink& sink : sinks_)
    PTERUN_TRY(sink.file.write(sink.format(report)));
  return {};
}

}  // namespace pterun::app
