// Checks that operators share: dimensions counted from the end, lists of tensors, and the view of
// a tensor's elements that a copy reads or writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "operators/arguments.h"
#include "operators/operator.h"
#include "operators/output.h"
#include "tensor/tensor.h"

namespace pterun::operators {

// Dimension 0 … rank - 1 for -rank … rank - 1; rank 0 counts as rank 1, as in eager.
// Error: kInvalidArgument "aten::x.out: dimension 5 is outside [-3, 2]".
Result<std::size_t> wrap_dim(const Arguments& arguments, std::int64_t dim, std::size_t rank);

// A bit a dimension. Errors: as wrap_dim, and kInvalidArgument for a dimension named twice.
Result<std::uint32_t> wrap_dims(const Arguments& arguments, const Shape& dims, std::size_t rank);

// Error: kInvalidArgument unless both have the same dtype.
Result<void> check_same_dtype(const Arguments& arguments, const Tensor& input, const Tensor& output);

// The tensor in a slot of a list. Errors: kInvalidArgument, kInvalidState as of Arguments::tensor.
Result<Tensor*> list_tensor(const Arguments& arguments, std::size_t argument, std::size_t item);
// The items of a TensorList or OptionalTensorList, without copying them. Error: kInvalidArgument.
Result<std::span<Value* const>> list_items(const Arguments& arguments, std::size_t argument);

// Elements of a tensor seen through other sizes and strides (in elements; 0 and negative ones too).
struct View {
  const void* data = nullptr;
  Shape sizes;
  Strides strides;

  explicit View(const Tensor& tensor) : data(tensor.raw_data()), sizes(tensor.shape()), strides(tensor.strides()) {}
  // Moves the first element, `elements` may be negative.
  void advance(std::int64_t elements, std::size_t element_size);
};

// Resizes `output` to the view's sizes and copies the view's elements into it, whatever its dim order.
// `input` is the tensor behind the view: its dtype must be the output's. Errors: kInvalidArgument, Tensor::resize's.
Result<void> copy_view(ExecuteContext& context, const Arguments& arguments, const Tensor& input, const View& view,
                       Tensor& output);

// Copies `input` to `output`, which has the same number of elements in another shape: the n-th element in row-major
// order becomes the n-th, whatever the dim orders.
Result<void> copy_reshaped(ExecuteContext& context, const Tensor& input, Tensor& output);

// The elements of `tensor` in row-major order: its own memory, or a copy in scratch when it has another layout.
Result<const std::byte*> row_major_elements(ExecuteContext& context, const Tensor& tensor);
// The same converted to `dtype`.
Result<const std::byte*> row_major_elements_as(ExecuteContext& context, const Tensor& tensor, DType dtype);
// The elements of `tensor`, which broadcasts to `shape` (see broadcasts_to), as a row-major array of that shape.
Result<const std::byte*> broadcast_elements(ExecuteContext& context, const Tensor& tensor, const Shape& shape);

// Where to write an output in row-major order: its own memory, or scratch that finish() copies to it.
class RowMajorOutput {
 public:
  static Result<RowMajorOutput> open(ExecuteContext& context, Tensor& output);
  std::byte* data() const { return data_; }
  void finish(ExecuteContext& context);

 private:
  Tensor* output_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace pterun::operators
