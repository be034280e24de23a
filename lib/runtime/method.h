// One loaded method: its values, memory, prepared operators and delegates. Set inputs, execute, read outputs.
// Not thread safe; one execution at a time per LoadedProgram.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "program/program.h"
#include "tensor/value.h"

namespace pterun::runtime {

// What an input or output is. Numbers carry the value baked into the program.
struct IoSpec {
  enum class Kind : std::uint8_t { kNone, kTensor, kInt, kDouble, kBool, kString, kOther };
  Kind kind = Kind::kNone;
  DType dtype = DType::kFloat32;  // tensors
  Shape sizes;                    // the bound when dynamic
  DimOrder dim_order;
  bool dynamic = false;
  bool constant = false;         // an output that is a constant of the program
  Value baked;                   // numbers and strings
  std::string describe() const;  // "float32[1, 3, 224, 224]", "int", "None"
};

// Where a delegate of a loaded method stands.
struct DelegateInfo {
  std::size_t index = 0;
  std::string backend;
  std::size_t payload_bytes = 0;
  std::int64_t init_ns = 0;
  std::size_t calls = 0;                        // delegate calls in the method's instructions
  const backend::Delegate* delegate = nullptr;  // owned by the method
};

// Time of one instruction, for profiles; collected only while a profile is attached.
struct InstructionProfile {
  std::string name;  // operator name, or "delegate 3 (XnnpackBackend)"
  std::int64_t total_ns = 0;
  std::int64_t calls = 0;
  std::optional<std::size_t> delegate;  // the delegate's index, when it is a call of one
};

class Method {
 public:
  ~Method();
  const std::string& name() const;
  std::span<const IoSpec> inputs() const;
  std::span<const IoSpec> outputs() const;

  // Copies the tensor into the method (dim orders may differ: elements are matched by index). Checked first:
  // dtype, rank, sizes, bound. Errors: kInput, naming input, given and allowed; nothing is changed.
  Result<void> set_input(std::size_t index, const Tensor& tensor);
  // A number, bool, string or None; must equal the baked value. Errors: kInput.
  Result<void> set_input(std::size_t index, const Value& value);

  // Runs the instructions. Every tensor input must have been set once since loading (kInput, naming the first that
  // was not); inputs that a run overwrites are restored from the last set_input before the next.
  // Errors: of operators and delegates, with places "method", "instruction", "operator" or "delegate"; blame
  // kRuntime. After an error the method can be executed again.
  Result<void> execute();

  // Valid until the next execute, set_input or the end of the method.
  const Value& output(std::size_t index) const;

  // Gives mutable buffers the values they had after loading.
  Result<void> reset_state();
  bool has_state() const;  // has mutable buffers

  std::span<const std::uint64_t> planned_bytes() const;  // per planned buffer
  std::span<const DelegateInfo> delegates() const;
  std::int64_t load_ns() const;
  std::size_t kernel_calls() const;  // operator instructions
  // While attached (non-null), execute adds the time of every instruction to (*profile)[flat index].
  void attach_profile(std::vector<InstructionProfile>* profile);

  // Internal: made by LoadedProgram, looked into by this room.
  class State;
  explicit Method(std::unique_ptr<State> state);
  const State& state() const { return *state_; }
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace pterun::runtime
