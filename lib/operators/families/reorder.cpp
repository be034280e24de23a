// Elements to other places of the same tensor: flip, roll, the triangles, pixel shuffles, tiles.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "operators/block_copy.h"
#include "operators/checks.h"
#include "operators/dims.h"
#include "operators/families/families.h"

namespace pterun::operators {
namespace {

Result<void> flip(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape dims, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_ASSIGN(const std::uint32_t flipped, wrap_dims(arguments, dims, input->rank()));
  View view(*input);
  for (std::size_t i = 0; i < input->rank(); ++i) {
    if (((flipped >> i) & 1u) == 0) continue;
    if (input->numel() > 0) view.advance((input->size(i) - 1) * view.strides[i], dtype_size(input->dtype()));
    view.strides[i] = -view.strides[i];
  }
  return copy_view(context, arguments, *input, view, *output);
}

// Copies a block cyclically shifted in every dimension: output index (i + shift) % size gets input index i.
// One dimension after the other is cut into the part that stays in order and the part that wraps around.
void copy_rolled(ThreadPool& threads, std::size_t element_size, Shape sizes, const Shape& shifts, const std::byte* from,
                 const Strides& from_strides, std::byte* to, const Strides& to_strides, std::size_t dim) {
  while (dim < sizes.rank() && shifts[dim] == 0)
    ++dim;
  if (dim == sizes.rank()) {
    copy_block(threads, element_size, sizes, from, from_strides, to, to_strides);
    return;
  }
  const auto width = static_cast<std::int64_t>(element_size);
  const std::int64_t size = sizes[dim];
  const std::int64_t shift = shifts[dim];
  sizes[dim] = size - shift;
  copy_rolled(threads, element_size, sizes, shifts, from, from_strides, to + shift * to_strides[dim] * width,
              to_strides, dim + 1);
  sizes[dim] = shift;
  copy_rolled(threads, element_size, sizes, shifts, from + (size - shift) * from_strides[dim] * width, from_strides, to,
              to_strides, dim + 1);
}

std::int64_t wrap_shift(std::int64_t shift, std::int64_t size) {
  const std::int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

// Without dims the elements are shifted as one row, in row-major order.
Result<void> roll_flat(ExecuteContext& context, const Tensor& input, std::int64_t shift, Tensor& output) {
  PTERUN_ASSIGN(const std::byte* from, row_major_elements(context, input));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, output));
  copy_rolled(*context.threads, dtype_size(input.dtype()), {input.numel()}, {wrap_shift(shift, input.numel())}, from,
              {1}, target.data(), {1}, 0);
  target.finish(context);
  return {};
}

Result<void> roll(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape given_shifts, arguments.int_list(1));
  PTERUN_ASSIGN(const Shape dims, arguments.int_list(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  const bool flat = dims.rank() == 0 && given_shifts.rank() == 1;
  if (!flat && (dims.rank() != given_shifts.rank() || dims.rank() == 0)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                std::to_string(given_shifts.rank()) + " shifts and " + std::to_string(dims.rank()) +
                                    " dimensions; as many of one as of the other are needed"));
  }
  Shape shifts = Shape::filled(input->rank(), 0);
  for (std::size_t i = 0; i < dims.rank() && input->numel() > 0; ++i) {
    if (input->rank() == 0) return fail(arguments.error(ErrorCode::kInvalidArgument, "a number has no dimension"));
    PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, dims[i], input->rank()));
    const std::int64_t size = input->size(dim);
    shifts[dim] = (shifts[dim] + wrap_shift(given_shifts[i], size)) % size;
  }
  PTERUN_TRY(resize_output(arguments, *output, input->shape()));
  if (input->numel() == 0) return {};
  if (flat) return roll_flat(context, *input, given_shifts[0], *output);
  copy_rolled(*context.threads, dtype_size(input->dtype()), input->shape(), shifts, input->data<std::byte>(),
              input->strides(), output->mutable_data<std::byte>(), output->strides(), 0);
  return {};
}

// Keeps row r's columns [0, r + diagonal] (lower) or [r + diagonal, …) and zeroes the others.
Result<void> triangle(ExecuteContext& context, const Arguments& arguments, bool lower) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t diagonal, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  if (input->rank() < 2) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "needs a matrix, the input is " + input->describe()));
  }
  PTERUN_TRY(resize_output(arguments, *output, input->shape()));
  if (input->numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* from, row_major_elements(context, *input));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, *output));
  std::byte* to = target.data();
  const std::int64_t height = input->size(input->rank() - 2);
  const std::int64_t width = input->size(input->rank() - 1);
  const std::int64_t rows = input->numel() / width;
  const std::size_t size = dtype_size(input->dtype());
  const std::int64_t shift = std::clamp(diagonal, -height - width, height + width);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t edge = row % height + shift + (lower ? 1 : 0);
    const auto split = static_cast<std::size_t>(std::clamp<std::int64_t>(edge, 0, width)) * size;
    const std::size_t bytes = static_cast<std::size_t>(width) * size;
    const std::size_t keep_from = lower ? 0 : split;
    const std::size_t keep_to = lower ? split : bytes;
    std::memcpy(to + keep_from, from + keep_from, keep_to - keep_from);
    std::memset(lower ? to + split : to, 0, lower ? bytes - split : split);
    from += bytes;
    to += bytes;
  }
  target.finish(context);
  return {};
}

Result<void> tril(ExecuteContext& context, const Arguments& arguments) {
  return triangle(context, arguments, true);
}
Result<void> triu(ExecuteContext& context, const Arguments& arguments) {
  return triangle(context, arguments, false);
}

// The last three dimensions of the larger image's side: [.., channels, height * f, width * f] seen as
// [.., channels, height, f, width, f]; of the smaller: [.., channels * f * f, height, width] seen as
// [.., channels, f, f, height, width].
Result<void> pixel_move(ExecuteContext& context, const Arguments& arguments, bool shuffle) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t factor, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  const std::size_t rank = input->rank();
  Shape shape = input->shape();
  bool fits = rank >= 3 && factor > 0 && factor < (std::int64_t{1} << 30);
  if (fits && shuffle) {
    fits = shape[rank - 3] % (factor * factor) == 0;
    shape[rank - 3] /= factor * factor;
    shape[rank - 2] *= factor;
    shape[rank - 1] *= factor;
  } else if (fits) {
    fits = shape[rank - 2] % factor == 0 && shape[rank - 1] % factor == 0;
    shape[rank - 3] *= factor * factor;
    shape[rank - 2] /= factor;
    shape[rank - 1] /= factor;
  }
  if (!fits) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                input->describe() + " does not fit a factor of " + std::to_string(factor)));
  }
  PTERUN_TRY(resize_output(arguments, *output, shape));
  const Shape& large = shuffle ? shape : input->shape();
  const Strides large_strides = shuffle ? output->strides() : input->strides();
  const Strides small_strides = shuffle ? input->strides() : output->strides();
  std::array<CopyDim, kMaxRank + 2> dims;
  std::size_t count = 0;
  const auto add = [&](std::int64_t size, std::int64_t in_small, std::int64_t in_large) {
    dims[count++] = shuffle ? CopyDim{size, in_small, in_large} : CopyDim{size, in_large, in_small};
  };
  for (std::size_t i = 0; i + 3 < rank; ++i)
    add(large[i], small_strides[i], large_strides[i]);
  const std::int64_t channel = small_strides[rank - 3];
  add(large[rank - 3], channel * factor * factor, large_strides[rank - 3]);
  add(large[rank - 2] / factor, small_strides[rank - 2], large_strides[rank - 2] * factor);
  add(factor, channel * factor, large_strides[rank - 2]);
  add(large[rank - 1] / factor, small_strides[rank - 1], large_strides[rank - 1] * factor);
  add(factor, channel, large_strides[rank - 1]);
  copy_strided(*context.threads, dtype_size(input->dtype()), {dims.data(), count}, input->raw_data(),
               output->mutable_raw_data());
  return {};
}

Result<void> pixel_shuffle(ExecuteContext& context, const Arguments& arguments) {
  return pixel_move(context, arguments, true);
}
Result<void> pixel_unshuffle(ExecuteContext& context, const Arguments& arguments) {
  return pixel_move(context, arguments, false);
}

// An image [channels, height, width] as square tiles [rows * columns, channels, size, size], row by row.
Result<void> tile_crop(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t size, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  PTERUN_TRY(check_rank(arguments, *input, 3, "input"));
  if (size < 1 || input->size(1) % size != 0 || input->size(2) % size != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                input->describe() + " is not made of tiles of " + std::to_string(size)));
  }
  const std::int64_t channels = input->size(0);
  const std::int64_t rows = input->size(1) / size;
  const std::int64_t columns = input->size(2) / size;
  PTERUN_TRY(resize_output(arguments, *output, {rows * columns, channels, size, size}));
  const Strides from = input->strides();
  const Strides to = output->strides();
  const CopyDim dims[] = {{rows, from[1] * size, to[0] * columns},
                          {columns, from[2] * size, to[0]},
                          {channels, from[0], to[1]},
                          {size, from[1], to[2]},
                          {size, from[2], to[3]}};
  copy_strided(*context.threads, dtype_size(input->dtype()), dims, input->raw_data(), output->mutable_raw_data());
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::flip.out", kAnyDType, flip},
    {"aten::roll.out", kAnyDType, roll},
    {"aten::tril.out", kAnyDType, tril},
    {"aten::triu.out", kAnyDType, triu},
    {"aten::pixel_shuffle.out", kAnyDType, pixel_shuffle},
    {"aten::pixel_unshuffle.out", kAnyDType, pixel_unshuffle},
    {"preprocess::tile_crop.out", kAnyDType, tile_crop},
};

}  // namespace

std::span<const OperatorRow> reorder_family() {
  return kRows;
}

}  // namespace pterun::operators
