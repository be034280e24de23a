// The watching thread.
#include "pterun/session/deadline.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "pterun/session/live_processes.h"

namespace pterun::app {

Deadline::Deadline(const config::Setting<std::optional<double>>& limit_s, std::function<void(const Error&)> on_expiry)
    : limit_s_(limit_s), on_expiry_(std::move(on_expiry)) {
  if (limit_s_.value) watcher_ = std::thread([this] { watch(); });
}

Deadline::~Deadline() {
  disarm();
}

void Deadline::disarm() {
  {
    // The watcher keeps the lock from the moment it finds the limit reached: who comes too late waits here for the end.
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  done_changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void Deadline::watch() {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> limit(*limit_s_.value);
  if (done_changed_.wait_for(lock, limit, [this] { return done_; })) return;
  const char* const phase = phase_.load(std::memory_order_relaxed);
  const Error error = make_error(ErrorCode::kOutOfResources,
                                 fmt::format("the time limit of {} s was reached while {}", *limit_s_.value, phase))
                          .with_hint("allow more with --timeout SECONDS")
                          .at("source", limit_s_.origin.describe());
  on_expiry_(error);
  end_live_processes();
  std::_Exit(exit_code(error));
}

}  // namespace pterun::app
