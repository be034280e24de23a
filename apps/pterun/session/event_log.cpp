// Writing events.
#include "pterun/session/event_log.h"

#include "generated/version.h"
#include "report/formats/wording.h"

namespace pterun::app {

void EventLog::emit(std::string_view name, const report::EventFields& fields) {
  if (!file_) return;
  const std::scoped_lock lock(*mutex_);
  if (failure_) return;
  if (auto written = file_->write(report::event_line(name, now_ns() - begin_ns_, fields)); !written) {
    failure_ = std::move(written).error();
  }
}

void EventLog::start(std::string_view command, const std::vector<std::string>& argv) {
  emit("started", {{"schema", "pterun.events/1"}, {"command", command}, {"pterun", kVersion}, {"argv", argv}});
}

Result<void> EventLog::finish(const report::RunReport& report) {
  report::EventFields fields = {{"status", report::status_name(report.status)}, {"exit_code", report.exit_code}};
  if (report.error) {
    fields.emplace_back("error", error_code_name(report.error->code));
    fields.emplace_back("message", report.error->message);
  }
  emit("finished", fields);
  if (failure_) return fail(*failure_);
  return {};
}

void EventingLog::warn(Warning warning) {
  events_.emit("warning", {{"code", warning.code}, {"message", warning.message}, {"hint", warning.hint}});
  warnings.push_back(std::move(warning));
}

}  // namespace pterun::app
