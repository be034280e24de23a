// pterun: runs ExecuTorch programs. main parses the command line, runs one command, prints its outcome and turns it
// into an exit code.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "generated/version.h"
#include "pterun/command.h"
#include "pterun/command_line.h"
#include "pterun/failure.h"
#include "pterun/help.h"
#include "xnnpack/library.h"

namespace {

using namespace pterun;

std::string version_text() {
  std::string features;
  for (const std::string& feature : xnnpack::cpu_features())
    features += (features.empty() ? "" : " ") + feature;
  return fmt::format("pterun {}\nbuild type: {}\ncompiler: {}\nXNNPACK: {}\nCPU features: {}\n", kVersion, kBuildType,
                     kCompiler, kXnnpackVersion, features);
}

// stdout may be a full disk or a closed pipe; whoever reads it must not take half for the whole.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const Error error = make_error(ErrorCode::kOutput, "cannot write to stdout");
  fmt::print(stderr, "{}", app::error_text(error, app::stderr_has_color()));
  return code == 0 ? exit_code(error) : code;
}

int report_failure(const app::Invocation& invocation, const Error& error) {
  fmt::print(stderr, "{}", app::error_text(error, app::stderr_has_color()));
  if (!invocation.report_written) app::write_error_reports(invocation, error);
  return finish(exit_code(error));
}

int run(const std::vector<std::string>& argv) {
  auto parsed = app::parse_command_line(app::commands(), argv);
  if (!parsed) return report_failure(app::guess_invocation(argv), parsed.error());
  switch (parsed->kind) {
    case app::ParsedCommandLine::Kind::kHelp:
      fmt::print("{}", parsed->command != nullptr ? app::command_help(*parsed->command)
                                                  : app::commands_help(app::commands(), parsed->group));
      return finish(0);
    case app::ParsedCommandLine::Kind::kVersion: fmt::print("{}", version_text()); return finish(0);
    case app::ParsedCommandLine::Kind::kCommand: break;
  }
  app::Invocation& invocation = parsed->invocation;
  invocation.output = app::outputs_of(invocation.flags);
  const Result<int> code = parsed->command->run(invocation);
  return code ? finish(*code) : report_failure(invocation, code.error());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  try {
    return run(arguments);
  } catch (const std::exception& exception) {
    // Rooms let no exception out; one that comes here is a bug, and out of memory is told apart from the rest.
    const bool memory = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr;
    return report_failure(app::guess_invocation(arguments),
                          memory ? make_error(ErrorCode::kMemoryAllocationFailed, "out of memory")
                                 : make_error(ErrorCode::kBug, std::string("a bug in pterun: ") + exception.what()));
  }
}
