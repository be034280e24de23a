// Any bytes read as .npz, a zip archive of arrays. What was accepted has the sizes that it says.
#include <cstddef>
#include <cstdint>

#include "check_tensor.h"
#include "exact_copy.h"
#include "tensor/io/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ExactCopy copy(data, size);
  const auto read = pterun::io::parse_npz(copy.bytes(), "input");
  if (!read) return 0;
  for (const pterun::io::NamedTensor& entry : *read)
    check_tensor(entry.tensor.view());
  return 0;
}
