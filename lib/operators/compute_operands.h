// Operands as plain row-major arrays of a compute type. Operators whose loops are written once, for contiguous float
// or double, read inputs and write outputs through these: nothing is copied when dtype and layout already agree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "operators/dtype_dispatch.h"
#include "operators/operator.h"
#include "tensor/tensor.h"

namespace pterun::operators {

// The elements of `tensor` in row-major order as the compute type: its own memory, or a copy in the scratch memory.
Result<const void*> compute_elements(ExecuteContext& context, const Tensor& tensor, Compute compute);

template <typename T>
Result<const T*> compute_input(ExecuteContext& context, const Tensor& tensor) {
  PTERUN_ASSIGN(const void* elements, compute_elements(context, tensor, kComputeOf<T>));
  return static_cast<const T*>(elements);
}
// Null for a tensor that is not given.
template <typename T>
Result<const T*> optional_compute_input(ExecuteContext& context, const Tensor* tensor) {
  if (tensor == nullptr) return nullptr;
  return compute_input<T>(context, *tensor);
}

// Row-major floats that XNNPACK may read 128 bytes past the end of: constants lie in the program's mapping, where there
// may be nothing behind them, and are copied.
Result<const float*> padded_input(ExecuteContext& context, const Tensor& tensor);

// Where to write an output in row-major order: the tensor's own memory, or scratch that store() converts from.
class ComputeOutput {
 public:
  // The tensor must have its final shape, and outlives this object.
  static Result<ComputeOutput> open(ExecuteContext& context, Tensor& tensor, Compute compute);

  template <typename T>
  T* data() const {
    return static_cast<T*>(data_);
  }
  // Brings the elements into the tensor; to be called once, when all are written.
  Result<void> store(ExecuteContext& context);

 private:
  Tensor* tensor_ = nullptr;
  Compute compute_ = Compute::kFloat;
  void* data_ = nullptr;
};

}  // namespace pterun::operators
