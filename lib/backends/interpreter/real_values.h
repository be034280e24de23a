// Values of a graph as real numbers: what quantised, half and float elements stand for, in double.
#pragma once

#include <vector>

#include "backends/xnnpack_payload/graph.h"
#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::backends::interpreter {

using Reals = std::vector<double>;  // row-major

// The numbers that a constant's elements stand for. Errors: kNotSupported naming the value and its type.
Result<Reals> constant_reals(const xnnpack_payload::Value& value);

// Rounds results to what the value's type can hold: quantised types to the nearest step within their range (ties to
// even), fp16 and bf16 to their formats; fp32 stays double. `shape` is the run-time shape (dynamic quantisation works
// on its batch items).
void round_to_type(const xnnpack_payload::Value& value, const Shape& shape, Reals& reals);

// Elements of a delegate call's tensor as reals, and back. Integer tensors hold quantised elements or indices.
// Errors: kInvalidArgument for a dtype that does not go with the value.
Result<Reals> read_tensor(const xnnpack_payload::Value& value, const Tensor& tensor);
Result<void> write_tensor(const xnnpack_payload::Value& value, const Reals& reals, Tensor& tensor);

}  // namespace pterun::backends::interpreter
