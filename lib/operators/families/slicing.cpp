// Parts of a tensor: slice, select, narrow, split, unbind, diagonal, windows and arbitrary strides.
#include <algorithm>
#include <string>

#include "base/checked.h"
#include "operators/block_copy.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/families/slices.h"

namespace pterun::operators {

Result<SliceRange> resolve_slice(const Arguments& arguments, std::size_t first, std::int64_t size) {
  PTERUN_ASSIGN(const auto given_start, arguments.optional_integer(first));
  PTERUN_ASSIGN(const auto given_end, arguments.optional_integer(first + 1));
  PTERUN_ASSIGN(const std::int64_t step, arguments.integer(first + 2));
  if (step <= 0) {
    return fail(
        arguments.error(ErrorCode::kInvalidArgument, "a step of " + std::to_string(step) + "; 1 or more is needed"));
  }
  const auto clamp = [size](std::int64_t index, std::int64_t low) {
    return std::clamp(index < 0 ? index + size : index, low, size);
  };
  SliceRange range;
  range.start = clamp(given_start.value_or(0), 0);
  const std::int64_t end = clamp(given_end.value_or(size), range.start);
  range.step = std::min(step, std::max<std::int64_t>(size, 1));  // a longer step takes one element as well
  range.count = (end - range.start + range.step - 1) / range.step;
  return range;
}

Result<std::int64_t> wrap_index(const Arguments& arguments, std::int64_t index, std::size_t dim, std::int64_t size) {
  if (index < -size || index >= size) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "index " + std::to_string(index) + " is out of range for dimension " +
                                    std::to_string(dim) + " of size " + std::to_string(size)));
  }
  return index < 0 ? index + size : index;
}

void remove_dim(View& view, std::size_t dim) {
  const std::size_t rank = view.sizes.rank();
  for (std::size_t i = dim + 1; i < rank; ++i) {
    view.sizes[i - 1] = view.sizes[i];
    view.strides[i - 1] = view.strides[i];
  }
  view.sizes.resize(rank - 1);
  view.strides.resize(rank - 1);
}

namespace {

Error needs_a_dimension(const Arguments& arguments) {
  return arguments.error(ErrorCode::kInvalidArgument, "the input has no dimension to take a part of");
}

Result<void> slice_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(5));
  if (input->rank() == 0) return fail(needs_a_dimension(arguments));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  PTERUN_ASSIGN(const SliceRange range, resolve_slice(arguments, 2, input->size(dim)));
  View view(*input);
  view.advance(range.start * view.strides[dim], dtype_size(input->dtype()));
  view.sizes[dim] = range.count;
  view.strides[dim] *= range.step;
  return copy_view(context, arguments, *input, view, *output);
}

Result<void> select_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(const std::int64_t given_index, arguments.integer(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  if (input->rank() == 0) return fail(needs_a_dimension(arguments));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  PTERUN_ASSIGN(const std::int64_t index, wrap_index(arguments, given_index, dim, input->size(dim)));
  View view(*input);
  view.advance(index * view.strides[dim], dtype_size(input->dtype()));
  remove_dim(view, dim);
  return copy_view(context, arguments, *input, view, *output);
}

Result<void> narrow_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(std::int64_t start, arguments.integer(2));
  PTERUN_ASSIGN(const std::int64_t length, arguments.integer(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  if (input->rank() == 0) return fail(needs_a_dimension(arguments));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  const std::int64_t size = input->size(dim);
  const bool start_fits = start >= -size && start <= size;
  const std::int64_t from = start < 0 ? start + size : start;
  if (!start_fits || length < 0 || length > size - from) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, std::to_string(length) + " elements from " +
                                                                 std::to_string(start) + " do not fit dimension " +
                                                                 std::to_string(dim) + " of size " +
                                                                 std::to_string(size)));
  }
  View view(*input);
  view.advance(from * view.strides[dim], dtype_size(input->dtype()));
  view.sizes[dim] = length;
  return copy_view(context, arguments, *input, view, *output);
}

// Copies `count` elements from `start` of dimension `dim` to item `item` of the output list.
Result<void> copy_piece(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::size_t dim,
                        std::int64_t start, std::int64_t count, std::size_t list, std::size_t item) {
  PTERUN_ASSIGN(Tensor * output, list_tensor(arguments, list, item));
  View view(input);
  view.advance(start * view.strides[dim], dtype_size(input.dtype()));
  view.sizes[dim] = count;
  return copy_view(context, arguments, input, view, *output);
}

Result<void> check_pieces(const Arguments& arguments, std::size_t list, std::size_t pieces) {
  PTERUN_ASSIGN(const std::span<Value* const> items, list_items(arguments, list));
  if (items.size() == pieces) return {};
  return fail(
      arguments.error(ErrorCode::kInvalidArgument,
                      "gives " + std::to_string(pieces) + " outputs, the call has " + std::to_string(items.size())));
}

Result<void> split_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t piece, arguments.integer(1));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(2));
  if (input->rank() == 0) return fail(needs_a_dimension(arguments));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  const std::int64_t size = input->size(dim);
  if (piece < 0 || (piece == 0 && size != 0)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "pieces of " + std::to_string(piece) + " elements"));
  }
  const std::int64_t pieces = size == 0 ? 1 : (size - 1) / piece + 1;
  PTERUN_TRY(check_pieces(arguments, 3, static_cast<std::size_t>(pieces)));
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t start = i * piece;
    PTERUN_TRY(copy_piece(context, arguments, *input, dim, start, std::min(piece, size - start), 3,
                          static_cast<std::size_t>(i)));
  }
  return {};
}

Result<void> split_with_sizes_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  const Value& sizes = arguments.slot(1);  // may be longer than a Shape
  const IntList* list = sizes.get_if<IntList>();
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(2));
  if (input->rank() == 0) return fail(needs_a_dimension(arguments));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  if (list == nullptr)
    return fail(arguments.error(ErrorCode::kInvalidArgument, "argument 1 has to be a list of sizes"));
  PTERUN_TRY(check_pieces(arguments, 3, list->items.size()));
  std::int64_t total = 0;
  bool valid = true;
  for (const Value* item : list->items) {
    const auto* size = item->get_if<std::int64_t>();
    const auto sum = size == nullptr || *size < 0 ? std::nullopt : checked_add(total, *size);
    valid = valid && sum.has_value();
    total = sum.value_or(0);
  }
  if (!valid || total != input->size(dim)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the sizes do not add up to dimension " +
                                                                 std::to_string(dim) + " of " + input->describe()));
  }
  std::int64_t start = 0;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::int64_t size = *list->items[i]->get_if<std::int64_t>();
    PTERUN_TRY(copy_piece(context, arguments, *input, dim, start, size, 3, i));
    start += size;
  }
  return {};
}

Result<void> unbind_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  if (input->rank() == 0) return fail(needs_a_dimension(arguments));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  PTERUN_TRY(check_pieces(arguments, 2, static_cast<std::size_t>(input->size(dim))));
  View view(*input);
  const std::int64_t step = view.strides[dim];
  const std::int64_t count = view.sizes[dim];
  remove_dim(view, dim);
  for (std::int64_t i = 0; i < count; ++i) {
    PTERUN_ASSIGN(Tensor * output, list_tensor(arguments, 2, static_cast<std::size_t>(i)));
    PTERUN_TRY(copy_view(context, arguments, *input, view, *output));
    view.advance(step, dtype_size(input->dtype()));
  }
  return {};
}

// Strides act on the memory as it lies there, whatever its dim order.
Result<void> as_strided_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape sizes, arguments.int_list(1));
  PTERUN_ASSIGN(const Shape strides, arguments.int_list(2));
  PTERUN_ASSIGN(const auto offset, arguments.optional_integer(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  const std::int64_t start = offset.value_or(0);
  bool valid = sizes.rank() == strides.rank() && start >= 0;
  bool empty = false;
  std::int64_t last = start;
  for (std::size_t i = 0; valid && i < sizes.rank(); ++i) {
    valid = sizes[i] >= 0 && strides[i] >= 0;
    empty = empty || sizes[i] == 0;
    const auto reach = valid && sizes[i] > 0 ? checked_mul(sizes[i] - 1, strides[i]) : std::optional<std::int64_t>(0);
    const auto sum = reach ? checked_add(last, *reach) : std::nullopt;
    valid = valid && sum.has_value();
    last = sum.value_or(0);
  }
  if (!valid || (!empty && last >= input->numel())) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "sizes " + sizes.to_string() + ", strides " + strides.to_string() + " and offset " +
                                    std::to_string(start) + " leave the memory of " + input->describe()));
  }
  View view(*input);
  if (!empty) view.advance(start, dtype_size(input->dtype()));
  view.sizes = sizes;
  view.strides = strides;
  return copy_view(context, arguments, *input, view, *output);
}

Result<void> diagonal_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t offset, arguments.integer(1));
  PTERUN_ASSIGN(const std::int64_t given1, arguments.integer(2));
  PTERUN_ASSIGN(const std::int64_t given2, arguments.integer(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_ASSIGN(const std::size_t dim1, wrap_dim(arguments, given1, input->rank()));
  PTERUN_ASSIGN(const std::size_t dim2, wrap_dim(arguments, given2, input->rank()));
  if (dim1 == dim2) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "a diagonal needs two different dimensions"));
  }
  View view(*input);
  const std::int64_t rows = input->size(dim1);
  const std::int64_t columns = input->size(dim2);
  const std::int64_t row = offset < 0 ? -std::max(offset, -rows) : 0;  // where the diagonal starts
  const std::int64_t column = offset < 0 ? 0 : std::min(offset, columns);
  const std::int64_t length = std::max<std::int64_t>(std::min(rows - row, columns - column), 0);
  const std::int64_t step = view.strides[dim1] + view.strides[dim2];
  if (length > 0) {
    view.advance(row * view.strides[dim1] + column * view.strides[dim2], dtype_size(input->dtype()));
  }
  remove_dim(view, std::max(dim1, dim2));
  remove_dim(view, std::min(dim1, dim2));
  view.sizes.push_back(length);
  view.strides.push_back(step);
  return copy_view(context, arguments, *input, view, *output);
}

Result<void> unfold_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(const std::int64_t size, arguments.integer(2));
  PTERUN_ASSIGN(const std::int64_t step, arguments.integer(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  const bool scalar = input->rank() == 0;
  const std::int64_t available = scalar ? 1 : input->size(dim);
  if (size < 0 || size > available || step <= 0 || input->rank() == kMaxRank) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "windows of " + std::to_string(size) + " elements every " +
                                                                 std::to_string(step) + " do not fit dimension " +
                                                                 std::to_string(dim) + " of " + input->describe()));
  }
  View view(*input);
  view.sizes.push_back(size);
  view.strides.push_back(scalar ? 1 : view.strides[dim]);
  if (!scalar) {
    view.sizes[dim] = (available - size) / step + 1;
    view.strides[dim] *= std::min(step, available);
  }
  return copy_view(context, arguments, *input, view, *output);
}

constexpr OperatorRow kRows[] = {
    {"aten::slice_copy.Tensor_out", kAnyDType, slice_copy},
    {"aten::select_copy.int_out", kAnyDType, select_copy},
    {"aten::narrow_copy.out", kAnyDType, narrow_copy},
    {"aten::split_copy.Tensor_out", kAnyDType, split_copy},
    {"aten::split_with_sizes_copy.out", kAnyDType, split_with_sizes_copy},
    {"aten::unbind_copy.int_out", kAnyDType, unbind_copy},
    {"aten::as_strided_copy.out", kAnyDType, as_strided_copy},
    {"aten::diagonal_copy.out", kAnyDType, diagonal_copy},
    {"aten::unfold_copy.out", kAnyDType, unfold_copy},
};

}  // namespace

std::span<const OperatorRow> slicing_family() {
  return kRows;
}

}  // namespace pterun::operators
