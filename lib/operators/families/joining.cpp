// Several tensors or copies into one: cat, stack, repeat, repeat_interleave, and writing a part of a tensor.
#include <algorithm>
#include <string>

#include "base/checked.h"
#include "operators/block_copy.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/families/slices.h"

namespace pterun::operators {
namespace {

// Copies `input` into the block of the output that starts at element `offset` and has the input's sizes and
// `to_strides`; converts when the dtypes differ.
Result<void> copy_into(ExecuteContext& context, const Tensor& input, Tensor& output, std::int64_t offset,
                       const Strides& to_strides) {
  const std::size_t size = dtype_size(output.dtype());
  std::byte* to = output.mutable_data<std::byte>() + offset * static_cast<std::int64_t>(size);
  if (input.numel() == 0) return {};
  if (input.dtype() == output.dtype()) {
    copy_block(*context.threads, size, input.shape(), input.raw_data(), input.strides(), to, to_strides);
    return {};
  }
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements_as(context, input, output.dtype()));
  const Strides from = strides_of(input.shape(), DimOrder::contiguous(input.rank()));
  copy_block(*context.threads, size, input.shape(), elements, from, to, to_strides);
  return {};
}

// Eager leaves out empty tensors of rank 1, whatever the rank of the others.
bool is_skipped(const Tensor& tensor) {
  return tensor.rank() == 1 && tensor.numel() == 0;
}

// The shape of a concatenation, and its dimension.
struct Joined {
  Shape shape;
  std::size_t dim = 0;
};

Result<Joined> join_shapes(const Arguments& arguments, std::size_t count, std::int64_t given) {
  const Tensor* first = nullptr;
  Joined joined;
  for (std::size_t i = 0; i < count; ++i) {
    PTERUN_ASSIGN(const Tensor* tensor, list_tensor(arguments, 0, i));
    if (is_skipped(*tensor)) continue;
    if (first == nullptr) {
      if (tensor->rank() == 0) {
        return fail(arguments.error(ErrorCode::kInvalidArgument, "tensors without dimensions cannot be concatenated"));
      }
      first = tensor;
      joined.shape = tensor->shape();
      PTERUN_ASSIGN(joined.dim, wrap_dim(arguments, given, tensor->rank()));
      continue;
    }
    Shape expected = first->shape();
    if (tensor->rank() == expected.rank()) expected[joined.dim] = tensor->size(joined.dim);
    const auto size =
        checked_add(joined.shape[joined.dim], tensor->rank() == expected.rank() ? tensor->size(joined.dim) : 0);
    if (tensor->shape() != expected || !size) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "tensor " + std::to_string(i) + " is " +
                                                                   tensor->describe() + ", which does not join " +
                                                                   first->describe() + " along dimension " +
                                                                   std::to_string(joined.dim)));
    }
    joined.shape[joined.dim] = *size;
  }
  if (first == nullptr) joined.shape = {0};
  return joined;
}

Result<void> cat(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const std::span<Value* const> items, list_items(arguments, 0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  if (items.empty()) return fail(arguments.error(ErrorCode::kInvalidArgument, "a list without tensors"));
  PTERUN_ASSIGN(const Joined joined, join_shapes(arguments, items.size(), given));
  PTERUN_TRY(resize_output(arguments, *output, joined.shape));
  if (output->numel() == 0) return {};
  const Strides strides = output->strides();
  std::int64_t offset = 0;
  for (Value* item : items) {
    const Tensor& input = *item->tensor();
    if (is_skipped(input)) continue;
    PTERUN_TRY(copy_into(context, input, *output, offset, strides));
    offset += input.size(joined.dim) * strides[joined.dim];
  }
  return {};
}

Result<void> stack(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const std::span<Value* const> items, list_items(arguments, 0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  if (items.empty()) return fail(arguments.error(ErrorCode::kInvalidArgument, "a list without tensors"));
  PTERUN_ASSIGN(const Tensor* first, list_tensor(arguments, 0, 0));
  if (first->rank() == kMaxRank) {
    return fail(arguments.error(ErrorCode::kNotSupported, "an output of rank 17; at most 16 are supported"));
  }
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, first->rank() + 1));
  for (std::size_t i = 1; i < items.size(); ++i) {
    PTERUN_ASSIGN(const Tensor* tensor, list_tensor(arguments, 0, i));
    if (tensor->shape() == first->shape()) continue;
    return fail(arguments.error(
        ErrorCode::kInvalidArgument,
        "tensor " + std::to_string(i) + " is " + tensor->describe() + ", the first is " + first->describe()));
  }
  Shape shape = first->shape();
  shape.push_back(1);
  for (std::size_t i = first->rank(); i > dim; --i)
    shape[i] = shape[i - 1];
  shape[dim] = static_cast<std::int64_t>(items.size());
  PTERUN_TRY(resize_output(arguments, *output, shape));
  const Strides strides = output->strides();
  Strides inner;
  for (std::size_t i = 0; i < strides.rank(); ++i) {
    if (i != dim) inner.push_back(strides[i]);
  }
  std::int64_t offset = 0;
  for (Value* item : items) {
    PTERUN_TRY(copy_into(context, *item->tensor(), *output, offset, inner));
    offset += strides[dim];
  }
  return {};
}

Result<void> repeat(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape repeats, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  const bool valid = repeats.rank() >= input->rank() && std::ranges::none_of(repeats, [](auto n) { return n < 0; });
  if (!valid) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "cannot repeat " + input->describe() + " by " + repeats.to_string()));
  }
  const std::size_t added = repeats.rank() - input->rank();
  Shape shape = repeats;
  for (std::size_t i = added; i < shape.rank(); ++i) {
    const auto size = checked_mul(repeats[i], input->size(i - added));
    if (!size) return fail(arguments.error(ErrorCode::kInvalidArgument, "the output would be too large"));
    shape[i] = *size;
  }
  PTERUN_TRY(resize_output(arguments, *output, shape));
  const Strides from = input->strides();
  const Strides to = output->strides();
  std::array<CopyDim, 2 * kMaxRank> dims;
  std::size_t count = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const std::int64_t size = i < added ? 1 : input->size(i - added);
    if (size != 1) dims[count++] = {size, from[i - added], to[i]};
    if (repeats[i] != 1) dims[count++] = {repeats[i], 0, to[i] * size};
  }
  copy_strided(*context.threads, dtype_size(input->dtype()), {dims.data(), count}, input->raw_data(),
               output->mutable_raw_data());
  return {};
}

// Index i repeats[i] times, for all i in turn.
Result<void> repeat_interleave(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* repeats, arguments.tensor(0));
  PTERUN_ASSIGN(const auto given_size, arguments.optional_integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_same_dtype(arguments, *repeats, *output));
  if (repeats->rank() != 1 || (repeats->dtype() != DType::kInt64 && repeats->dtype() != DType::kInt32)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "repeats have to be int32 or int64 of one dimension, not " + repeats->describe()));
  }
  const auto count = static_cast<std::size_t>(repeats->numel());
  PTERUN_ASSIGN(const std::byte* converted, row_major_elements_as(context, *repeats, DType::kInt64));
  const auto* times = reinterpret_cast<const std::int64_t*>(converted);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto sum = times[i] < 0 ? std::nullopt : checked_add(total, times[i]);
    if (!sum)
      return fail(arguments.error(ErrorCode::kInvalidArgument, "cannot repeat " + std::to_string(times[i]) + " times"));
    total = *sum;
  }
  if (given_size && *given_size != total) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the repeats add up to " + std::to_string(total) +
                                                                 ", not to " + std::to_string(*given_size)));
  }
  PTERUN_TRY(resize_output(arguments, *output, {total}));
  const auto write = [&]<typename T>(T* to) {
    for (std::size_t i = 0; i < count; ++i)
      to = std::fill_n(to, times[i], static_cast<T>(i));
  };
  if (output->dtype() == DType::kInt64)
    write(output->mutable_data<std::int64_t>());
  else
    write(output->mutable_data<std::int32_t>());
  return {};
}

// Copies `input` to the output and then `source` over the block that `part` describes.
Result<void> write_part(ExecuteContext& context, const Arguments& arguments, const Tensor& input, const Tensor& source,
                        const Shape& part, std::int64_t offset, const Strides& strides, Tensor& output) {
  if (source.shape() != part) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "the source is " + source.describe() + ", the part to write " + part.to_string()));
  }
  if (input.raw_data() != output.raw_data()) {
    copy_block(*context.threads, dtype_size(input.dtype()), input.shape(), input.raw_data(), input.strides(),
               output.mutable_raw_data(), output.strides());
  }
  return copy_into(context, source, output, offset, strides);
}

Result<void> slice_scatter(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* source, arguments.tensor(1));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(6));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  if (input->rank() == 0)
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the input has no dimension to slice"));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  PTERUN_ASSIGN(const SliceRange range, resolve_slice(arguments, 3, input->size(dim)));
  PTERUN_TRY(resize_output(arguments, *output, input->shape()));
  Shape part = input->shape();
  part[dim] = range.count;
  Strides strides = output->strides();
  const std::int64_t offset = range.start * strides[dim];
  strides[dim] *= range.step;
  return write_part(context, arguments, *input, *source, part, offset, strides, *output);
}

Result<void> select_scatter(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* source, arguments.tensor(1));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(2));
  PTERUN_ASSIGN(const std::int64_t given_index, arguments.integer(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  if (input->rank() == 0)
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the input has no dimension to select"));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  PTERUN_ASSIGN(const std::int64_t index, wrap_index(arguments, given_index, dim, input->size(dim)));
  PTERUN_TRY(resize_output(arguments, *output, input->shape()));
  View part(*output);
  const std::int64_t offset = index * part.strides[dim];
  remove_dim(part, dim);
  return write_part(context, arguments, *input, *source, part.sizes, offset, part.strides, *output);
}

constexpr OperatorRow kRows[] = {
    {"aten::cat.out", kAnyDType, cat},
    {"aten::stack.out", kAnyDType, stack},
    {"aten::repeat.out", kAnyDType, repeat},
    {"aten::repeat_interleave.Tensor_out", {DType::kInt32, DType::kInt64}, repeat_interleave},
    {"aten::slice_scatter.out", kAnyDType, slice_scatter},
    {"aten::select_scatter.out", kAnyDType, select_scatter},
};

}  // namespace

std::span<const OperatorRow> joining_family() {
  return kRows;
}

}  // namespace pterun::operators
