// Look-up in an invocation, and its plan.
#include <cstdlib>

#include <fmt/format.h>

#include "base/utf8.h"
#include "config/settings.h"
#include "pterun/catalogue.h"
#include "pterun/command.h"
#include "pterun/session/output_file.h"

namespace pterun::app {

const std::string* Invocation::find(std::string_view flag) const {
  for (std::size_t i = flags.size(); i-- > 0;) {
    if (flags[i].flag == flag) return &flags[i].text;
  }
  return nullptr;
}

std::vector<std::string> Invocation::all(std::string_view flag) const {
  std::vector<std::string> texts;
  for (const config::FlagValue& value : flags) {
    if (value.flag == flag) texts.push_back(value.text);
  }
  return texts;
}

namespace {

// Opening a report file empties it. --baseline is read before that, so that a benchmark can follow another in its file.
Result<void> check_report_file(const Invocation& invocation, std::string_view flag,
                               const config::Setting<std::string>& path) {
  for (const config::FlagValue& other : invocation.flags) {
    if (other.flag == flag || other.flag == "--baseline" || !is_same_file(*path, other.text)) continue;
    return fail(
        make_error(ErrorCode::kUsage, fmt::format("{}: expected a file of its own, found {}, which {} names too", flag,
                                                  in_quotes(*path), other.flag))
            .at("source", path.origin.describe()));
  }
  return {};
}

}  // namespace

Result<config::Plan> make_plan(Invocation& invocation, config::Command command) {
  config::PlanRequest request;
  request.command = command;
  // A command may have flags and arguments of its own beside those of the plan.
  for (const config::FlagValue& value : invocation.flags) {
    if (config::find_flag(command, value.flag) != nullptr) request.flags.push_back(value);
  }
  // compare and report take no config, so that none is applied behind their back.
  const bool with_config = command != config::Command::kCompare && command != config::Command::kReport;
  if (with_config)
    request.environment = [](const char* name) -> std::optional<std::string> {
      const char* value = std::getenv(name);
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
  PTERUN_ASSIGN(config::Plan plan, config::make_plan(request));
  invocation.output = plan.output;
  for (const ReportFormat& format : report_formats())
    PTERUN_TRY(check_report_file(invocation, format.flag, plan.output.*format.path));
  PTERUN_TRY(check_report_file(invocation, "--events", plan.output.events));
  return plan;
}

}  // namespace pterun::app
