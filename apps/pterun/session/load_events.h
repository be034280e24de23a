// What --events tells once a program is loaded.
#pragma once

#include <span>

#include "pterun/session/event_log.h"
#include "report/run_report.h"
#include "runtime/loader.h"

namespace pterun::app {

// One event for each option, for the program, each of its methods and each receipt.
void tell_loaded(std::span<const report::OptionReport> options, const runtime::LoadedProgram& program,
                 EventLog& events);

}  // namespace pterun::app
