// Where a benchmark stands, as one line on stderr with the current estimate, silent when stderr is no terminal; and as
// an event.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "config/plan.h"
#include "pterun/session/event_log.h"

namespace pterun::app {

class BenchProgress {
 public:
  BenchProgress(config::When when, EventLog& events);
  ~BenchProgress();  // wipes the line
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  // After each execution; says something at most ten times a second, so that looking costs no time. No samples:
  // warm-up.
  void show_runs(const std::vector<std::int64_t>& samples_ns);
  // Before each process of a sweep.
  void show_process(std::size_t done, std::size_t total, const std::string& cell);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const std::string& line);
  bool enabled_;
  EventLog& events_;
  bool shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = Clock::now();
};

}  // namespace pterun::app
