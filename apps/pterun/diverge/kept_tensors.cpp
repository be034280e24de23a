// Numbers of nodes are kept as float64, arguments of operators in their own dtype.
#include "pterun/diverge/kept_tensors.h"

#include <algorithm>

#include <fmt/format.h>

#include "pterun/node/node_file.h"
#include "tensor/host_copy.h"
#include "tensor/io/npz.h"

namespace pterun::app {

Result<void> TensorKeeper::before_operator(const ResultPlace& place, const runtime::Instruction& instruction) {
  if (place.visit != request_.inputs_of) return {};
  for (const ArgumentSlot& slot : argument_slots(instruction.args)) {
    if (slot.value->tensor() != nullptr && slot.value->tensor()->raw_data() == nullptr) continue;
    PTERUN_ASSIGN(const HostTensor copy, host_copy(*slot.value));
    PTERUN_TRY(keep_copy(slot.key, copy.view()));
  }
  return {};
}

Result<void> TensorKeeper::after_operator(const ResultPlace& place, const runtime::Instruction& watched,
                                          const runtime::Instruction& twin) {
  if (place.visit != request_.result_of) return {};
  for (std::size_t i = 0; i < watched.args.size(); ++i) {
    const Tensor* got = watched.args[i]->tensor();
    const Tensor* want = twin.args[i]->tensor();
    if (got == nullptr || want == nullptr || got->is_constant() || got->raw_data() == nullptr) continue;
    PTERUN_TRY(keep_copy(fmt::format("got_{}", i), *got));
    if (request_.want == nullptr) PTERUN_TRY(keep_copy(fmt::format("want_{}", i), *want));
  }
  if (request_.want != nullptr) PTERUN_TRY(keep_copy(request_.want_key, request_.want->view()));
  return {};
}

Result<void> TensorKeeper::visit_node(const ResultPlace& place, const backends::interpreter::NodeCheck& check) {
  if (place.visit == request_.inputs_of) {
    for (std::size_t i = 0; i < check.inputs.size(); ++i)
      PTERUN_TRY(keep_reals(input_key(i), *check.inputs[i].shape, *check.inputs[i].reals));
  }
  if (place.visit != request_.result_of) return {};
  PTERUN_TRY(keep_reals("got", *check.output.shape, *check.output.reals));
  if (request_.want != nullptr) return keep_copy(request_.want_key, request_.want->view());
  return keep_reals("want", *check.output.shape, *check.want);
}

Result<void> TensorKeeper::write(const std::string& path) const {
  std::vector<io::NamedTensorView> views;
  for (const Kept& kept : kept_)
    views.push_back({kept.name, &kept.tensor.view()});
  return io::write_npz(path, views);
}

Result<void> TensorKeeper::keep_copy(std::string name, const Tensor& tensor) {
  PTERUN_ASSIGN(HostTensor copy, saved_copy(tensor));
  kept_.push_back({std::move(name), std::move(copy)});
  return {};
}

Result<void> TensorKeeper::keep_reals(std::string name, const Shape& shape, const backends::interpreter::Reals& reals) {
  PTERUN_ASSIGN(HostTensor tensor, saved_reals(reals, shape));
  kept_.push_back({std::move(name), std::move(tensor)});
  return {};
}

}  // namespace pterun::app
