// Any bytes read as .npy, an array. What was accepted has the sizes that it says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "check_tensor.h"
#include "exact_copy.h"
#include "tensor/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ExactCopy copy(data, size);
  const auto read = pterun::io::parse_npy(copy.bytes(), "input");
  if (!read) return 0;
  const pterun::Tensor& tensor = read->view();
  if (!tensor.is_row_major()) std::abort();
  check_tensor(tensor);
  return 0;
}
