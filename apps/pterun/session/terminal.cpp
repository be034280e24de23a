// Style and warnings.
#include "pterun/session/terminal.h"

#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "base/utf8.h"

namespace pterun::app {

report::TextStyle text_style(const config::OutputPlan& plan) {
  const char* no_color = std::getenv("NO_COLOR");
  report::TextStyle style;
  style.color = ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
  style.verbosity = *plan.verbosity;
  return style;
}

void print_warnings(const report::RunReport& report, int verbosity) {
  constexpr std::size_t kMaxBytes = 16 * 1024;  // what a file holds must not reach a terminal raw
  if (verbosity < 0) return;
  for (const Warning& warning : report.warnings) {
    fmt::print(stderr, "warning[{}]: {}{}{}\n", warning.code, printable(warning.message, kMaxBytes),
               warning.hint.empty() ? "" : "; ", warning.hint);
  }
}

}  // namespace pterun::app
