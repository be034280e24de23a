// Checks that many operators share. Their errors name the operator, the argument and what was found.
#pragma once

#include <cstdint>
#include <string_view>

#include "operators/arguments.h"
#include "operators/operator.h"

namespace pterun::operators {

// "aten::mm.out: self is bool[2, 2]; supported are float32, float64, …" (kNotSupported) unless the dtype is in the set.
Result<void> check_dtype(const Arguments& arguments, const Tensor& tensor, DTypeSet supported, std::string_view what);
// kInvalidArgument unless the tensor has that dtype.
Result<void> check_dtype_is(const Arguments& arguments, const Tensor& tensor, DType expected, std::string_view what);
// kInvalidArgument unless the tensor has that rank.
Result<void> check_rank(const Arguments& arguments, const Tensor& tensor, std::size_t rank, std::string_view what);
// kInvalidArgument unless the tensor has that shape.
Result<void> check_shape(const Arguments& arguments, const Tensor& tensor, const Shape& expected,
                         std::string_view what);

}  // namespace pterun::operators
