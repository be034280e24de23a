// Shared checks, and copies through views.
#include "operators/dims.h"

#include <string>

#include "operators/block_copy.h"
#include "operators/dtype_dispatch.h"

namespace pterun::operators {

Result<std::size_t> wrap_dim(const Arguments& arguments, std::int64_t dim, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
  if (dim < -count || dim >= count) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "dimension " + std::to_string(dim) + " is outside [" +
                                                                 std::to_string(-count) + ", " +
                                                                 std::to_string(count - 1) + "]"));
  }
  return static_cast<std::size_t>(dim < 0 ? dim + count : dim);
}

Result<std::uint32_t> wrap_dims(const Arguments& arguments, const Shape& dims, std::size_t rank) {
  std::uint32_t bits = 0;
  for (const std::int64_t item : dims) {
    PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, item, rank));
    const std::uint32_t bit = 1u << dim;
    if ((bits & bit) != 0) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "dimension " + std::to_string(dim) + " is given twice"));
    }
    bits |= bit;
  }
  return bits;
}

Result<void> check_same_dtype(const Arguments& arguments, const Tensor& input, const Tensor& output) {
  if (input.dtype() == output.dtype()) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument, "input and output need one dtype, these are " +
                                                               std::string(dtype_name(input.dtype())) + " and " +
                                                               std::string(dtype_name(output.dtype()))));
}

Result<std::span<Value* const>> list_items(const Arguments& arguments, std::size_t argument) {
  if (argument < arguments.size()) {
    const Value& value = arguments.slot(argument);
    if (const auto* list = value.get_if<TensorList>()) return std::span<Value* const>(list->items);
    if (const auto* list = value.get_if<OptionalTensorList>()) return std::span<Value* const>(list->items);
  }
  return fail(arguments.error(ErrorCode::kInvalidArgument,
                              "argument " + std::to_string(argument) + " has to be a list of tensors"));
}

Result<Tensor*> list_tensor(const Arguments& arguments, std::size_t argument, std::size_t item) {
  PTERUN_ASSIGN(const std::span<Value* const> items, list_items(arguments, argument));
  Tensor* tensor = item < items.size() && items[item] != nullptr ? items[item]->tensor() : nullptr;
  const std::string place = "item " + std::to_string(item) + " of argument " + std::to_string(argument);
  if (tensor == nullptr) return fail(arguments.error(ErrorCode::kInvalidArgument, place + " is no tensor"));
  if (tensor->raw_data() == nullptr && tensor->numel() != 0) {
    return fail(arguments.error(ErrorCode::kInvalidState, place + " has no memory"));
  }
  return tensor;
}

void View::advance(std::int64_t elements, std::size_t element_size) {
  data = static_cast<const std::byte*>(data) + elements * static_cast<std::int64_t>(element_size);
}

Result<void> copy_view(ExecuteContext& context, const Arguments& arguments, const Tensor& input, const View& view,
                       Tensor& output) {
  PTERUN_TRY(check_same_dtype(arguments, input, output));
  PTERUN_TRY(resize_output(arguments, output, view.sizes));
  copy_block(*context.threads, dtype_size(input.dtype()), view.sizes, view.data, view.strides,
             output.mutable_raw_data(), output.strides());
  return {};
}

namespace {

Strides row_major_strides(const Shape& sizes) {
  return strides_of(sizes, DimOrder::contiguous(sizes.rank()));
}

}  // namespace

Result<void> copy_reshaped(ExecuteContext& context, const Tensor& input, Tensor& output) {
  const std::size_t size = dtype_size(input.dtype());
  if (output.is_row_major()) {
    copy_block(*context.threads, size, input.shape(), input.raw_data(), input.strides(), output.mutable_raw_data(),
               row_major_strides(input.shape()));
    return {};
  }
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, input));
  copy_block(*context.threads, size, output.shape(), elements, row_major_strides(output.shape()),
             output.mutable_raw_data(), output.strides());
  return {};
}

Result<const std::byte*> row_major_elements(ExecuteContext& context, const Tensor& tensor) {
  if (tensor.is_row_major()) return tensor.data<std::byte>();
  PTERUN_ASSIGN(std::byte * copy, context.scratch->allocate(tensor.nbytes()));
  copy_block(*context.threads, dtype_size(tensor.dtype()), tensor.shape(), tensor.raw_data(), tensor.strides(), copy,
             row_major_strides(tensor.shape()));
  return copy;
}

Result<const std::byte*> row_major_elements_as(ExecuteContext& context, const Tensor& tensor, DType dtype) {
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, tensor));
  if (tensor.dtype() == dtype) return elements;
  const auto count = static_cast<std::size_t>(tensor.numel());
  PTERUN_ASSIGN(std::byte * converted, context.scratch->allocate(count * dtype_size(dtype)));
  convert_elements(tensor.dtype(), elements, dtype, converted, count);
  return converted;
}

Result<const std::byte*> broadcast_elements(ExecuteContext& context, const Tensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return row_major_elements(context, tensor);
  const std::size_t size = dtype_size(tensor.dtype());
  PTERUN_ASSIGN(std::byte * copy, context.scratch->allocate(static_cast<std::size_t>(shape.numel()) * size));
  const Strides from = tensor.strides();
  Strides steps = Shape::filled(shape.rank(), 0);
  for (std::size_t i = 0; i < tensor.rank(); ++i) {
    if (tensor.size(i) != 1) steps[shape.rank() - tensor.rank() + i] = from[i];
  }
  copy_block(*context.threads, size, shape, tensor.raw_data(), steps, copy, row_major_strides(shape));
  return copy;
}

Result<RowMajorOutput> RowMajorOutput::open(ExecuteContext& context, Tensor& output) {
  RowMajorOutput opened;
  if (output.is_row_major()) {
    opened.data_ = output.mutable_data<std::byte>();
    return opened;
  }
  opened.output_ = &output;
  PTERUN_ASSIGN(opened.data_, context.scratch->allocate(output.nbytes()));
  return opened;
}

void RowMajorOutput::finish(ExecuteContext& context) {
  if (output_ == nullptr) return;
  copy_block(*context.threads, dtype_size(output_->dtype()), output_->shape(), data_,
             row_major_strides(output_->shape()), output_->mutable_raw_data(), output_->strides());
}

}  // namespace pterun::operators
