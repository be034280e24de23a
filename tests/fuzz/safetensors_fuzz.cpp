// Any bytes read as .safetensors, named tensors. What was accepted has the sizes that it says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "exact_copy.h"
#include "tensor/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ExactCopy copy(data, size);
  const auto read = pterun::io::parse_safetensors(copy.bytes(), "input");
  if (!read) return 0;
  for (const pterun::io::NamedTensor& entry : *read) {
    const pterun::Tensor& tensor = entry.tensor.view();
    const auto numel = pterun::checked_numel(tensor.shape().span());
    if (!numel || *numel != tensor.numel() || (tensor.numel() != 0 && tensor.raw_data() == nullptr)) std::abort();
    (void)pterun::HostTensor::row_major_copy(tensor);
  }
  return 0;
}
