// Numbers become 0-d tensors in one place.
#include "tensor/host_copy.h"

#include <string>

namespace pterun {
namespace {

template <typename T>
Result<HostTensor> number_tensor(T number) {
  PTERUN_ASSIGN(HostTensor tensor, HostTensor::allocate(kDTypeOf<T>, Shape{}));
  *tensor.view().template mutable_data<T>() = number;
  return tensor;
}

}  // namespace

Result<HostTensor> host_copy(const Value& value) {
  if (const Tensor* tensor = value.tensor()) return HostTensor::row_major_copy(*tensor);
  if (const auto* number = value.get_if<std::int64_t>()) return number_tensor(*number);
  if (const auto* real = value.get_if<double>()) return number_tensor(*real);
  if (const auto* flag = value.get_if<bool>()) return number_tensor(*flag);
  return fail(ErrorCode::kInvalidType, "a " + std::string(value.kind_name()) + " is neither a tensor nor a number");
}

}  // namespace pterun
