// A progress bar on stderr for work of more than a second; silent when stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdint>

#include "config/plan.h"

namespace pterun::app {

class Progress {
 public:
  Progress(config::When when, std::uint64_t total);
  ~Progress();  // wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool shown_ = false;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point drawn_ = Clock::now();
};

}  // namespace pterun::app
