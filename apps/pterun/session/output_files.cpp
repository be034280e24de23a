// Opening and writing report files.
#include "pterun/session/output_files.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "pterun/catalogue.h"

namespace pterun::app {

Result<OutputFiles> OutputFiles::open(const config::OutputPlan& plan) {
  OutputFiles files;
  for (const ReportFormat& format : report_formats()) {
    const config::Setting<std::string>& path = plan.*format.path;
    if (path.value.empty()) continue;
    Sink sink{path.value, format.format, nullptr};
    if (path.value == "-") {
      if (files.owns_stdout_) {
        return fail(ErrorCode::kUsage, fmt::format("{}: only one report can go to stdout", format.flag));
      }
      files.owns_stdout_ = true;
    } else {
      sink.file.reset(std::fopen(path.value.c_str(), "wbe"));
      if (sink.file == nullptr) {
        return fail(make_error(ErrorCode::kOutput,
                               fmt::format("{} cannot open '{}': {}", format.flag, path.value, std::strerror(errno)))
                        .at("file", path.value)
                        .at("source", path.origin.describe()));
      }
    }
    files.sinks_.push_back(std::move(sink));
  }
  return files;
}

Result<void> OutputFiles::write(const report::RunReport& report) {
  for (Sink& sink : sinks_) {
    std::FILE* file = sink.file == nullptr ? stdout : sink.file.get();
    const std::string text = sink.format(report);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    if (!written) {
      return fail(make_error(ErrorCode::kOutput, fmt::format("cannot write '{}': {}", sink.path, std::strerror(errno)))
                      .at("file", sink.path));
    }
  }
  return {};
}

}  // namespace pterun::app
