// Ctrl-C: the first one asks the work to stop between two executions, the second one ends the process
// and those of live references.
#pragma once

#include "base/error.h"

namespace pterun::app {

// Installs the handler for SIGINT and SIGTERM.
void watch_for_interrupt();
// Errors: kInterrupted once a signal has come.
Result<void> check_interrupt();

}  // namespace pterun::app
