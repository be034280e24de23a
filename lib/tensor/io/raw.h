// Raw tensor files: nothing but the elements, row-major, little endian.
#pragma once

#include <string>

#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::io {

// Errors: kInput, naming the file: its size is not exactly what dtype and shape need (both sizes are named).
Result<HostTensor> read_raw(const std::string& path, DType dtype, const Shape& shape);

}  // namespace pterun::io
