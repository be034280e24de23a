// Following an output back through the instructions.
#include "runtime/output_scale.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/method_state.h"

namespace pterun::runtime {
namespace {

// Operators whose first argument's elements are those of the last, moved.
constexpr std::array<std::string_view, 13> kMoving = {"aten::alias_copy",
                                                      "aten::clone",
                                                      "aten::expand_copy",
                                                      "aten::permute_copy",
                                                      "aten::select_copy",
                                                      "aten::slice_copy",
                                                      "aten::squeeze_copy",
                                                      "aten::transpose_copy",
                                                      "aten::unsqueeze_copy",
                                                      "aten::view_copy",
                                                      "dim_order_ops::_clone_dim_order",
                                                      "dim_order_ops::_to_dim_order_copy",
                                                      "executorch_prim::et_view"};

bool is_moving(std::string_view name) {
  return std::ranges::find(kMoving, name.substr(0, name.find('.'))) != kMoving.end();
}

// The scale that a number or a constant tensor of one float holds.
std::optional<double> scale_of(const Value& value) {
  if (const auto* number = value.get_if<double>()) return *number;
  const Tensor* tensor = value.tensor();
  if (tensor == nullptr || !tensor->is_constant() || tensor->numel() != 1) return std::nullopt;
  if (tensor->dtype() == DType::kFloat64) return *tensor->data<double>();
  if (tensor->dtype() == DType::kFloat32) return *tensor->data<float>();
  return std::nullopt;
}

}  // namespace

std::optional<double> output_scale(const Method& method, std::size_t output) {
  const Method::State& state = method.state();
  const Value* wanted = &(*state.values)[state.plan.outputs[output]];
  if (std::ranges::any_of(state.steps, [](const Step& step) { return step.kind == Step::Kind::kJumpFalse; })) {
    return std::nullopt;
  }
  for (std::size_t i = state.steps.size(); i-- > 0;) {
    const Step& step = state.steps[i];
    const std::span<Value* const> args(state.args.data() + step.args_begin, step.args_count);
    if (step.kind == Step::Kind::kMove && wanted == &(*state.values)[step.b]) wanted = &(*state.values)[step.a];
    const auto place = std::ranges::find(args, wanted);
    if (place == args.end()) continue;
    if (step.kind == Step::Kind::kDelegate) {
      const auto position = static_cast<std::size_t>(place - args.begin());
      if (const auto scale = step.delegate->output_scale(position)) return scale;
      continue;
    }
    if (step.kind != Step::Kind::kKernel || args.size() < 2 || args.back() != wanted) continue;
    if (step.name.starts_with("quantized_decomposed::dequantize_per_tensor.") ||
        step.name.starts_with("quantized_decomposed::quantize_per_tensor.")) {
      return scale_of(*args[1]);
    }
    if (!is_moving(step.name)) return std::nullopt;
    wanted = args.front();
  }
  return std::nullopt;
}

}  // namespace pterun::runtime
