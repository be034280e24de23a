// In what steps an output of a quantised method can differ from its reference.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/method.h"

namespace pterun::runtime {

// The scale of an output: of the last dequantize or quantize operator, or of the quantised result of the delegate, that
// it comes from, seen through operators that only move elements. Nothing when the output was computed in floating
// point, when its scale is per channel, or when the method has jumps.
std::optional<double> output_scale(const Method& method, std::size_t output);

}  // namespace pterun::runtime
