// Copies of bundled values.
#include "reference/bundled_values.h"

#include "tensor/host_copy.h"

namespace pterun::reference {

Result<HostTensor> tensor_of(const program::BundledValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return HostTensor::row_major_copy(*tensor);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return host_copy(Value(*number));
  if (const auto* real = std::get_if<double>(&value)) return host_copy(Value(*real));
  return host_copy(Value(std::get<bool>(value)));
}

}  // namespace pterun::reference
