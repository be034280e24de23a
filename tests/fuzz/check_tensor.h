// What holds for every tensor that a reader accepted: its sizes are those that it says, and its elements can be read.
#pragma once

#include <cstdlib>

#include "tensor/tensor.h"

inline void check_tensor(const pterun::Tensor& tensor) {
  const auto numel = pterun::checked_numel(tensor.shape().span());
  if (!numel || *numel != tensor.numel() || (tensor.numel() != 0 && tensor.raw_data() == nullptr)) std::abort();
  (void)pterun::HostTensor::row_major_copy(tensor);
}
