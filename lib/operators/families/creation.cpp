// Operators that make a tensor from numbers: fill, full, zeros, ones, empty, scalar_tensor, arange.
#include <cmath>
#include <cstring>

#include "operators/block_copy.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/output.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

// Every element becomes the value, rounded to the output's dtype.
void fill(ExecuteContext& context, Tensor& out, const Element& value) {
  fill_block(*context.threads, dtype_size(out.dtype()), Shape{out.numel()}, value.bytes.data(), out.mutable_raw_data(),
             Strides{1});
}
void fill(ExecuteContext& context, Tensor& out, const Scalar& value) {
  fill(context, out, element_of(value, out.dtype()));
}

Result<Tensor*> output(const Arguments& arguments, std::size_t argument, const Shape& shape) {
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(argument));
  PTERUN_TRY(check_dtype(arguments, argument, *out, kAnyDType));
  PTERUN_TRY(resize_output(arguments, *out, shape));
  return out;
}

// (self, value)
Result<void> fill_scalar_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const Scalar value, arguments.scalar(1));
  PTERUN_ASSIGN(Tensor * out, output(arguments, 2, self->shape()));
  fill(context, *out, value);
  return {};
}

// (self, value), where value is 0-d.
Result<void> fill_tensor_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* value, arguments.tensor(1));
  PTERUN_TRY(check_dtype(arguments, 1, *value, kAnyDType));
  if (value->rank() != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the value " + value->describe() + " is not 0-d"));
  }
  PTERUN_ASSIGN(Tensor * out, output(arguments, 2, self->shape()));
  Element element;
  convert_elements(value->dtype(), value->raw_data(), out->dtype(), element.bytes.data(), 1);
  fill(context, *out, element);
  return {};
}

// (size, value)
Result<void> full_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Shape shape, arguments.int_list(0));
  PTERUN_ASSIGN(const Scalar value, arguments.scalar(1));
  PTERUN_ASSIGN(Tensor * out, output(arguments, 2, shape));
  fill(context, *out, value);
  return {};
}

// (self, value, memory_format)
Result<void> full_like_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const Scalar value, arguments.scalar(1));
  PTERUN_ASSIGN(Tensor * out, output(arguments, 3, self->shape()));
  fill(context, *out, value);
  return {};
}

// (size)
template <std::int64_t kValue>
Result<void> constant_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Shape shape, arguments.int_list(0));
  PTERUN_ASSIGN(Tensor * out, output(arguments, 1, shape));
  fill(context, *out, Scalar(kValue));
  return {};
}

// (size, memory format or dim order): eager leaves the elements undefined; zeros make runs repeatable.
Result<void> empty_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Shape shape, arguments.int_list(0));
  PTERUN_ASSIGN(Tensor * out, output(arguments, 2, shape));
  fill(context, *out, Scalar(std::int64_t{0}));
  return {};
}

// (value)
Result<void> scalar_tensor_out(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar value, arguments.scalar(0));
  PTERUN_ASSIGN(Tensor * out, output(arguments, 1, Shape{}));
  fill(context, *out, value);
  return {};
}

// Number of elements of start, start + step, … before end. int64 ranges are counted exactly, all others in double.
Result<std::int64_t> range_length(const Arguments& arguments, const Scalar& start, const Scalar& end,
                                  const Scalar& step, DType dtype) {
  const double distance = end.to_double() - start.to_double();
  const double stride = step.to_double();
  if (!std::isfinite(distance) || !std::isfinite(stride) || stride == 0 ||
      (distance != 0 && (distance < 0) != (stride < 0))) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the range from " + std::to_string(start.to_double()) +
                                                                 " to " + std::to_string(end.to_double()) +
                                                                 " has no step of " + std::to_string(stride)));
  }
  double length = std::ceil(distance / stride);
  if (dtype == DType::kInt64 && step.to_int() != 0) {
    const auto whole = static_cast<double>(wrap_sub(end.to_int(), start.to_int()));
    length = std::ceil(whole / static_cast<double>(step.to_int()));
  }
  if (!(length >= 0 && length < 0x1p62)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the range has too many elements"));
  }
  return static_cast<std::int64_t>(length);
}

template <typename T>
void fill_range(Tensor& out, T start, T step) {
  auto* write = out.mutable_data<std::byte>();
  T block[kBlock];
  const auto count = static_cast<std::size_t>(out.numel());
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t n = std::min(kBlock, count - done);
    for (std::size_t i = 0; i < n; ++i)
      block[i] = wrap_add(start, wrap_mul(step, static_cast<T>(done + i)));
    store_as(out.dtype(), block, write + done * dtype_size(out.dtype()), 1, n);
  }
}

Result<void> arange(const Arguments& arguments, std::size_t argument, const Scalar& start, const Scalar& end,
                    const Scalar& step) {
  PTERUN_ASSIGN(const Tensor* unsized, arguments.tensor(argument));
  PTERUN_TRY(check_dtype(arguments, argument, *unsized, kAllDTypes));
  PTERUN_ASSIGN(const std::int64_t length, range_length(arguments, start, end, step, unsized->dtype()));
  PTERUN_ASSIGN(Tensor * out, output(arguments, argument, Shape{length}));
  // Eager computes float ranges in double.
  if (is_floating(out->dtype())) {
    fill_range<double>(*out, start.to_double(), step.to_double());
  } else {
    fill_range<std::int64_t>(*out, start.to_int(), step.to_int());
  }
  return {};
}

// (end)
Result<void> arange_out(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar end, arguments.scalar(0));
  return arange(arguments, 1, Scalar(std::int64_t{0}), end, Scalar(std::int64_t{1}));
}

// (start, end, step)
Result<void> arange_start_out(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar start, arguments.scalar(0));
  PTERUN_ASSIGN(const Scalar end, arguments.scalar(1));
  PTERUN_ASSIGN(const Scalar step, arguments.scalar(2));
  return arange(arguments, 3, start, end, step);
}

const OperatorRow kRows[] = {
    {.name = "aten::fill.Scalar_out", .dtypes = kAnyDType, .function = fill_scalar_out},
    {.name = "aten::fill.Tensor_out", .dtypes = kAnyDType, .function = fill_tensor_out},
    {.name = "aten::full.out", .dtypes = kAnyDType, .function = full_out},
    {.name = "aten::full_like.out", .dtypes = kAnyDType, .function = full_like_out},
    {.name = "aten::zeros.out", .dtypes = kAnyDType, .function = constant_out<0>},
    {.name = "aten::ones.out", .dtypes = kAnyDType, .function = constant_out<1>},
    {.name = "aten::empty.out", .dtypes = kAnyDType, .function = empty_out},
    {.name = "dim_order_ops::_empty_dim_order.out", .dtypes = kAnyDType, .function = empty_out},
    {.name = "aten::scalar_tensor.out", .dtypes = kAnyDType, .function = scalar_tensor_out},
    {.name = "aten::arange.out", .dtypes = kAllDTypes, .function = arange_out},
    {.name = "aten::arange.start_out", .dtypes = kAllDTypes, .function = arange_start_out},
};

}  // namespace

std::span<const OperatorRow> creation_family() {
  return kRows;
}

}  // namespace pterun::operators
