// The signal handler and its flag.
#include "pterun/session/interrupt.h"

#include <csignal>

#include "pterun/session/live_processes.h"

namespace pterun::app {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_signal(int signal) {
  if (interrupted == 0) {
    interrupted = 1;
    return;
  }
  kill_live_processes();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void watch_for_interrupt() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Result<void> check_interrupt() {
  if (interrupted == 0) return {};
  return fail(ErrorCode::kInterrupted, "interrupted by a signal");
}

}  // namespace pterun::app
