// Inputs, the instruction loop, outputs and state of a loaded method.
#include "runtime/method.h"

#include <chrono>
#include <cstring>

#include "base/clock.h"
#include "runtime/method_state.h"

namespace pterun::runtime {
namespace {

// ExecuTorch's default cap (ET_MAX_INSTRUCTIONS): a loop that never ends is an error, not a hang.
constexpr std::uint64_t kMaxInstructions = 10'000'000;

// A condition is a Bool, or a bool tensor that is true unless one element is false (an empty one is true).
Result<bool> condition(const Value& value) {
  if (const auto* flag = value.get_if<bool>()) return *flag;
  const Tensor* tensor = value.tensor();
  if (tensor == nullptr || tensor->dtype() != DType::kBool || (tensor->raw_data() == nullptr && tensor->numel() > 0)) {
    return fail(program_error(ErrorCode::kInvalidProgram,
                              "the condition of a jump is " +
                                  (tensor == nullptr ? std::string(value.kind_name()) : tensor->describe()) +
                                  ", a Bool or a bool tensor is needed"));
  }
  const auto* flags = tensor->data<std::uint8_t>();
  for (std::int64_t i = 0; i < tensor->numel(); ++i) {
    if (flags[i] == 0) return false;
  }
  return true;
}

}  // namespace

Error in_step(Error error, const Method::State& state, std::size_t index) {
  const Step& step = state.steps[index];
  std::move(error).at("method", state.plan.name).at("instruction", std::to_string(step.instruction));
  if (step.kind == Step::Kind::kKernel) std::move(error).at("operator", std::string(step.name));
  if (step.kind == Step::Kind::kDelegate) {
    std::move(error).at("delegate", std::to_string(step.a) + " (" + std::string(step.name) + ")");
  }
  return error;
}

Result<void> run_step(Method::State& state, const Step& step, operators::ExecuteContext& context, std::size_t& next) {
  const std::span<Value* const> args(state.args.data() + step.args_begin, step.args_count);
  switch (step.kind) {
    case Step::Kind::kKernel: {
      auto result = step.kernel->execute(context, operators::Arguments(step.name, args));
      state.scratch.reset();
      return result;
    }
    case Step::Kind::kDelegate: return step.delegate->execute(args);
    case Step::Kind::kMove: (*state.values)[step.b].set((*state.values)[step.a].payload()); return {};
    case Step::Kind::kJumpFalse: {
      PTERUN_ASSIGN(const bool is_true, condition((*state.values)[step.a]));
      if (!is_true) next = step.b;
      return {};
    }
    case Step::Kind::kFree: {
      Tensor* tensor = (*state.values)[step.a].tensor();
      if (tensor == nullptr) {
        return fail(program_error(ErrorCode::kInvalidProgram,
                                  "a free instruction names value " + std::to_string(step.a) + ", which is no tensor"));
      }
      tensor->set_data(nullptr);
      return {};
    }
  }
  return {};
}

namespace {

void record(std::vector<InstructionProfile>& profile, std::size_t index, const Step& step, std::int64_t elapsed_ns) {
  InstructionProfile& entry = profile[index];
  if (entry.name.empty()) {
    switch (step.kind) {
      case Step::Kind::kKernel: entry.name = std::string(step.name); break;
      case Step::Kind::kDelegate:
        entry.name = "delegate " + std::to_string(step.a) + " (" + std::string(step.name) + ")";
        entry.delegate = step.a;
        break;
      case Step::Kind::kMove: entry.name = "move"; break;
      case Step::Kind::kJumpFalse: entry.name = "jump_false"; break;
      case Step::Kind::kFree: entry.name = "free"; break;
    }
  }
  entry.total_ns += elapsed_ns;
  ++entry.calls;
}

}  // namespace

Method::Method(std::unique_ptr<State> state) : state_(std::move(state)) {}
Method::~Method() = default;

const std::string& Method::name() const {
  return state_->plan.name;
}
std::span<const IoSpec> Method::inputs() const {
  return state_->inputs;
}
std::span<const IoSpec> Method::outputs() const {
  return state_->outputs;
}
std::span<const std::uint64_t> Method::planned_bytes() const {
  return state_->plan.buffer_bytes;
}
std::span<const DelegateInfo> Method::delegates() const {
  return state_->delegate_infos;
}
std::int64_t Method::load_ns() const {
  return state_->load_ns;
}
std::size_t Method::kernel_calls() const {
  return state_->kernel_calls;
}

Result<void> Method::set_input(std::size_t index, const Tensor& tensor) {
  if (index >= state_->inputs.size()) {
    return fail(ErrorCode::kInput, "input " + std::to_string(index) + ": the method has " +
                                       std::to_string(state_->inputs.size()) + " inputs");
  }
  const IoSpec& spec = state_->inputs[index];
  PTERUN_TRY(check_tensor_input(index, spec, tensor));
  HostTensor& staged = state_->staged[index];
  if (!state_->input_set[index] || staged.view().shape() != tensor.shape()) {
    PTERUN_ASSIGN(staged, HostTensor::allocate(spec.dtype, tensor.shape(), spec.dim_order));
  }
  PTERUN_TRY(copy_elements(tensor, staged.view()));
  state_->input_set[index] = true;
  return {};
}

Result<void> Method::set_input(std::size_t index, const Value& value) {
  if (index >= state_->inputs.size()) {
    return fail(ErrorCode::kInput, "input " + std::to_string(index) + ": the method has " +
                                       std::to_string(state_->inputs.size()) + " inputs");
  }
  return check_value_input(index, state_->inputs[index], value);
}

Result<void> bring_inputs(Method::State& state) {
  for (std::size_t i = 0; i < state.inputs.size(); ++i) {
    if (state.inputs[i].kind != IoSpec::Kind::kTensor) continue;
    if (!state.input_set[i]) {
      return fail(make_error(ErrorCode::kInput, "input " + std::to_string(i) + " has not been set; the method takes " +
                                                    state.inputs[i].describe())
                      .at("input", std::to_string(i)));
    }
    const Tensor& staged = state.staged[i].view();
    Tensor& input = *(*state.values)[state.plan.inputs[i]].tensor();
    PTERUN_TRY(input.resize(staged.shape()));
    if (staged.nbytes() != 0) std::memcpy(input.mutable_raw_data(), staged.raw_data(), staged.nbytes());
  }
  return {};
}

Result<void> Method::execute() {
  State& state = *state_;
  state.values->restore_slots();
  PTERUN_TRY(bring_inputs(state));
  operators::ExecuteContext context{&state.threads, &state.scratch};
  std::uint64_t executed = 0;
  const std::size_t count = state.steps.size();
  for (std::size_t index = 0; index < count;) {
    if (++executed > kMaxInstructions) {
      return fail(make_error(ErrorCode::kInvalidProgram,
                             "more than 10000000 instructions in one execution: the "
                             "program loops without end")
                      .with_blame(Blame::kRuntime)
                      .at("method", state.plan.name));
    }
    std::size_t next = index + 1;
    const std::int64_t begin_ns = state.profile == nullptr ? 0 : now_ns();
    auto result = run_step(state, state.steps[index], context, next);
    if (!result) [[unlikely]]
      return fail(in_step(std::move(result).error(), state, index));
    if (state.profile != nullptr) record(*state.profile, index, state.steps[index], now_ns() - begin_ns);
    index = next;
  }
  return {};
}

const Value& Method::output(std::size_t index) const {
  return (*state_->values)[state_->plan.outputs[index]];
}

Result<void> Method::reset_state() {
  state_->memory.clear();
  return state_->values->load_initial_data(state_->memory, state_->external);
}

bool Method::has_state() const {
  for (const program::ValueSpec& value : state_->plan.values) {
    const auto* spec = std::get_if<program::TensorSpec>(&value);
    if (spec != nullptr && spec->planned && (spec->has_data || !spec->name.empty())) return true;
  }
  return false;
}

void Method::attach_profile(std::vector<InstructionProfile>* profile) {
  if (profile != nullptr) profile->resize(state_->steps.size());
  state_->profile = profile;
}

}  // namespace pterun::runtime
