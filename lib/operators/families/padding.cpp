// Borders: constant_pad_nd, reflection_pad and replication_pad. Negative padding crops.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "base/checked.h"
#include "operators/block_copy.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

// Elements added before and after each dimension (negative: taken away).
struct Margins {
  std::array<std::int64_t, kMaxRank> before{};
  std::array<std::int64_t, kMaxRank> after{};
};

Error nothing_left(const Arguments& arguments, const Tensor& input, const Shape& list, std::size_t dim) {
  return arguments.error(ErrorCode::kInvalidArgument, "padding " + list.to_string() + " leaves nothing of dimension " +
                                                          std::to_string(dim) + " of " + input.describe());
}

// Reads pairs for the last dimensions, the last one first, and gives the padded shape.
// Errors: kInvalidArgument for an odd or too long list or a negative size.
Result<Shape> read_margins(const Arguments& arguments, const Tensor& input, const Shape& list, Margins& margins) {
  if (list.rank() % 2 != 0 || list.rank() / 2 > input.rank()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "padding " + list.to_string() + " does not fit " + input.describe()));
  }
  Shape shape = input.shape();
  for (std::size_t i = 0; i < list.rank() / 2; ++i) {
    const std::size_t dim = input.rank() - 1 - i;
    margins.before[dim] = list[2 * i];
    margins.after[dim] = list[2 * i + 1];
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min() / 2;
    const auto padded = checked_add(shape[dim], list[2 * i]);
    const auto size = padded ? checked_add(*padded, list[2 * i + 1]) : std::nullopt;
    if (!size || *size < 0 || std::min(list[2 * i], list[2 * i + 1]) < kLeast) {
      return fail(nothing_left(arguments, input, list, dim));
    }
    shape[dim] = *size;
  }
  return shape;
}

// Fills the two slabs of each dimension that lie outside the block at `first` of `sizes`; inside it for the
// dimensions before, whole for those behind.
void fill_border(ThreadPool& threads, std::size_t size, const void* value, const Shape& shape, const Strides& strides,
                 const Shape& first, const Shape& sizes, std::byte* to) {
  Shape slab = shape;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    slab[i] = first[i];
    fill_block(threads, size, slab, value, to + offset * static_cast<std::int64_t>(size), strides);
    const std::int64_t end = first[i] + sizes[i];
    slab[i] = shape[i] - end;
    fill_block(threads, size, slab, value, to + (offset + end * strides[i]) * static_cast<std::int64_t>(size), strides);
    offset += first[i] * strides[i];
    slab[i] = sizes[i];
  }
}

Result<void> constant_pad(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape list, arguments.int_list(1));
  PTERUN_ASSIGN(const Scalar value, arguments.scalar(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, 0, *input, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  Margins margins;
  PTERUN_ASSIGN(const Shape shape, read_margins(arguments, *input, list, margins));
  const std::size_t size = dtype_size(input->dtype());
  const Element element = element_of(value, input->dtype());
  View view(*input);
  Shape first = Shape::filled(shape.rank(), 0);  // where the input's part begins in the output
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const std::int64_t cropped = std::max<std::int64_t>(-margins.before[i], 0);
    const std::int64_t left = input->size(i) - cropped + std::min<std::int64_t>(margins.after[i], 0);
    if (left < 0) return fail(nothing_left(arguments, *input, list, i));
    if (left > 0) view.advance(cropped * view.strides[i], size);
    view.sizes[i] = left;
    first[i] = std::max<std::int64_t>(margins.before[i], 0);
  }
  PTERUN_TRY(resize_output(arguments, *output, shape));
  if (output->numel() == 0) return {};
  std::byte* to = output->mutable_data<std::byte>();
  const Strides strides = output->strides();
  fill_border(*context.threads, size, element.bytes.data(), shape, strides, first, view.sizes, to);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    offset += first[i] * strides[i];
  copy_block(*context.threads, size, view.sizes, view.data, view.strides, to + offset * static_cast<std::int64_t>(size),
             strides);
  return {};
}

enum class Border { kReflect, kReplicate };

// Where the output's index comes from in an input of `size`: inside, mirrored at the edges, or the edge itself.
std::int64_t source_of(std::int64_t index, std::int64_t before, std::int64_t size, Border border) {
  const std::int64_t place = index - before;
  if (border == Border::kReplicate) return std::clamp<std::int64_t>(place, 0, size - 1);
  if (place < 0) return -place;
  return place < size ? place : 2 * (size - 1) - place;
}

// The padded dimensions, at most three, and the two before them; sizes of one stand in for missing ones.
struct PadPlan {
  static constexpr std::size_t kRank = 5;
  std::array<std::int64_t, kRank> sizes{};           // of the output
  std::array<const std::int64_t*, kRank> offsets{};  // in the input, for each index
  std::int64_t inside_begin = 0;                     // of the last dimension: copied as it is
  std::int64_t inside_end = 0;
};

template <typename Word>
void pad_rows(const PadPlan& plan, bool contiguous, const Word* from, Word* to, std::int64_t begin, std::int64_t end) {
  const std::int64_t width = plan.sizes[4];
  const std::int64_t* columns = plan.offsets[4];
  for (std::int64_t row = begin; row < end; ++row) {
    const Word* source = from;
    std::int64_t rest = row;
    for (std::size_t i = 4; i-- > 0;) {
      source += plan.offsets[i][rest % plan.sizes[i]];
      rest /= plan.sizes[i];
    }
    Word* target = to + row * width;
    const std::int64_t inside = contiguous ? plan.inside_begin : width;
    for (std::int64_t i = 0; i < inside; ++i)
      target[i] = source[columns[i]];
    if (!contiguous) continue;
    std::memcpy(target + inside, source + columns[inside],
                static_cast<std::size_t>(plan.inside_end - inside) * sizeof(Word));
    for (std::int64_t i = plan.inside_end; i < width; ++i)
      target[i] = source[columns[i]];
  }
}

// Fills the table of input offsets of each dimension of a padding over the last `dims` dimensions.
Result<PadPlan> make_pad_plan(ExecuteContext& context, const Tensor& input, const Shape& shape, const Margins& margins,
                              Border border) {
  PadPlan plan;
  const Strides strides = input.strides();
  const std::size_t missing = PadPlan::kRank - shape.rank();
  for (std::size_t i = 0; i < PadPlan::kRank; ++i) {
    const bool present = i >= missing;
    const std::size_t dim = present ? i - missing : 0;
    plan.sizes[i] = present ? shape[dim] : 1;
    PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(static_cast<std::size_t>(plan.sizes[i]) * 8));
    auto* offsets = reinterpret_cast<std::int64_t*>(memory);
    for (std::int64_t n = 0; n < plan.sizes[i]; ++n) {
      const std::int64_t place = present ? source_of(n, margins.before[dim], input.size(dim), border) : 0;
      offsets[n] = present ? place * strides[dim] : 0;
    }
    plan.offsets[i] = offsets;
  }
  const std::size_t last = shape.rank() - 1;
  plan.inside_begin = std::clamp<std::int64_t>(margins.before[last], 0, shape[last] - 1);
  plan.inside_end = std::clamp<std::int64_t>(margins.before[last] + input.size(last), plan.inside_begin, shape[last]);
  return plan;
}

Result<void> check_border(const Arguments& arguments, const Tensor& input, const Margins& margins, std::size_t dims,
                          const Shape& shape, Border border) {
  const std::size_t first = input.rank() - dims;
  const bool something_left = std::any_of(shape.begin() + first, shape.end(), [](std::int64_t n) { return n > 0; });
  for (std::size_t i = first; i < input.rank(); ++i) {
    const std::int64_t size = input.size(i);
    const auto [least, most] = std::minmax(margins.before[i], margins.after[i]);
    const bool reflects = most < size && least >= -size;
    if (something_left && size > 0 && (border == Border::kReplicate || reflects)) continue;
    return fail(arguments.error(ErrorCode::kInvalidArgument, "padding of " + std::to_string(margins.before[i]) +
                                                                 " and " + std::to_string(margins.after[i]) +
                                                                 " does not fit dimension " + std::to_string(i) +
                                                                 " of " + input.describe()));
  }
  return {};
}

Result<void> border_pad(ExecuteContext& context, const Arguments& arguments, std::size_t dims, Border border) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape list, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_dtype(arguments, 0, *input, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  if (list.rank() != 2 * dims || (input->rank() != dims + 1 && input->rank() != dims + 2)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "padding " + list.to_string() + " does not fit " + input->describe()));
  }
  Margins margins;
  PTERUN_ASSIGN(const Shape shape, read_margins(arguments, *input, list, margins));
  PTERUN_TRY(check_border(arguments, *input, margins, dims, shape, border));
  PTERUN_TRY(resize_output(arguments, *output, shape));
  if (output->numel() == 0) return {};
  PTERUN_ASSIGN(const PadPlan plan, make_pad_plan(context, *input, shape, margins, border));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, *output));
  const std::int64_t width = plan.sizes[4];
  const std::int64_t rows = output->numel() / width;
  const bool contiguous = input->strides()[input->rank() - 1] == 1;
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, (1 << 16) / width));
  context.threads->parallel_for(static_cast<std::size_t>(rows), grain, [&](std::size_t begin, std::size_t end) {
    visit_word(dtype_size(input->dtype()), [&]<typename Word>() {
      pad_rows(plan, contiguous, input->data<Word>(), reinterpret_cast<Word*>(target.data()),
               static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
    });
  });
  target.finish(context);
  return {};
}

template <std::size_t kDims, Border kBorder>
Result<void> border_pad_of(ExecuteContext& context, const Arguments& arguments) {
  return border_pad(context, arguments, kDims, kBorder);
}

constexpr OperatorRow kRows[] = {
    {"aten::constant_pad_nd.out", kAnyDType, constant_pad},
    {"aten::reflection_pad1d.out", kAnyDType, border_pad_of<1, Border::kReflect>},
    {"aten::reflection_pad2d.out", kAnyDType, border_pad_of<2, Border::kReflect>},
    {"aten::reflection_pad3d.out", kAnyDType, border_pad_of<3, Border::kReflect>},
    {"aten::replication_pad1d.out", kAnyDType, border_pad_of<1, Border::kReplicate>},
    {"aten::replication_pad2d.out", kAnyDType, border_pad_of<2, Border::kReplicate>},
    {"aten::replication_pad3d.out", kAnyDType, border_pad_of<3, Border::kReplicate>},
};

}  // namespace

std::span<const OperatorRow> padding_family() {
  return kRows;
}

}  // namespace pterun::operators
