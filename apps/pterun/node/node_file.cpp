// Keys and what stands under them.
#include "pterun/node/node_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensor/io/tensor_file.h"

namespace pterun::app {
namespace {

constexpr std::string_view kHint =
    "it holds input_0, input_1, ... as --diverge saves them; without --inputs they are generated";

template <typename List>
void add_items(std::size_t argument, const List* list, std::vector<ArgumentSlot>& slots) {
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    Value* item = list->items[i];
    if (item == nullptr || !(item->is_scalar() || item->is_tensor())) continue;
    slots.push_back({fmt::format("input_{}_{}", argument, i), argument, item});
  }
}

}  // namespace

std::string input_key(std::size_t index) {
  return fmt::format("input_{}", index);
}

std::vector<ArgumentSlot> argument_slots(std::span<Value* const> args) {
  std::vector<ArgumentSlot> slots;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i]->is_scalar() || args[i]->is_tensor()) slots.push_back({input_key(i), i, args[i]});
    add_items(i, args[i]->get_if<IntList>(), slots);
    add_items(i, args[i]->get_if<TensorList>(), slots);
    add_items(i, args[i]->get_if<OptionalTensorList>(), slots);
  }
  return slots;
}

Result<HostTensor> saved_copy(const Tensor& tensor) {
  PTERUN_ASSIGN(HostTensor copy, HostTensor::row_major_copy(tensor));
  if (tensor.dtype() != DType::kBFloat16) return copy;
  PTERUN_ASSIGN(HostTensor wide, HostTensor::allocate(DType::kFloat32, tensor.shape()));
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    wide.view().mutable_data<float>()[i] = static_cast<float>(copy.view().data<BFloat16>()[i]);
  return wide;
}

Result<HostTensor> saved_reals(std::span<const double> reals, const Shape& shape) {
  PTERUN_ASSIGN(HostTensor tensor, HostTensor::allocate(DType::kFloat64, shape));
  std::ranges::copy(reals, tensor.view().mutable_data<double>());
  return tensor;
}

Result<NodeFile> NodeFile::read(const std::string& path) {
  PTERUN_ASSIGN(std::vector<io::NamedTensor> tensors, io::read_tensor_file(path));
  NodeFile file;
  file.path_ = path;
  for (io::NamedTensor& tensor : tensors)
    file.tensors_.insert_or_assign(std::move(tensor.name), std::move(tensor.tensor));
  const auto is_input = [](const auto& entry) { return entry.first.starts_with("input_"); };
  if (std::ranges::any_of(file.tensors_, is_input)) return file;
  return fail(file.missing("input_0", "a node is given its inputs under that name"));
}

const Tensor* NodeFile::find(const std::string& key) const {
  const auto found = tensors_.find(key);
  return found == tensors_.end() ? nullptr : &found->second.view();
}

const Tensor* NodeFile::want(std::size_t index) const {
  const Tensor* numbered = find(fmt::format("want_{}", index));
  return numbered == nullptr && index == 0 ? find("want") : numbered;
}

Result<void> NodeFile::check_inputs(std::span<const std::string> known) const {
  for (const auto& [key, tensor] : tensors_) {
    if (!key.starts_with("input_") || std::ranges::find(known, key) != known.end()) continue;
    return fail(make_error(ErrorCode::kInput,
                           fmt::format("'{}' holds '{}', {}", path_, key,
                                       known.empty() ? "and nothing is read from it"
                                                     : fmt::format("and what is read is {}", fmt::join(known, ", "))))
                    .at("file", path_)
                    .at("key", key));
  }
  return {};
}

Error NodeFile::missing(const std::string& key, const std::string& what) const {
  std::vector<std::string> keys;
  for (const auto& entry : tensors_)
    keys.push_back(entry.first);
  return make_error(ErrorCode::kInput, fmt::format("'{}' holds no '{}': {}; it holds {}", path_, key, what,
                                                   keys.empty() ? "nothing" : fmt::format("{}", fmt::join(keys, ", "))))
      .with_hint(std::string(kHint))
      .at("file", path_)
      .at("key", key);
}

}  // namespace pterun::app
