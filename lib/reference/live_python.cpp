// Starting the process and talking to it. One poll loop reads replies and stderr, so that neither can fill up.
#include "reference/live_python.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "reference/live_reference_script.h"
#include "tensor/io/safetensors.h"

namespace pterun::reference {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptBytes = 4096;  // of stderr
constexpr std::size_t kShownLines = 6;
constexpr std::size_t kMaxReplyBytes = 1 << 20;
constexpr int kPollMilliseconds = 50;

constexpr std::string_view kWhichPython = "name a Python 3 interpreter with --python PROGRAM or in PTERUN_PYTHON";

Error reference_error(std::string message) {
  return make_error(ErrorCode::kReference, std::move(message));
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

// After fork: only calls that are safe there. Reports why exec failed through `failure`.
[[noreturn]] void become_python(char* const* argv, int socket, int errors, int failure, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE})
    ::signal(signal, SIG_DFL);
  ::dup2(socket, STDIN_FILENO);
  ::dup2(socket, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execvp(argv[0], argv);
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(failure, &code, sizeof code);
  ::_exit(127);
}

std::string hex(std::string_view text) {
  std::string result;
  for (const char byte : text)
    result += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return result;
}

// An input that is no tensor, as python/live_reference.py reads it.
Result<std::string> item_text(const Value& value) {
  if (value.is_none()) return std::string("none");
  if (const auto* number = value.get_if<std::int64_t>()) return fmt::format("int:{}", *number);
  if (const auto* real = value.get_if<double>()) return fmt::format("float:{:a}", *real);
  if (const auto* flag = value.get_if<bool>()) return fmt::format("bool:{}", *flag ? 1 : 0);
  if (const auto* text = value.get_if<std::string>()) return "string:" + hex(*text);
  return fail(ErrorCode::kReference,
              fmt::format("an input is a {}, which cannot be handed to Python", value.kind_name()));
}

// Reads what is there; false at the end of the stream.
bool drain(int descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

// "missing", "model" or "run", then the text.
Error told_error(std::string_view reply) {
  const std::size_t space = std::min(reply.find(' '), reply.size());
  const std::string_view what = reply.substr(0, space);
  std::string_view text = reply.substr(std::min(space + 1, reply.size()));
  if (what == "missing") {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string module(text.substr(0, end));
    text = text.substr(std::min(end + 1, text.size()));
    return reference_error(fmt::format("Python has no module '{}': {}", module, text))
        .with_hint(fmt::format("install it (python3 -m venv venv && venv/bin/pip install {}), or {}",
                               module == "torch" ? "torch" : "executorch torch", kWhichPython));
  }
  if (what == "model") return reference_error(fmt::format("Python cannot load the reference: {}", text));
  return reference_error(fmt::format("the reference fails: {}", text));
}

}  // namespace

LivePythonRequest live_python_request(const std::string& kind, const std::string& model, const SourceContext& context) {
  LivePythonRequest request;
  request.program = context.python;
  request.kind = kind;
  request.model = model;
  request.data = context.data_paths;
  request.timeout = context.python_timeout;
  request.check_interrupt = context.check_interrupt;
  request.note_process = context.note_process;
  return request;
}

std::string runtime_name(const std::string& description) {
  return description.substr(std::min(description.find(' '), description.size() - 1) + 1);
}

Result<std::unique_ptr<LivePython>> LivePython::start(const LivePythonRequest& request) {
  std::unique_ptr<LivePython> python(new LivePython());
  python->program_ = request.program;
  python->timeout_ = request.timeout;
  python->check_interrupt_ = request.check_interrupt;
  python->note_process_ = request.note_process;
  PTERUN_TRY(python->make_folder());
  PTERUN_TRY(python->spawn(request));
  PTERUN_ASSIGN(std::string reply, python->read_reply());
  if (reply.starts_with("error ")) return fail(told_error(std::string_view(reply).substr(6)));
  if (!reply.starts_with("ready ")) {
    return fail(python->with_last_words(
        reference_error(fmt::format("'{}' answers '{}', 'ready' was expected", request.program, reply.substr(0, 80)))
            .with_hint(std::string(kWhichPython))));
  }
  python->description_ = reply.substr(6);
  return python;
}

LivePython::~LivePython() {
  kill_process();
  close_if_open(replies_);
  close_if_open(errors_);
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<void> LivePython::make_folder() {
  std::error_code code;
  const std::filesystem::path base = std::filesystem::temp_directory_path(code);
  std::string name = ((code ? std::filesystem::path("/tmp") : base) / "pterun-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return fail(reference_error(fmt::format("no temporary folder '{}': {}", name, std::strerror(errno)))
                    .with_hint("TMPDIR names the folder for temporary files"));
  }
  folder_ = std::move(name);
  return {};
}

Result<void> LivePython::spawn(const LivePythonRequest& request) {
  std::vector<std::string> arguments = {request.program, "-c",          std::string(kLiveReferenceScript),
                                        request.kind,    request.model, folder_};
  arguments.insert(arguments.end(), request.data.begin(), request.data.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> errors{-1, -1};
  std::array<int, 2> failure{-1, -1};
  const bool opened = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0 &&
                      ::pipe2(errors.data(), O_CLOEXEC) == 0 && ::pipe2(failure.data(), O_CLOEXEC) == 0;
  const pid_t parent = ::getpid();
  process_ = opened ? ::fork() : -1;
  if (process_ == 0) become_python(argv.data(), sockets[1], errors[1], failure[1], parent);
  const int fork_code = errno;
  replies_ = sockets[0];
  errors_ = errors[0];
  for (int* descriptor : {&sockets[1], &errors[1], &failure[1]})
    close_if_open(*descriptor);
  int code = 0;
  if (process_ > 0) {
    ::setpgid(process_, process_);  // here as well: whoever comes first
    note(true);
    ssize_t count = 0;
    while ((count = ::read(failure[0], &code, sizeof code)) < 0 && errno == EINTR) {
    }
    if (count <= 0) code = 0;
  } else {
    code = fork_code;
  }
  close_if_open(failure[0]);
  if (code == 0) return {};
  return fail(reference_error(fmt::format("the Python interpreter '{}' cannot be started: {}", request.program,
                                          std::strerror(code)))
                  .with_hint(fmt::format("live references need Python 3 with PyTorch; {}", kWhichPython)));
}

Result<void> LivePython::ask(const std::string& line) {
  const std::string message = line + "\n";
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t count = ::send(replies_, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(ended());
    sent += static_cast<std::size_t>(count);
  }
  PTERUN_ASSIGN(const std::string reply, read_reply());
  if (reply == "ok") return {};
  if (reply.starts_with("error ")) return fail(told_error(std::string_view(reply).substr(6)));
  return fail(with_last_words(
      reference_error(fmt::format("'{}' answers '{}', 'ok' was expected", program_, reply.substr(0, 80)))));
}

Result<void> LivePython::ask(std::string_view verb, const std::string& method, std::span<const StepInput> inputs) {
  std::string request = fmt::format("{} {}", verb, hex(method));
  std::vector<std::string> keys(inputs.size());
  std::vector<io::NamedTensorView> tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    keys[i] = std::to_string(i);
    if (inputs[i].is_tensor) {
      tensors.push_back({keys[i], &inputs[i].tensor.view()});
      request += " tensor";
    } else {
      PTERUN_ASSIGN(const std::string item, item_text(inputs[i].value));
      request += " " + item;
    }
  }
  auto written = io::write_safetensors(inputs_path(), tensors);
  if (!written) return fail(reference_error(written.error().message));
  return ask(request);
}

Result<std::string> LivePython::read_reply() {
  const Clock::time_point deadline = Clock::now() + timeout_;
  for (;;) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (pending_.size() > kMaxReplyBytes) {
      return fail(reference_error(fmt::format("'{}' answers without end", program_)));
    }
    PTERUN_TRY(wait_for_bytes(deadline));
  }
}

Result<void> LivePython::wait_for_bytes(Clock::time_point deadline) {
  if (check_interrupt_) PTERUN_TRY(check_interrupt_());
  if (Clock::now() >= deadline) {
    kill_process();
    return fail(with_last_words(reference_error(fmt::format("'{}' has not answered for {} s", program_,
                                                            static_cast<double>(timeout_.count()) / 1000.0))
                                    .with_hint("--python-timeout SECONDS allows it more time")));
  }
  std::array<pollfd, 2> waiting = {pollfd{replies_, POLLIN, 0}, pollfd{errors_, POLLIN, 0}};
  if (::poll(waiting.data(), waiting.size(), kPollMilliseconds) <= 0) return {};
  if (waiting[1].revents != 0) {
    if (!drain(errors_, last_words_)) close_if_open(errors_);
    if (last_words_.size() > kKeptBytes) last_words_.erase(0, last_words_.size() - kKeptBytes);
  }
  if (waiting[0].revents != 0 && !drain(replies_, pending_)) return fail(ended());
  return {};
}

// The stream of replies has ended, so the process has, or will at once.
Error LivePython::ended() {
  int status = 0;
  pid_t done = 0;
  for (int tries = 0; process_ > 0 && tries < 100; ++tries) {
    done = ::waitpid(process_, &status, WNOHANG);
    if (done != 0 && !(done < 0 && errno == EINTR)) break;
    ::poll(nullptr, 0, 10);
  }
  while (errors_ >= 0) {
    pollfd waiting{errors_, POLLIN, 0};
    if (::poll(&waiting, 1, 0) <= 0) break;
    if (!drain(errors_, last_words_)) close_if_open(errors_);
  }
  std::string how = "has closed its output";
  if (done == process_ && done > 0) {
    how = WIFSIGNALED(status)
              ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
              : fmt::format("has ended with exit code {}", WEXITSTATUS(status));
    ::kill(-process_, SIGKILL);  // what it may have started
    note(false);
    process_ = -1;
  }
  return with_last_words(reference_error(fmt::format("the Python process '{}' {}", program_, how)));
}

Error LivePython::with_last_words(Error error) const {
  std::vector<std::string_view> lines;
  std::string_view rest = last_words_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) lines.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (lines.empty()) return error;
  const std::size_t first = lines.size() - std::min(lines.size(), kShownLines);
  error.message += "; its last words: ";
  for (std::size_t i = first; i < lines.size(); ++i)
    error.message += fmt::format("{}{}", i == first ? "" : " | ", lines[i]);
  return error;
}

void LivePython::kill_process() {
  if (process_ <= 0) return;
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);  // if it is not yet in its group
  note(false);                // before its number is free for another process
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

void LivePython::note(bool runs) const {
  if (note_process_) note_process_({process_, folder_, runs});
}

}  // namespace pterun::reference
