// Functions of one complex number, by operator.
#pragma once

#include "operators/arguments.h"

namespace pterun::operators {

// Runs the unary operator that the arguments name, whose tensor (argument 0) is complex and whose output is argument 1.
// Errors: kInvalidType for operators that complex numbers do not have.
Result<void> complex_function(const Arguments& arguments);

}  // namespace pterun::operators
