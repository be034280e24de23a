// PyTorch's type promotion. Operands fall into three groups: tensors with dimensions, 0-d tensors and Python numbers;
// a lower group changes the result only when its category (bool < integer < float < complex) is higher.
// Source: torch.result_type and the type promotion page of PyTorch's documentation.
#pragma once

#include "base/error.h"
#include "operators/arguments.h"
#include "operators/operator.h"

namespace pterun::operators {

// The smallest dtype that both convert to (torch.promote_types).
DType promote(DType a, DType b);

// Collects operands; result() is torch.result_type of them.
class Promotion {
 public:
  void add(const Tensor& tensor);
  void add(const Scalar& scalar);
  // The promoted dtype; float32 when there was no operand.
  DType result() const;

 private:
  std::optional<DType> dimensioned_;
  std::optional<DType> zero_dim_;
  std::optional<DType> number_;
};

// Integers and bool become float32, floats stay: the result of sqrt, div, mean and their like.
DType float_result(DType dtype);

// torch.can_cast: whether a result of dtype `from` may be written to an output of dtype `to`.
bool can_cast(DType from, DType to);

// Error "aten::sqrt.out: the result has dtype float32, which the output's int32 cannot take" unless can_cast.
Result<void> check_output_dtype(const Arguments& arguments, DType result, const Tensor& out);

// Error "aten::add.out: argument 1 has dtype qint8, which is not supported" (kInvalidType) unless in `allowed`.
Result<void> check_dtype(const Arguments& arguments, std::size_t argument, const Tensor& tensor, DTypeSet allowed);

}  // namespace pterun::operators
