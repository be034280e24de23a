// Values of a bundled program's test cases as tensors.
#pragma once

#include "program/bundled_program.h"

namespace pterun::reference {

// A row-major copy; numbers become 0-d int64, float64 or bool tensors. Errors: kMemoryAllocationFailed.
Result<HostTensor> tensor_of(const program::BundledValue& value);

}  // namespace pterun::reference
