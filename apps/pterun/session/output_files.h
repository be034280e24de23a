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
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Sink {
    std::string path;
    std::string (*format)(const report::RunReport& report) = nullptr;
    std::unique_ptr<std::FILE, Close> file;  // none for stdout
  };
  std::vector<Sink> sinks_;
  bool owns_stdout_ = false;
};

}  // namespace pterun::app
