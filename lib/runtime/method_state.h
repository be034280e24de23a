// The inside of a Method: values, memory, prepared instructions. Filled by LoadedProgram, run by Method.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "operators/operator.h"
#include "runtime/memory_plan.h"
#include "runtime/method.h"
#include "runtime/value_table.h"

namespace pterun::runtime {

// One instruction, resolved. Chains are laid out one behind the other, so a chain's end is the next one's start.
struct Step {
  enum class Kind : std::uint8_t { kKernel, kDelegate, kMove, kJumpFalse, kFree };
  Kind kind = Kind::kKernel;
  std::uint32_t args_begin = 0;  // into State::args
  std::uint32_t args_count = 0;
  operators::Kernel* kernel = nullptr;
  backend::Delegate* delegate = nullptr;
  std::string_view name;          // operator's name, borrowed from the plan
  std::uint32_t a = 0;            // move: from; jump: condition; free: value; delegate: its index
  std::uint32_t instruction = 0;  // its index in the chain, for errors
  std::uint32_t b = 0;            // move: to; jump: destination step
};

class Method::State {
 public:
  State(const program::MethodPlan& method_plan, ThreadPool& thread_pool) : plan(method_plan), threads(thread_pool) {}

  const program::MethodPlan& plan;  // borrowed from the Program, which the LoadedProgram keeps
  ThreadPool& threads;
  ExternalTensors external;
  MemoryPlan memory;
  std::unique_ptr<ValueTable> values;
  std::vector<std::unique_ptr<backend::Delegate>> delegates;
  std::vector<std::unique_ptr<operators::Kernel>> kernels;
  std::vector<AlignedBuffer> folded;  // results of calls that were computed when the method was loaded
  std::vector<Value*> args;
  std::vector<Step> steps;
  std::vector<IoSpec> inputs;
  std::vector<IoSpec> outputs;
  std::vector<HostTensor> staged;  // by input: what set_input was given, in the input's dim order
  std::vector<bool> input_set;
  std::vector<DelegateInfo> delegate_infos;
  operators::Scratch scratch;
  std::vector<InstructionProfile>* profile = nullptr;
  std::int64_t load_ns = 0;
  std::size_t kernel_calls = 0;
  std::size_t folded_calls = 0;
};

// The parts of an execution; see Method::execute and stepping.h. ----------------------------------------------------

// Brings every tensor input to the shape and bytes that set_input was given. Errors: kInput.
Result<void> bring_inputs(Method::State& state);
// Runs one instruction; `next` is the following step unless the instruction jumps.
Result<void> run_step(Method::State& state, const Step& step, operators::ExecuteContext& context, std::size_t& next);
// Adds where a step stands.
Error in_step(Error error, const Method::State& state, std::size_t index);

// What the program says of an input or output.
IoSpec io_spec(const program::ValueSpec& spec);

// Whether a tensor fits an input. Errors: kInput, naming input, given and allowed.
Result<void> check_tensor_input(std::size_t index, const IoSpec& spec, const Tensor& given);
// Whether a number, string or None equals what the program has baked in. Errors: kInput.
Result<void> check_value_input(std::size_t index, const IoSpec& spec, const Value& given);

}  // namespace pterun::runtime
