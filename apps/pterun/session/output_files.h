// The files that results go to: opened before the work starts, so that a path that cannot be written costs nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/plan.h"
#include "pterun/session/event_log.h"
#include "pterun/session/output_file.h"
#include "report/run_report.h"

namespace pterun::app {

class OutputFiles {
 public:
  // Opens (and empties) every report file of the plan. Errors: kOutput naming flag and path.
  static Result<OutputFiles> open(const config::OutputPlan& plan);
  // The same, but what cannot be opened is left out and its error added to `failures`. Of several that want stdout, the
  // first in the order of the formats has it.
  static OutputFiles open_what_can_be(const config::OutputPlan& plan, std::vector<Error>& failures);

  // Whether stdout belongs to one machine-readable document, so that no text may go there.
  bool owns_stdout() const { return owns_stdout_; }
  // Whether anything wants a report: hashes are computed only then.
  bool wants_report() const { return !sinks_.empty(); }
  // The events of --events; does nothing without the flag.
  EventLog& events() { return events_; }
  // Writes the report in every format asked for, and the last event, which is the failure where a file cannot be
  // written. Errors: kOutput, the first.
  Result<void> write(const report::RunReport& report);

 private:
  struct Sink {
    OutputFile file;
    std::string (*format)(const report::RunReport& report) = nullptr;
  };
  // The file, or nothing and another failure.
  std::optional<OutputFile> open_one(const config::Setting<std::string>& path, std::string_view flag,
                                     std::vector<Error>& failures);

  std::vector<Sink> sinks_;
  EventLog events_;
  bool owns_stdout_ = false;
};

}  // namespace pterun::app
