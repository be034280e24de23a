// Printing of errors, and the reports of a command that failed before it had one.
#include "pterun/failure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "base/utf8.h"
#include "pterun/catalogue.h"
#include "pterun/session/host.h"
#include "pterun/session/output_files.h"
#include "pterun/session/report_parts.h"

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

// Where the plan keeps the file of a flag; null for a flag that names no output file.
config::Setting<std::string>* output_file(config::OutputPlan& plan, std::string_view flag) {
  if (flag == "--events") return &plan.events;
  for (const ReportFormat& format : report_formats()) {
    if (format.flag == flag) return &(plan.*format.path);
  }
  return nullptr;
}

// Takes out files that the command line names a second time: an input must not be lost for the report of an error.
void keep_named_twice(const std::vector<std::string>& argv, config::OutputPlan& plan) {
  const auto check = [&argv](config::Setting<std::string>& file) {
    const auto names = std::ranges::count_if(argv, [&file](const std::string& argument) {
      const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
      return is_same_file(*file, equals == std::string::npos ? argument : argument.substr(equals + 1));
    });
    if (names > 1) file = {};
  };
  for (const ReportFormat& format : report_formats())
    check(plan.*format.path);
  check(plan.events);
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

void write_error_reports(const Invocation& invocation, const Error& error) {
  const auto print = [&error](const Error& other) {
    if (other.message != error.message) fmt::print(stderr, "{}", error_text(other, stderr_has_color()));
  };
  std::vector<Error> failures;
  config::OutputPlan plan = invocation.output;
  keep_named_twice(invocation.argv, plan);
  OutputFiles files = OutputFiles::open_what_can_be(plan, failures);
  for (const Error& failure : failures)
    print(failure);
  files.events().start(invocation.command, invocation.argv);
  if (const auto written = files.write(error_report(invocation, error)); !written) print(written.error());
}

void report_expiry(const Invocation& invocation, const Error& error, OutputFiles& files) {
  fmt::print(stderr, "{}", error_text(error, stderr_has_color()));
  if (const auto written = files.write(error_report(invocation, error)); !written) {
    fmt::print(stderr, "{}", error_text(written.error(), stderr_has_color()));
  }
}

config::OutputPlan outputs_of(const std::vector<config::FlagValue>& flags) {
  config::OutputPlan plan;
  for (const config::FlagValue& value : flags) {
    if (config::Setting<std::string>* file = output_file(plan, value.flag)) {
      *file = {value.text, {config::Origin::Kind::kFlag, value.flag, "", 0}};
    }
  }
  return plan;
}

Invocation guess_invocation(const std::vector<std::string>& argv) {
  Invocation invocation;
  invocation.argv = argv;
  invocation.command = argv.size() > 1 ? argv[1] : "";
  const std::string two_words = argv.size() > 2 ? invocation.command + " " + argv[2] : "";
  const auto command = std::ranges::find_if(
      commands(), [&](const Command& item) { return item.name == invocation.command || item.name == two_words; });
  const auto known = [&, flags = command == commands().end() ? std::vector<config::FlagSpec>()
                                                             : command->flags()](std::string_view flag) {
    return command == commands().end() || std::ranges::find(flags, flag, &config::FlagSpec::name) != flags.end();
  };
  for (std::size_t i = 1; i < argv.size() && argv[i] != "--"; ++i) {
    const std::size_t equals = argv[i].find('=');
    const std::string flag = argv[i].substr(0, equals);
    if (!flag.starts_with("--") || !known(flag)) continue;
    if (equals != std::string::npos) {
      invocation.flags.push_back({flag, argv[i].substr(equals + 1)});
    } else if (i + 1 < argv.size() && !argv[i + 1].starts_with("--")) {
      invocation.flags.push_back({flag, argv[i + 1]});
    }
  }
  invocation.output = outputs_of(invocation.flags);
  return invocation;
}

}  // namespace pterun::app
