// The explicit list of operator families: one function a family, each returning its table of overloads.
#pragma once

#include <span>

#include "operators/operator.h"

namespace pterun::operators {

// A registry with every family below.
OperatorRegistry make_operator_registry();

std::span<const OperatorRow> arithmetic_family();  // add, sub, rsub, mul, div, floor_divide, fmod, remainder, …

}  // namespace pterun::operators
