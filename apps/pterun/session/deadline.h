// --timeout: a limit on the time that loading and executing may take. The watch is a thread of its own, so that a call
// into a library that does not return is ended too; the process ends with it, since such a call cannot be cancelled.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "config/origin.h"

namespace pterun::app {

class Deadline {
 public:
  // `on_expiry` reports the error; it runs on the watching thread, and the process ends with the error's exit code when
  // it returns. Without a limit nothing is watched and no thread is made.
  Deadline(const config::Setting<std::optional<double>>& limit_s, std::function<void(const Error&)> on_expiry);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // What the process does now, for the message: "loading". The text must live as long as the process.
  void enter(const char* phase) { phase_.store(phase, std::memory_order_relaxed); }
  // The work is done: the limit does not hold for what follows. Returns only if the limit was not reached.
  void disarm();

 private:
  void watch();

  config::Setting<std::optional<double>> limit_s_;
  std::function<void(const Error&)> on_expiry_;
  std::atomic<const char*> phase_{"starting"};
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;  // guarded by mutex_
  std::thread watcher_;
};

}  // namespace pterun::app
