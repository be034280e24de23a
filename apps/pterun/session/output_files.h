// The files that results go to: opened before the work starts, so that a path that cannot be written costs nothing.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/plan.h"
#include "report/run_report.h"

namespace pterun::app {

// One file, or stdout for the path "-".
class OutputFile {
 public:
  // Opens and empties it. Errors: kOutput naming flag, path and cause.
  static Result<OutputFile> open(const config::Setting<std::string>& path, std::string_view flag);

  bool is_stdout() const { return file_ == nullptr; }
  // Writes and flushes. Errors: kOutput.
  Result<void> write(std::string_view text);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;  // none for stdout
};

class OutputFiles {
 public:
  // Opens (and empties) every report file of the plan. Errors: kOutput naming flag and path.
  static Result<OutputFiles> open(const config::OutputPlan& plan);

  // Whether stdout belongs to one machine-readable document, so that no text may go there.
  bool owns_stdout() const { return owns_stdout_; }
  // Whether anything wants a report: hashes are computed only then.
  bool wants_report() const { return !sinks_.empty(); }
  // Writes the report in every format asked for. Errors: kOutput.
  Result<void> write(const report::RunReport& report);

 private:
  struct Sink {
    OutputFile file;
    std::string (*format)(const report::RunReport& report) = nullptr;
  };
  std::vector<Sink> sinks_;
  bool owns_stdout_ = false;
};

}  // namespace pterun::app
