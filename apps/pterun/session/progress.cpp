// Drawing the bar, at most ten times a second so that it costs the measured work nothing.
#include "pterun/session/progress.h"

#include <cstdio>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace pterun::app {

Progress::Progress(config::When when, std::uint64_t total)
    : enabled_(when == config::When::kAlways || (when == config::When::kAuto && ::isatty(STDERR_FILENO) == 1)),
      total_(total) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::advance() {
  ++done_;
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now - begin_ < std::chrono::seconds(1) || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  shown_ = true;
  constexpr std::uint64_t kWidth = 30;
  const std::uint64_t filled = total_ == 0 ? kWidth : done_ * kWidth / total_;
  const double elapsed_s = std::chrono::duration<double>(now - begin_).count();
  const double left_s = elapsed_s / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  fmt::print(stderr, "\r[{}{}] {}/{} executions, {:.0f} s left\x1b[K", std::string(filled, '#'),
             std::string(kWidth - filled, ' '), done_, total_, left_s);
  std::fflush(stderr);
}

}  // namespace pterun::app
