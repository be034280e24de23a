// A Python process that runs references (python/live_reference.py): started once, asked step by step, ended with its
// owner. Tensors travel as safetensors files in a temporary folder, everything else as lines.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/error.h"
#include "reference/reference.h"

namespace pterun::reference {

// How to start it. Borrowed for the call of start() except the two functions, which are kept.
struct LivePythonRequest {
  std::string program;                  // "python3", or a path
  std::string kind;                     // "eager" or "executorch"
  std::string model;                    // .pt2, .pte or .bpte
  std::vector<std::string> data;        // .ptd files
  std::chrono::milliseconds timeout{};  // for each reply
  // Asked some times a second while waiting; an error ends the process and is returned. May be empty.
  std::function<Result<void>()> check_interrupt;
  std::function<void(const LiveProcess&)> note_process;  // see SourceContext; may be empty
};

// The request for `kind` and `model` that the context stands for.
LivePythonRequest live_python_request(const std::string& kind, const std::string& model, const SourceContext& context);
// "float_eager PyTorch 2.13.0" -> "PyTorch 2.13.0".
std::string runtime_name(const std::string& description);

class LivePython {
 public:
  // Starts the interpreter and waits until the model is loaded.
  // Errors (kReference, with what to do): no such program, a missing module, a model that does not load, a process
  // that ends or is silent too long, with the last lines of its stderr; the error of check_interrupt.
  static Result<std::unique_ptr<LivePython>> start(const LivePythonRequest& request);
  ~LivePython();  // kills the process and its children, removes the folder
  LivePython(const LivePython&) = delete;
  LivePython& operator=(const LivePython&) = delete;

  // What it said when it was ready: "float_eager PyTorch 2.13.0".
  const std::string& description() const { return description_; }
  // Sends one line and waits for "ok". Errors: as above; kReference with the text of its "error run".
  Result<void> ask(const std::string& line);
  // Hands the inputs over and sends "VERB METHOD ITEM..."; the answer's tensors are then in outputs_path(). Errors: as
  // above; kReference for an input that Python has no kind for.
  Result<void> ask(std::string_view verb, const std::string& method, std::span<const StepInput> inputs);
  const std::string& folder() const { return folder_; }
  std::string inputs_path() const { return folder_ + "/inputs.safetensors"; }
  std::string outputs_path() const { return folder_ + "/outputs.safetensors"; }

 private:
  LivePython() = default;
  Result<void> make_folder();
  Result<void> spawn(const LivePythonRequest& request);
  // The next line of its replies.
  Result<std::string> read_reply();
  Result<void> wait_for_bytes(std::chrono::steady_clock::time_point deadline);
  // What became of the process, as an error; reaps it.
  Error ended();
  Error with_last_words(Error error) const;
  void kill_process();
  void note(bool runs) const;

  std::string program_;
  std::string folder_;
  std::string description_;
  std::chrono::milliseconds timeout_{};
  std::function<Result<void>()> check_interrupt_;
  std::function<void(const LiveProcess&)> note_process_;
  pid_t process_ = -1;
  int replies_ = -1;  // our end of the socket that is the process's stdin and stdout
  int errors_ = -1;   // what it writes to stderr
  std::string pending_;
  std::string last_words_;  // the end of its stderr
};

}  // namespace pterun::reference
