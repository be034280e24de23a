// Type promotion and casting rules.
#include "operators/promotion.h"

#include <algorithm>

namespace pterun::operators {
namespace {

int category(DType dtype) {
  return is_complex(dtype) ? 3 : is_floating(dtype) ? 2 : dtype == DType::kBool ? 0 : 1;
}

bool is_unsigned(DType dtype) {
  return dtype == DType::kUInt8 || dtype >= DType::kUInt16;
}

DType signed_of_size(std::size_t size) {
  return size <= 1 ? DType::kInt8 : size == 2 ? DType::kInt16 : size == 4 ? DType::kInt32 : DType::kInt64;
}

DType promote_integers(DType a, DType b) {
  const std::size_t size_a = dtype_size(a);
  const std::size_t size_b = dtype_size(b);
  if (is_unsigned(a) == is_unsigned(b)) return size_a >= size_b ? a : b;
  // The signed one wins when it is wider, else the next wider signed type holds both.
  const std::size_t of_unsigned = is_unsigned(a) ? size_a : size_b;
  const std::size_t of_signed = is_unsigned(a) ? size_b : size_a;
  return signed_of_size(of_signed > of_unsigned ? of_signed : of_unsigned * 2);
}

// The complex dtype whose parts hold `dtype`, or its parts.
DType complex_of(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kComplex128 ? DType::kComplex128 : DType::kComplex64;
}

// `higher` and `lower` are groups of operands; see the header.
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || category(*higher) >= category(*lower)) return higher;
  if (is_complex(*lower) && is_floating(*higher)) return complex_of(*higher);
  return promote(*higher, *lower);
}

void merge(std::optional<DType>& group, DType dtype) {
  group = group ? promote(*group, dtype) : dtype;
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = complex_of(a) == DType::kComplex128 || complex_of(b) == DType::kComplex128;
    return wide ? DType::kComplex128 : DType::kComplex64;
  }
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 1) return promote_integers(a, b);
  if (a == DType::kFloat64 || b == DType::kFloat64) return DType::kFloat64;
  return DType::kFloat32;  // float32 with anything smaller, and float16 with bfloat16
}

void Promotion::add(const Tensor& tensor) {
  merge(tensor.rank() == 0 ? zero_dim_ : dimensioned_, tensor.dtype());
}

void Promotion::add(const Scalar& scalar) {
  merge(number_, scalar.is_double() ? DType::kFloat32 : scalar.is_int() ? DType::kInt64 : DType::kBool);
}

DType Promotion::result() const {
  return combine(dimensioned_, combine(zero_dim_, number_)).value_or(DType::kFloat32);
}

DType float_result(DType dtype) {
  return is_floating(dtype) ? dtype : DType::kFloat32;
}

bool can_cast(DType from, DType to) {
  return category(from) <= category(to);
}

Result<void> check_output_dtype(const Arguments& arguments, DType result, const Tensor& out) {
  if (kAnyDType.contains(out.dtype()) && can_cast(result, out.dtype())) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument, "the result has dtype " + std::string(dtype_name(result)) +
                                                               ", which the output's " +
                                                               std::string(dtype_name(out.dtype())) + " cannot take"));
}

Result<void> check_dtype(const Arguments& arguments, std::size_t argument, const Tensor& tensor, DTypeSet allowed) {
  if (allowed.contains(tensor.dtype())) return {};
  return fail(arguments.error(ErrorCode::kInvalidType, "argument " + std::to_string(argument) + " has dtype " +
                                                           std::string(dtype_name(tensor.dtype())) +
                                                           ", which is not supported"));
}

}  // namespace pterun::operators
