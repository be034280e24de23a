// The loop of Method::execute, taken apart.
#include "runtime/stepping.h"

#include "runtime/method_state.h"

namespace pterun::runtime {
namespace {

constexpr std::uint64_t kMaxInstructions = 10'000'000;  // as in Method::execute

}  // namespace

Result<void> Stepper::begin() {
  Method::State& state = method_.state();
  next_ = 0;
  executed_ = 0;
  state.values->restore_slots();
  return bring_inputs(state);
}

const Value& Stepper::input(std::size_t index) const {
  const Method::State& state = method_.state();
  return (*state.values)[state.plan.inputs[index]];
}

bool Stepper::at_end() const {
  return next_ >= size();
}

std::size_t Stepper::size() const {
  return method_.state().steps.size();
}

Instruction Stepper::at(std::size_t index) const {
  const Method::State& state = method_.state();
  const Step& step = state.steps[index];
  Instruction instruction;
  instruction.name = step.name;
  instruction.index = step.instruction;
  instruction.args = {state.args.data() + step.args_begin, step.args_count};
  switch (step.kind) {
    case Step::Kind::kKernel: instruction.kind = Instruction::Kind::kOperator; break;
    case Step::Kind::kDelegate:
      instruction.kind = Instruction::Kind::kDelegate;
      instruction.delegate = step.a;
      break;
    case Step::Kind::kMove: instruction.kind = Instruction::Kind::kMove; break;
    case Step::Kind::kJumpFalse: instruction.kind = Instruction::Kind::kJump; break;
    case Step::Kind::kFree: instruction.kind = Instruction::Kind::kFree; break;
  }
  return instruction;
}

Result<void> Stepper::step() {
  Method::State& state = method_.state();
  const std::size_t index = next_;
  std::size_t next = index + 1;
  if (++executed_ > kMaxInstructions) {
    return fail(make_error(ErrorCode::kInvalidProgram, "more than 10000000 instructions: the program loops without end")
                    .with_blame(Blame::kRuntime)
                    .at("method", state.plan.name));
  }
  operators::ExecuteContext context{&state.threads, &state.scratch};
  auto result = run_step(state, state.steps[index], context, next);
  if (!result) return fail(in_step(std::move(result).error(), state, index));
  next_ = next;
  return {};
}

Result<void> Stepper::run(std::size_t index) {
  Method::State& state = method_.state();
  if (state.steps[index].kind == Step::Kind::kJumpFalse) return {};
  std::size_t next = 0;
  operators::ExecuteContext context{&state.threads, &state.scratch};
  auto result = run_step(state, state.steps[index], context, next);
  if (!result) return fail(in_step(std::move(result).error(), state, index));
  return {};
}

}  // namespace pterun::runtime
