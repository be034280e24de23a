// Starting and waiting for a process.
#include "pterun/session/bench_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace pterun::app {
namespace {

report::CellFailure failure(std::string code, std::string message) {
  return {std::move(code), std::move(message), static_cast<int>(Blame::kRuntime)};
}

Result<pid_t> spawn(std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  // The running program itself, also when its file was replaced meanwhile.
  const int code = ::posix_spawn(&process, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) {
    return fail(ErrorCode::kInternal, fmt::format("a process for a cell cannot be started: {}", std::strerror(code)));
  }
  return process;
}

}  // namespace

Result<report::ProcessRecord> run_process(std::vector<std::string> arguments, const std::string& json_path) {
  std::error_code ignored;
  std::filesystem::remove(json_path, ignored);
  arguments.insert(arguments.begin(), "pterun");
  arguments.insert(arguments.end(), {"--quiet", "--no-progress", "--json", json_path});
  PTERUN_ASSIGN(const pid_t process, spawn(arguments));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  report::ProcessRecord record;
  if (WIFSIGNALED(status)) {
    record.failure =
        failure("crash", fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))));
    return record;
  }
  std::ifstream file(json_path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  auto parsed = report::parse_process_report(text.str(), json_path);
  if (!parsed) {
    record.failure = failure("no_report", fmt::format("exit code {}, and no report to read", WEXITSTATUS(status)));
    return record;
  }
  return parsed;
}

}  // namespace pterun::app
