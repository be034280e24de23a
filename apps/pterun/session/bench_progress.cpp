// Drawing the line.
#include "pterun/session/bench_progress.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <unistd.h>

#include <fmt/format.h>

#include "bench/statistics.h"
#include "report/formats/text.h"

namespace pterun::app {

BenchProgress::BenchProgress(config::When when, EventLog& events)
    : enabled_(when == config::When::kAlways || (when == config::When::kAuto && ::isatty(STDERR_FILENO) == 1)),
      events_(events) {}

BenchProgress::~BenchProgress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void BenchProgress::draw(const std::string& line) {
  shown_ = true;
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
}

void BenchProgress::show_runs(const std::vector<std::int64_t>& samples_ns) {
  if (!enabled_ && !events_.wanted()) return;
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  if (samples_ns.empty()) {
    events_.emit("progress", {{"phase", "warmup"}, {"runs", 0}});
    if (enabled_) draw("warming up");
    return;
  }
  // The newest 1000 are enough for an estimate and cost little.
  const std::size_t count = std::min<std::size_t>(samples_ns.size(), 1000);
  const std::vector<double> newest(samples_ns.end() - static_cast<std::ptrdiff_t>(count), samples_ns.end());
  const auto width = bench::median_ci_width(std::span(samples_ns).last(count));
  const double median = bench::median(newest);
  events_.emit("progress", {{"phase", "measured"}, {"runs", samples_ns.size()}, {"p50_ns", median}});
  if (!enabled_) return;
  draw(fmt::format("{} runs, p50 {}{}", samples_ns.size(), report::duration_text(median),
                   width ? fmt::format(", interval {:.2f} % wide", *width * 100) : ""));
}

void BenchProgress::show_process(std::size_t done, std::size_t total, const std::string& cell) {
  if (!enabled_) return;
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::string left =
      done == 0
          ? ""
          : fmt::format(", {:.0f} s left", elapsed_s / static_cast<double>(done) * static_cast<double>(total - done));
  draw(fmt::format("process {}/{}{}: {}", done + 1, total, left, cell));
}

}  // namespace pterun::app
