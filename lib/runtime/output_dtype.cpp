// Giving outputs the dtype that eager gives.
#include "runtime/output_dtype.h"

#include <algorithm>

#include "operators/result_dtype.h"

namespace pterun::runtime {
namespace {

bool mentions(const program::Instruction& instruction, std::uint32_t value) {
  if (const auto* kernel = std::get_if<program::KernelCall>(&instruction))
    return std::ranges::find(kernel->args, value) != kernel->args.end();
  if (const auto* delegate = std::get_if<program::DelegateCall>(&instruction))
    return std::ranges::find(delegate->args, value) != delegate->args.end();
  if (const auto* move = std::get_if<program::MoveCall>(&instruction)) return move->from == value || move->to == value;
  return false;
}

// Whether one instruction alone mentions the value, and no list of values holds it.
bool is_mentioned_once(const program::MethodPlan& plan, std::uint32_t value) {
  std::size_t mentioned = 0;
  for (const auto& chain : plan.chains)
    for (const program::Instruction& instruction : chain)
      mentioned += mentions(instruction, value);
  const auto in_list = [&](const program::ValueSpec& spec) {
    const auto* list = std::get_if<program::TensorListSpec>(&spec);
    return list != nullptr && std::ranges::find(list->values, value) != list->values.end();
  };
  return mentioned == 1 && std::ranges::none_of(plan.values, in_list);
}

}  // namespace

void correct_output_dtype(Method::State& state, const Step& step, const program::KernelCall& call, LogSink& log) {
  const std::span<Value* const> args(state.args.data() + step.args_begin, step.args_count);
  const auto dtype = operators::eager_result_dtype(step.name, operators::Arguments(step.name, args));
  if (!dtype) return;
  Tensor* result = args.back()->tensor();
  if (result == nullptr || result->dtype() == *dtype || dtype_size(*dtype) > dtype_size(result->dtype())) return;
  const std::uint32_t index = call.args.back();
  if (std::ranges::find(state.plan.outputs, index) == state.plan.outputs.end()) return;
  if (!is_mentioned_once(state.plan, index)) return;
  Tensor corrected(*dtype, result->bound(), result->dim_order(), result->mutable_raw_data());
  if (result->is_dynamic()) corrected.mark_dynamic();
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    if (state.plan.outputs[i] != index) continue;
    log.warn({"output_dtype",
              "output " + std::to_string(i) + " of method '" + state.plan.name + "' is declared " +
                  std::string(dtype_name(result->dtype())) + ", but " + std::string(step.name) + " gives its scales' " +
                  std::string(dtype_name(*dtype)) + ", and so does pterun",
              "the exporter declares the results of this operator float32 whatever its scales are"});
    state.outputs[i].dtype = *dtype;
  }
  *result = corrected;
}

}  // namespace pterun::runtime
