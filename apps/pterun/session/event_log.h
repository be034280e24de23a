// --events: what happens in a command, written line by line when it happens. Without the flag nothing is done.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "pterun/session/output_file.h"
#include "report/formats/events.h"
#include "report/run_report.h"

namespace pterun::app {

class EventLog {
 public:
  EventLog() = default;
  explicit EventLog(OutputFile file) : file_(std::move(file)), mutex_(std::make_unique<std::mutex>()) {}

  bool wanted() const { return file_.has_value(); }
  // Writes and flushes one line; from any thread (--timeout's ends a run). A failure is kept for finish(), and nothing
  // more is written.
  void emit(std::string_view name, const report::EventFields& fields);
  // The first and the last line.
  void start(std::string_view command, const std::vector<std::string>& argv);
  // Errors: kOutput when a line could not be written.
  Result<void> finish(const report::RunReport& report);

 private:
  std::optional<OutputFile> file_;
  std::unique_ptr<std::mutex> mutex_;  // with a file; not a member itself, so that logs can be moved
  std::int64_t begin_ns_ = now_ns();
  std::optional<Error> failure_;
};

// Keeps warnings for the report and makes each an event at once.
class EventingLog final : public LogSink {
 public:
  explicit EventingLog(EventLog& events) : events_(events) {}
  void warn(Warning warning) override;
  std::vector<Warning> warnings;

 private:
  EventLog& events_;
};

}  // namespace pterun::app
