// Processes that this one has started and must not outlive, whatever ends it: their owners end them on the way out, but
// --timeout and a second Ctrl-C leave no way out.
#pragma once

#include "reference/reference.h"

namespace pterun::app {

// Notes a process, or that it has ended. From any thread. Past 16 at once the kernel alone ends them, without the
// processes that they have started.
void note_live_process(const reference::LiveProcess& process);

// Kills all that run, with the processes that they have started. May be called in a signal handler.
void kill_live_processes();

// The same, and removes their folders; not in a signal handler.
void end_live_processes();

}  // namespace pterun::app
