// What a subcommand is: one row of the table in command_table.cpp and one file in commands/.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/flag_spec.h"
#include "config/make_plan.h"
#include "config/plan.h"

namespace pterun::app {

// One call of a command: what the command line parser found.
struct Invocation {
  std::vector<std::string> argv;         // of the process
  std::string command;                   // "run", "options check"
  std::vector<config::FlagValue> flags;  // flags and positional arguments in order
  // Set by a command that has written its own reports, so that main does not write any for a returned error.
  bool report_written = false;
  // Where reports go, also that of an error before there is a plan: from the flags, then from the plan (make_plan). A
  // command that has begun to tell --events itself takes that file out.
  config::OutputPlan output;

  // The text of the last use of a flag or positional argument, or null.
  const std::string* find(std::string_view flag) const;
  // All of them, in order.
  std::vector<std::string> all(std::string_view flag) const;
};

struct Command {
  std::string_view name;                     // two words make a command of a group: "options list"
  std::string_view summary;                  // one line
  std::string_view details;                  // paragraphs for --help; may be empty
  std::string_view examples;                 // lines "  pterun run m.pte"
  std::vector<config::FlagSpec> (*flags)();  // positional arguments first, in their order
  // Runs the command and prints its result. The value is the exit code (0, or 1, 5, 7 for a verdict).
  Result<int> (*run)(Invocation& invocation);
};

// All commands, in the order of --help.
std::span<const Command> commands();

// Flags, config and environment as one plan; sets invocation.output. Errors: see config::make_plan.
Result<config::Plan> make_plan(Invocation& invocation, config::Command command);

}  // namespace pterun::app
