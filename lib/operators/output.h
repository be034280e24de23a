// Giving an output its shape.
#pragma once

#include "base/error.h"
#include "operators/arguments.h"

namespace pterun::operators {

// Resizes an output to the shape that the operator computed. Errors: kNotSupported, naming the operator, the shape and
// why the output cannot take it (static shape, rank, bound); kInvalidProgram for a constant.
Result<void> resize_output(const Arguments& arguments, Tensor& out, const Shape& shape);

}  // namespace pterun::operators
