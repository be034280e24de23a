// Values as tensors that own their memory: how inputs and outputs are kept, compared, saved and handed over.
#pragma once

#include "base/error.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace pterun {

// A row-major copy of a tensor; a number as a 0-d int64, float64 or bool tensor.
// Errors: kInvalidType naming what the value is; kMemoryAllocationFailed.
Result<HostTensor> host_copy(const Value& value);

}  // namespace pterun
