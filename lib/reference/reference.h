// Where expected outputs come from: one Source per --reference spec, asked once per executed step, in order, so that a
// source with state (another program) advances as the program under test does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "reference/eager_trace.h"
#include "runtime/loader.h"
#include "runtime/method.h"
#include "tensor/tensor.h"

namespace pterun::reference {

// One input of a step as the method was given it; numbers and strings are in `value`.
struct StepInput {
  bool is_tensor = false;
  HostTensor tensor;  // row-major
  Value value;
};

// What the numbers are. Of a file only its maker knows more (--reference-kind).
enum class Kind : std::uint8_t {
  kFile,
  kBundled,
  kProgram,
  kInterpreter,
  kFloatEager,      // the float model in PyTorch eager
  kConvertedGraph,  // the quantised graph in PyTorch eager
  kExecutorch,
};
// "file", "float_eager", …
std::string_view kind_name(Kind kind);

// Expected outputs by their position among the method's outputs that are not None.
struct ExpectedOutput {
  std::size_t position = 0;
  HostTensor tensor;
};
struct Expected {
  std::string description;  // "m.expected.npz", "other.pte (XNNPACK)", …: as it appears in the report
  Kind kind = Kind::kFile;
  std::vector<ExpectedOutput> outputs;
};

// A process of a live reference: it leads a process group of its own and has a folder for its files.
struct LiveProcess {
  int group = 0;  // its process id as well
  std::string folder;
  bool runs = false;  // false: it and its group have ended
};

// What sources may need; all borrowed, outliving the source.
struct SourceContext {
  std::string model_path;
  std::vector<std::string> data_paths;
  std::size_t bundled_case = 0;
  std::string python;  // interpreter for live references
  std::chrono::milliseconds python_timeout{};
  // Asked while a live reference is waited for; an error ends the wait. May be empty.
  std::function<Result<void>()> check_interrupt;
  // Told when a live process has started and when it is about to be forgotten, for whoever must end it in the owner's
  // place. May be empty.
  std::function<void(const LiveProcess&)> note_process;
  program::Verification verification = program::Verification::kFull;
  runtime::Loader* loader = nullptr;       // loads other programs, without load options
  runtime::Loader* interpreter = nullptr;  // the same, with delegates on plain reference kernels
  LogSink* log = nullptr;
};

// A reference that shows what each of its operators gives.
class TracingSource {
 public:
  virtual ~TracingSource() = default;
  virtual const std::string& description() const = 0;
  virtual Kind kind() const = 0;
  // Takes the state back to what it was after loading. Errors: kReference.
  virtual Result<void> restart() = 0;
  // The results of the next execution of `method` on these inputs. Errors: kReference, blame kInput.
  virtual Result<EagerTrace> trace(const runtime::Method& method, std::span<const StepInput> inputs) = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  // Expected outputs of the next execution of `method` on these inputs. Errors: kReference, blame kInput.
  virtual Result<Expected> expected(const runtime::Method& method, std::span<const StepInput> inputs) = 0;
  // The same reference, operator by operator; null where only outputs are known.
  virtual TracingSource* tracing() { return nullptr; }
};

// One row of the catalogue: specs that begin with `prefix` (an empty prefix takes what no other row does).
struct SourceKind {
  std::string_view prefix;  // "pte:", "bundled", ""
  bool whole = false;       // the spec is the prefix and nothing else
  std::string_view summary;
  Result<std::unique_ptr<Source>> (*make)(std::string_view rest, const SourceContext& context);
};

// Makes the source of a spec. Errors: kReference naming the spec and listing the kinds there are.
Result<std::unique_ptr<Source>> make_source(std::string_view spec, std::span<const SourceKind> kinds,
                                            const SourceContext& context);

// The rows, one per file in sources/.
SourceKind file_source();         // FILE.npz, FILE.safetensors
SourceKind bundled_source();      // the test case of a bundled program
SourceKind program_source();      // pte:FILE.pte
SourceKind interpreter_source();  // the same program on plain reference kernels
SourceKind eager_source();        // eager:FILE.pt2, live in Python
SourceKind executorch_source();   // the official runtime, live in Python

}  // namespace pterun::reference
