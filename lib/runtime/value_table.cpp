// Building value slots from a method's plan.
#include "runtime/value_table.h"

#include <algorithm>
#include <cstring>

namespace pterun::runtime {
namespace {

using program::ExternalEntry;
using program::TensorSpec;

std::string file_list(const ExternalTensors& external) {
  if (external.empty()) return "no .ptd file was given";
  std::string text = "not in ";
  for (const auto& file : external)
    text += (file == external.front() ? "'" : ", '") + file->path() + "'";
  return text;
}

Result<const ExternalEntry*> find_external(const TensorSpec& spec, const ExternalTensors& external) {
  for (const auto& file : external) {
    const ExternalEntry* entry = file->find(spec.name);
    if (entry == nullptr) continue;
    const Error mismatch = make_error(
        ErrorCode::kInvalidExternalData,
        "the data under key '" + std::string(spec.name) + "' in '" + file->path() +
            "' does not fit: the program needs " + std::string(dtype_name(spec.dtype)) + spec.sizes.to_string() +
            " in dim order " + spec.dim_order.to_string() +
            (entry->layout
                 ? ", the file has " + std::string(dtype_name(entry->layout->dtype)) +
                       entry->layout->sizes.to_string() + " in dim order " + entry->layout->dim_order.to_string()
                 : ", the file has " + std::to_string(entry->data.size()) + " bytes without a layout"));
    const bool fits = entry->layout && entry->layout->dtype == spec.dtype && entry->layout->sizes == spec.sizes &&
                      entry->layout->dim_order == spec.dim_order && entry->data.size() >= spec.nbytes;
    if (!fits) return fail(Error(mismatch).at("key", std::string(spec.name)).at("file", file->path()));
    return entry;
  }
  return fail(make_error(ErrorCode::kInvalidExternalData, "the program needs the tensor '" + std::string(spec.name) +
                                                              "' from a .ptd file: " + file_list(external))
                  .at("key", std::string(spec.name))
                  .with_hint("pass the file with --data FILE.ptd"));
}

// Operators that only point their output at other memory: such an output needs none of its own.
bool is_view_operator(const std::string& name) {
  return name == "executorch_prim::et_view.default";
}

std::vector<bool> view_outputs(const program::MethodPlan& plan) {
  std::vector<bool> is_view(plan.values.size(), false);
  for (const auto& chain : plan.chains) {
    for (const program::Instruction& instruction : chain) {
      const auto* call = std::get_if<program::KernelCall>(&instruction);
      if (call != nullptr && !call->args.empty() && is_view_operator(plan.operators[call->op])) {
        is_view[call->args.back()] = true;
      }
    }
  }
  return is_view;
}

}  // namespace

Result<void> ValueTable::bind_tensor(const TensorSpec& spec, Tensor& tensor, const MemoryPlan& memory,
                                     const ExternalTensors& external) {
  tensor = Tensor(spec.dtype, spec.sizes, spec.dim_order, nullptr);
  if (spec.dynamic) tensor.mark_dynamic();
  if (spec.planned) {
    tensor.set_data(memory.address(*spec.planned));
    has_initial_data_ = has_initial_data_ || spec.external || !spec.data.empty();
    return {};
  }
  if (spec.external) {
    PTERUN_ASSIGN(const ExternalEntry* entry, find_external(spec, external));
    tensor.set_data(const_cast<std::byte*>(entry->data.data()));
    tensor.mark_constant();
  } else if (spec.has_data) {
    tensor.set_data(const_cast<std::byte*>(spec.data.data()));
    tensor.mark_constant();
  }
  return {};
}

Result<std::unique_ptr<ValueTable>> ValueTable::create(const program::MethodPlan& plan, const MemoryPlan& memory,
                                                       const ExternalTensors& external) {
  std::unique_ptr<ValueTable> table(new ValueTable(plan));
  PTERUN_TRY(table->fill(memory, external));
  return table;
}

Result<void> ValueTable::fill(const MemoryPlan& memory, const ExternalTensors& external) {
  const std::size_t count = plan_.values.size();
  values_.resize(count);
  tensors_.resize(static_cast<std::size_t>(std::ranges::count_if(
      plan_.values, [](const program::ValueSpec& value) { return std::holds_alternative<TensorSpec>(value); })));
  const std::vector<bool> is_view = view_outputs(plan_);
  std::size_t next_tensor = 0;
  const auto slot = [this](std::uint32_t index) { return &values_[index]; };
  const auto slots = [&](const std::vector<std::uint32_t>& indices) {
    std::vector<Value*> items;
    for (const std::uint32_t index : indices)
      items.push_back(slot(index));
    return items;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const program::ValueSpec& spec = plan_.values[i];
    if (const auto* tensor_spec = std::get_if<TensorSpec>(&spec)) {
      Tensor& tensor = tensors_[next_tensor++];
      PTERUN_TRY(bind_tensor(*tensor_spec, tensor, memory, external));
      if (!tensor_spec->planned && !tensor_spec->external && !tensor_spec->has_data && !is_view[i]) {
        PTERUN_ASSIGN(AlignedBuffer own, AlignedBuffer::allocate_zeroed(tensor_spec->nbytes));
        tensor.set_data(own.data());
        own_memory_.push_back(std::move(own));
      }
      values_[i].set(&tensor);
    } else if (const auto* text = std::get_if<std::string_view>(&spec)) {
      values_[i].set(std::string(*text));
    } else if (const auto* number = std::get_if<std::int64_t>(&spec)) {
      values_[i].set(*number);
    } else if (const auto* real = std::get_if<double>(&spec)) {
      values_[i].set(*real);
    } else if (const auto* flag = std::get_if<bool>(&spec)) {
      values_[i].set(*flag);
    } else if (const auto* doubles = std::get_if<program::DoubleListSpec>(&spec)) {
      values_[i].set(DoubleList{doubles->items});
    } else if (const auto* bools = std::get_if<program::BoolListSpec>(&spec)) {
      values_[i].set(BoolList{bools->items});
    } else if (const auto* ints = std::get_if<program::IntListSpec>(&spec)) {
      values_[i].set(IntList{slots(ints->values)});
    } else if (const auto* tensors = std::get_if<program::TensorListSpec>(&spec)) {
      values_[i].set(TensorList{slots(tensors->values)});
    } else if (const auto* optional = std::get_if<program::OptionalTensorListSpec>(&spec)) {
      OptionalTensorList list;
      for (const auto& index : optional->values)
        list.items.push_back(index ? slot(*index) : nullptr);
      values_[i].set(std::move(list));
    }
  }
  return {};
}

Result<void> ValueTable::load_initial_data(MemoryPlan& memory, const ExternalTensors& external) {
  if (has_initial_data_) {
    for (const program::ValueSpec& value : plan_.values) {
      const auto* spec = std::get_if<TensorSpec>(&value);
      if (spec == nullptr || !spec->planned || !memory.needs_initial_data(spec->planned->buffer)) continue;
      Bytes data = spec->data;
      if (spec->external) {
        PTERUN_ASSIGN(const ExternalEntry* entry, find_external(*spec, external));
        data = entry->data.first(static_cast<std::size_t>(spec->nbytes));
      }
      if (!data.empty()) std::memcpy(memory.address(*spec->planned), data.data(), data.size());
    }
  }
  memory.mark_initialised();
  return {};
}

void ValueTable::save_slots() {
  std::ranges::sort(redirected_);
  const auto rest = std::ranges::unique(redirected_);
  redirected_.erase(rest.begin(), rest.end());
  for (const std::uint32_t index : redirected_) {
    const Tensor* tensor = values_[index].tensor();
    saved_.push_back(
        {index, values_[index].payload(), tensor == nullptr ? nullptr : const_cast<void*>(tensor->raw_data())});
  }
}

void ValueTable::restore_slots() {
  for (const Saved& saved : saved_) {
    values_[saved.index].set(saved.payload);
    if (Tensor* tensor = values_[saved.index].tensor()) tensor->set_data(saved.data);
  }
}

}  // namespace pterun::runtime
