// Where a benchmark stands, as one line on stderr with the current estimate; silent when stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "config/plan.h"

namespace pterun::app {

class BenchProgress {
 public:
  explicit BenchProgress(config::When when);
  ~BenchProgress();  // wipes the line
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  // After each execution; draws at most ten times a second. No samples: warm-up.
  void show_runs(const std::vector<std::int64_t>& samples_ns);
  // Before each process of a sweep.
  void show_process(std::size_t done, std::size_t total, const std::string& cell);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const std::string& line);
  bool enabled_;
  bool shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = Clock::now();
};

}  // namespace pterun::app
