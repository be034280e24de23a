// Delegates of the reference program are never run; their graphs are what watched nodes are computed again with.
#include "pterun/diverge/walk.h"

#include <algorithm>

#include <fmt/format.h>

namespace pterun::app {
namespace {

using runtime::Instruction;
using runtime::Stepper;

// Gives a slot of the reference program the value of the watched one; constants stay its own.
Result<void> hand_over(const Value* from, Value* to);

template <typename List>
Result<void> hand_over_items(const List& from, const List* to) {
  for (std::size_t i = 0; to != nullptr && i < std::min(from.items.size(), to->items.size()); ++i)
    PTERUN_TRY(hand_over(from.items[i], to->items[i]));
  return {};
}

Result<void> hand_over(const Value* from, Value* to) {
  if (from == nullptr || to == nullptr || from == to) return {};
  if (const auto* items = from->get_if<TensorList>()) return hand_over_items(*items, to->get_if<TensorList>());
  if (const auto* items = from->get_if<OptionalTensorList>()) {
    return hand_over_items(*items, to->get_if<OptionalTensorList>());
  }
  if (const auto* items = from->get_if<IntList>()) return hand_over_items(*items, to->get_if<IntList>());
  if (from->is_scalar() && to->is_scalar()) to->set(from->payload());
  const Tensor* source = from->tensor();
  Tensor* target = to->tensor();
  if (source == nullptr || target == nullptr || target->is_constant()) return {};
  if (source->raw_data() == nullptr || target->raw_data() == nullptr) return {};
  if (source->dtype() != target->dtype())
    return fail(structure_error(source->describe() + " and " + target->describe()));
  PTERUN_TRY(target->resize(source->shape()));
  return copy_elements(*source, *target);
}

}  // namespace

bool is_random_operator(std::string_view name) {
  return name.find("rand") != std::string_view::npos || name.find("dropout") != std::string_view::npos ||
         name.find("bernoulli") != std::string_view::npos;
}

Error structure_error(const std::string& what) {
  return make_error(ErrorCode::kReference, "the reference program is built otherwise: " + what)
      .with_hint("node by node only programs of equal structure can be compared");
}

Result<std::unique_ptr<Walk>> Walk::make(const WalkRequest& request) {
  std::unique_ptr<Walk> walk(new Walk(request));
  PTERUN_TRY(walk->load());
  return walk;
}

Result<void> Walk::load() {
  PTERUN_TRY(watched_backends_.add(backends::make_watching_xnnpack_backend(
      [this](const backends::WatchedCall& call) { return visit_delegate(call); })));
  PTERUN_TRY(reference_backends_.add(make_graph_keeper(graphs_)));
  watched_loader_ =
      std::make_unique<runtime::Loader>(watched_backends_, *request_.operators, *request_.threads, *request_.log);
  reference_loader_ =
      std::make_unique<runtime::Loader>(reference_backends_, *request_.operators, *request_.threads, *request_.log);
  runtime::LoadRequest load = *request_.load;
  load.options = {};
  PTERUN_ASSIGN(watched_, watched_loader_->load(load));
  if (!request_.reference_program.empty()) load.path = request_.reference_program;
  PTERUN_ASSIGN(reference_, reference_loader_->load(load));
  return {};
}

Result<void> Walk::run(std::span<ResultVisitor* const> visitors) {
  visitors_ = visitors;
  place_ = {};
  for (const auto& program : {watched_.get(), reference_.get()}) {
    for (const auto& method : program->methods())
      PTERUN_TRY(method->reset_state());
  }
  for (place_.step = 0; place_.step < request_.steps.size(); ++place_.step)
    PTERUN_TRY(run_step(request_.steps[place_.step]));
  return {};
}

Result<void> Walk::run_step(const PreparedStep& step) {
  place_.method = step.method->name();
  PTERUN_ASSIGN(runtime::Method * watched, watched_->load_method(place_.method));
  PTERUN_ASSIGN(runtime::Method * reference, reference_->load_method(place_.method));
  PTERUN_TRY(set_inputs(*watched, step.inputs));
  PTERUN_TRY(set_inputs(*reference, step.inputs));
  Stepper stepper(*watched);
  Stepper other(*reference);
  if (stepper.size() != other.size()) {
    return fail(structure_error(fmt::format("{} and {} instructions", stepper.size(), other.size())));
  }
  PTERUN_TRY(stepper.begin());
  PTERUN_TRY(other.begin());
  for (ResultVisitor* visitor : visitors_)
    PTERUN_TRY(visitor->begin_step(step, stepper));
  while (!stepper.at_end()) {
    const std::size_t index = stepper.next();
    const Instruction instruction = stepper.at(index);
    const Instruction twin = other.at(index);
    if (instruction.name != twin.name || instruction.args.size() != twin.args.size()) {
      return fail(
          structure_error(fmt::format("instruction {} is {} and {}", instruction.index, instruction.name, twin.name)));
    }
    place_.instruction = instruction.index;
    if (instruction.kind == Instruction::Kind::kOperator) {
      PTERUN_TRY(run_operator(stepper, other, index));
      continue;
    }
    delegate_args_ = instruction.args;
    PTERUN_TRY(stepper.step());
    if (instruction.kind != Instruction::Kind::kDelegate) PTERUN_TRY(other.run(index));
  }
  for (ResultVisitor* visitor : visitors_)
    PTERUN_TRY(visitor->end_step(step, *watched));
  return {};
}

Result<void> Walk::run_operator(Stepper& stepper, Stepper& other, std::size_t index) {
  const Instruction instruction = stepper.at(index);
  const Instruction twin = other.at(index);
  for (std::size_t i = 0; i < instruction.args.size(); ++i)
    PTERUN_TRY(hand_over(instruction.args[i], twin.args[i]));
  ++place_.visit;
  for (ResultVisitor* visitor : visitors_)
    PTERUN_TRY(visitor->before_operator(place_, instruction));
  PTERUN_TRY(stepper.step());
  PTERUN_TRY(other.run(index));
  for (ResultVisitor* visitor : visitors_)
    PTERUN_TRY(visitor->after_operator(place_, instruction, twin));
  return {};
}

Result<void> Walk::visit_delegate(const backends::WatchedCall& call) {
  const auto found = graphs_.find({std::string(call.method), call.delegate});
  if (found == graphs_.end() || found->second.values.size() != call.values.size()) {
    return fail(structure_error(fmt::format("delegate {} of method '{}'", call.delegate, call.method)));
  }
  place_.delegate = call.delegate;
  for (ResultVisitor* visitor : visitors_)
    PTERUN_TRY(visitor->begin_delegate(place_, found->second, call, delegate_args_));
  const auto visit = [this](const backends::interpreter::NodeCheck& check) -> Result<void> {
    ++place_.visit;
    place_.node = check.position;
    for (ResultVisitor* visitor : visitors_)
      PTERUN_TRY(visitor->visit_node(place_, check));
    return {};
  };
  PTERUN_TRY(backends::interpreter::check_nodes(found->second, call.shapes, call.values, visit));
  place_.node.reset();
  for (ResultVisitor* visitor : visitors_)
    PTERUN_TRY(visitor->end_delegate(place_));
  place_.delegate.reset();
  return {};
}

}  // namespace pterun::app
