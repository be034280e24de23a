// Elements by condition: masked_select, masked_scatter, nonzero.
#include <algorithm>
#include <string>

#include "operators/broadcast.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

Result<void> check_mask(const Arguments& arguments, const Tensor& mask) {
  if (mask.dtype() == DType::kBool) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument,
                              "the mask has to be bool, not " + std::string(dtype_name(mask.dtype()))));
}

// The shape that tensor and mask broadcast to.
Result<Shape> common_shape(const Arguments& arguments, const Tensor& tensor, const Tensor& mask) {
  const auto shape = broadcast_shapes(tensor.shape(), mask.shape());
  if (!shape) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                tensor.describe() + " and the mask " + mask.describe() + " do not broadcast"));
  }
  return *shape;
}

std::int64_t count_set(const std::byte* mask, std::int64_t count) {
  return std::count_if(mask, mask + count, [](std::byte byte) { return byte != std::byte{0}; });
}

Result<void> masked_select(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* mask, arguments.tensor(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *self, *output));
  PTERUN_TRY(check_mask(arguments, *mask));
  PTERUN_ASSIGN(const Shape shape, common_shape(arguments, *self, *mask));
  PTERUN_ASSIGN(const std::byte* source, broadcast_elements(context, *self, shape));
  PTERUN_ASSIGN(const std::byte* chosen, broadcast_elements(context, *mask, shape));
  const std::int64_t count = shape.numel();
  PTERUN_TRY(resize_output(arguments, *output, {count_set(chosen, count)}));
  visit_word(dtype_size(self->dtype()), [&]<typename Word>() {
    const Word* from = reinterpret_cast<const Word*>(source);
    Word* to = output->mutable_data<Word>();
    for (std::int64_t i = 0; i < count; ++i) {
      if (chosen[i] != std::byte{0}) *to++ = from[i];
    }
  });
  return {};
}

Result<void> masked_scatter(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* mask, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* source, arguments.tensor(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *self, *output));
  PTERUN_TRY(check_same_dtype(arguments, *source, *self));
  PTERUN_TRY(check_mask(arguments, *mask));
  PTERUN_ASSIGN(const Shape shape, common_shape(arguments, *self, *mask));
  PTERUN_ASSIGN(const std::byte* chosen, broadcast_elements(context, *mask, shape));
  const std::int64_t count = shape.numel();
  const std::int64_t needed = count_set(chosen, count);
  if (needed > source->numel()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the mask is true " + std::to_string(needed) +
                                                                 " times, the source is " + source->describe()));
  }
  PTERUN_ASSIGN(const std::byte* kept, broadcast_elements(context, *self, shape));
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, *source));
  PTERUN_TRY(resize_output(arguments, *output, shape));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, *output));
  visit_word(dtype_size(self->dtype()), [&]<typename Word>() {
    const Word* from = reinterpret_cast<const Word*>(kept);
    const Word* replacement = reinterpret_cast<const Word*>(elements);
    Word* to = reinterpret_cast<Word*>(target.data());
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = chosen[i] != std::byte{0} ? *replacement++ : from[i];
  });
  target.finish(context);
  return {};
}

// Indices of the elements that are not zero, one row each. NaN is not zero.
Result<void> nonzero(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(1));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  if (output->dtype() != DType::kInt64) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "the output has to be int64, not " + std::string(dtype_name(output->dtype()))));
  }
  const std::int64_t count = self->numel();
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, *self));
  PTERUN_ASSIGN(std::byte * truths, context.scratch->allocate(static_cast<std::size_t>(count)));
  load_as<Truth>(self->dtype(), elements, 1, reinterpret_cast<Truth*>(truths), static_cast<std::size_t>(count));
  const auto rank = static_cast<std::int64_t>(self->rank());
  PTERUN_TRY(resize_output(arguments, *output, {count_set(truths, count), rank}));
  if (output->numel() == 0) return {};
  const Strides strides = output->strides();
  std::int64_t* row = output->mutable_data<std::int64_t>();
  for (std::int64_t n = 0; n < count; ++n) {
    if (truths[n] == std::byte{0}) continue;
    std::int64_t rest = n;
    for (std::int64_t i = rank; i-- > 0;) {
      row[i * strides[1]] = rest % self->size(static_cast<std::size_t>(i));
      rest /= self->size(static_cast<std::size_t>(i));
    }
    row += strides[0];
  }
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::masked_select.out", kAnyDType, masked_select},
    {"aten::masked_scatter.out", kAnyDType, masked_scatter},
    {"aten::nonzero.out", kAnyDType, nonzero},
};

}  // namespace

std::span<const OperatorRow> masking_family() {
  return kRows;
}

}  // namespace pterun::operators
