// Look-up in an invocation, and its plan.
#include <cstdlib>

#include "config/settings.h"
#include "pterun/command.h"

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
  return plan;
}

}  // namespace pterun::app
