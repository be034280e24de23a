// The command line: argv -> Invocation, by the flags that the table of commands names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "pterun/command.h"

namespace pterun::app {

// What the command line asks for.
struct ParsedCommandLine {
  enum class Kind : std::uint8_t { kCommand, kHelp, kVersion };
  Kind kind = Kind::kCommand;
  const Command* command = nullptr;  // null for the help of the program or of a group
  std::string group;                 // "options" for the help of a group
  Invocation invocation;
};

// Errors: kUsage for an unknown command or flag, with a suggestion, a missing value, too many or too few arguments.
Result<ParsedCommandLine> parse_command_line(std::span<const Command> commands, const std::vector<std::string>& argv);

}  // namespace pterun::app
