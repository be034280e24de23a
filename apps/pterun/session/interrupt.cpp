// The signal handler and its flag.
#include "pterun/session/interrupt.h"

#include <csignal>

namespace pterun::app {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_signal(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
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
