// The entry points of the subcommands, one file each in this folder; listed in command_table.cpp.
#pragma once

#include "pterun/command.h"

namespace pterun::app {

Result<int> run_command(Invocation& invocation);
Result<int> bench_command(Invocation& invocation);
Result<int> inspect_command(Invocation& invocation);
std::vector<config::FlagSpec> inspect_flags();
Result<int> compare_command(Invocation& invocation);
std::vector<config::FlagSpec> compare_flags();
Result<int> report_command(Invocation& invocation);
std::vector<config::FlagSpec> report_flags();
Result<int> completion_command(Invocation& invocation);
Result<int> options_list_command(Invocation& invocation);
Result<int> options_get_command(Invocation& invocation);
Result<int> options_check_command(Invocation& invocation);

}  // namespace pterun::app
