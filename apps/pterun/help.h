// --help texts, made from the table of commands and their flags.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pterun/command.h"

namespace pterun::app {

// `pterun --help` (group "") or `pterun options --help`: the commands, one line each.
std::string commands_help(std::span<const Command> commands, std::string_view group);
// `pterun run --help`: usage, arguments, flags, examples.
std::string command_help(const Command& command);

// "--threads N", "-v, --verbose", "MODEL".
std::string flag_heading(const config::FlagSpec& flag);

}  // namespace pterun::app
