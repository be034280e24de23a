// Which calls only depend on constants.
#include "runtime/constant_folding.h"

#include <algorithm>
#include <array>

namespace pterun::runtime {
namespace {

// Pure operators with one output, the last argument.
constexpr std::array<std::string_view, 11> kFoldable = {
    "aten::_to_copy.out",
    "aten::expand_copy.out",
    "aten::permute_copy.out",
    "aten::select_copy.int_out",
    "aten::slice_copy.Tensor_out",
    "aten::squeeze_copy.dims_out",
    "aten::t_copy.out",
    "aten::transpose_copy.int_out",
    "aten::unsqueeze_copy.out",
    "aten::view_copy.out",
    "dim_order_ops::_to_dim_order_copy.out",
};

bool overlap(const program::TensorSpec& a, const program::TensorSpec& b) {
  return a.planned && b.planned && a.planned->buffer == b.planned->buffer &&
         a.planned->offset_bytes < b.planned->offset_bytes + b.nbytes &&
         b.planned->offset_bytes < a.planned->offset_bytes + a.nbytes;
}

}  // namespace

ConstantFolding::ConstantFolding(const program::MethodPlan& plan)
    : writers_(plan.values.size(), 0), pinned_(plan.values.size(), false) {
  std::vector<bool> used(plan.values.size(), false);
  for (const auto& chain : plan.chains) {
    for (const program::Instruction& instruction : chain) {
      if (const auto* call = std::get_if<program::KernelCall>(&instruction)) {
        for (const std::uint32_t arg : call->args)
          used[arg] = true;
        if (call->args.empty()) continue;
        ++writers_[call->args.back()];
        // An operator with several results has the list of them there.
        if (const auto* list = std::get_if<program::TensorListSpec>(&plan.values[call->args.back()])) {
          for (const std::uint32_t item : list->values)
            ++writers_[item];
        }
        if (plan.operators[call->op].ends_with('_')) ++writers_[call->args.front()];  // in place
      } else if (const auto* delegate = std::get_if<program::DelegateCall>(&instruction)) {
        for (const std::uint32_t arg : delegate->args)
          used[arg] = true;
      } else {
        straight_line_ = false;
      }
    }
  }
  straight_line_ = straight_line_ && plan.chains.size() == 1;
  for (const std::uint32_t output : plan.outputs)
    pinned_[output] = true;
  if (!straight_line_) return;
  // A tensor in planned memory that no instruction mentions is seen through another value that shares its place (a
  // view that the exporter left out), so that place must keep its data.
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    const auto* alias = std::get_if<program::TensorSpec>(&plan.values[i]);
    if (alias == nullptr || !alias->planned || !used[i] || writers_[i] > 0) continue;
    const bool is_input = std::ranges::find(plan.inputs, static_cast<std::uint32_t>(i)) != plan.inputs.end();
    if (is_input || alias->has_data) continue;
    for (std::size_t j = 0; j < plan.values.size(); ++j) {
      const auto* tensor = std::get_if<program::TensorSpec>(&plan.values[j]);
      if (j != i && tensor != nullptr && writers_[j] > 0 && overlap(*alias, *tensor) &&
          alias->planned->offset_bytes == tensor->planned->offset_bytes) {
        pinned_[j] = true;
      }
    }
  }
}

bool ConstantFolding::can_fold(std::string_view operator_name, const program::KernelCall& call,
                               std::span<Value* const> args) const {
  if (!straight_line_ || call.args.empty()) return false;
  if (std::ranges::find(kFoldable, operator_name) == kFoldable.end()) return false;
  const std::uint32_t out = call.args.back();
  if (pinned_[out] || writers_[out] != 1) return false;
  const Tensor* result = args.back()->tensor();
  if (result == nullptr || result->is_dynamic()) return false;
  bool any_tensor = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (call.args[i] == out) continue;
    const Tensor* tensor = args[i]->tensor();
    if (tensor == nullptr) continue;
    if (!tensor->is_constant()) return false;
    any_tensor = true;
  }
  return any_tensor;
}

}  // namespace pterun::runtime
