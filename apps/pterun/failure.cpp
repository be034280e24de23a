// Printing of errors, and the report of a command that failed before it had one.
#include "pterun/failure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "base/utf8.h"
#include "pterun/session/host.h"
#include "pterun/session/output_files.h"
#include "pterun/session/report_parts.h"
#include "report/formats/json.h"

namespace pterun::app {
namespace {

report::Kind report_kind(std::string_view command) {
  if (command.starts_with("bench")) return report::Kind::kBench;
  if (command.starts_with("inspect")) return report::Kind::kInspect;
  if (command.starts_with("options")) return report::Kind::kOptions;
  if (command.starts_with("compare")) return report::Kind::kCompare;
  return report::Kind::kRun;
}

// Errors quote what files hold; whatever slipped through must not reach a terminal as control characters.
std::string safe(std::string_view text) {
  constexpr std::size_t kMaxBytes = 16 * 1024;
  std::string lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += (begin == 0 ? "" : "\n") + printable(text.substr(begin, end - begin), kMaxBytes);
    begin = end + 1;
  }
  return lines;
}

}  // namespace

bool stderr_has_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

std::string error_text(const Error& error, bool color) {
  const std::string name(error_code_name(error.code));
  std::string text = color ? "\x1b[1;31merror[" + name + "]\x1b[0m: " : "error[" + name + "]: ";
  text += safe(error.message) + "\n";
  for (const auto& [kind, place] : error.where) {
    if (error.message.find(place) == std::string::npos) text += "  " + kind + ": " + safe(place) + "\n";
  }
  if (!error.hint.empty()) text += "  hint: " + safe(error.hint) + "\n";
  return text;
}

report::RunReport error_report(const Invocation& invocation, const Error& error) {
  report::RunReport report = begin_report(report_kind(invocation.command), invocation);
  report.status = report::Status::kError;
  report.exit_code = exit_code(error);
  report.error = error;
  report.manifest.versions = version_facts();
  report.manifest.host = host_facts();
  return report;
}

Result<void> write_error_report(const Invocation& invocation, const Error& error) {
  PTERUN_ASSIGN(OutputFile file, OutputFile::open({invocation.json_path, {}}, "--json"));
  return file.write(report::to_json(error_report(invocation, error)));
}

void report_expiry(const Invocation& invocation, const Error& error, OutputFiles& files) {
  fmt::print(stderr, "{}", error_text(error, stderr_has_color()));
  if (const auto written = files.write(error_report(invocation, error)); !written) {
    fmt::print(stderr, "{}", error_text(written.error(), stderr_has_color()));
  }
}

std::string find_json_path(const std::vector<std::string>& argv) {
  static constexpr std::string_view kFlag = "--json";
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (argv[i] == kFlag && i + 1 < argv.size()) return argv[i + 1];
    if (argv[i].starts_with("--json=")) return argv[i].substr(kFlag.size() + 1);
    if (argv[i] == "--") break;
  }
  return "";
}

}  // namespace pterun::app
