// Flags, environment and config file -> one Plan. The precedence is: flag, --set, config, environment, default.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/plan.h"

namespace pterun::config {

// The commands that take a plan; each knows its own flags (config/settings.h). kCompare and kReport take no config.
enum class Command : std::uint8_t { kRun, kBench, kInspect, kOptions, kCompare, kReport };

// One use of a flag, in the order of the command line. Positional arguments have the flag "MODEL". A switch without a
// value has the text "true".
struct FlagValue {
  std::string flag;  // "--threads"
  std::string text;
};

struct PlanRequest {
  Command command = Command::kRun;
  std::vector<FlagValue> flags;
  // Looks up an environment variable; nullopt when it is not set.
  std::function<std::optional<std::string>(const char* name)> environment;
};

// Errors: kUsage naming the flag, kConfig naming file, JSON pointer and line, the option codes for what is malformed in
// options, each with what was expected and found. Reads the config file and those it extends; opens no other file.
Result<Plan> make_plan(const PlanRequest& request);

}  // namespace pterun::config
