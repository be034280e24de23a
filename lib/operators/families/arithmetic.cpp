// add, sub, rsub, mul, div: binary arithmetic with PyTorch's promotion and broadcasting.
#include <cmath>
#include <limits>

#include "operators/elementwise.h"
#include "operators/families/families.h"

namespace pterun::operators {
namespace {

enum class Rounding : std::uint8_t { kNone, kTruncate, kFloor };

// Operands 0 and 1: Tensor with Tensor, or Tensor with Scalar.
Result<void> add_operands(Elementwise& call, bool scalar) {
  PTERUN_TRY(call.add_tensor(0));
  return scalar ? call.add_scalar(1) : call.add_tensor(1);
}

// alpha must be integral where the result is.
Result<Scalar> alpha_for(const Arguments& arguments, std::size_t argument, DType result) {
  PTERUN_ASSIGN(const Scalar alpha, arguments.scalar(argument));
  if (alpha.is_double() && !is_floating(result)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "alpha is a float, but the result is " + std::string(dtype_name(result))));
  }
  return alpha;
}

// a + alpha * b; `sign` -1 subtracts. Bool adds as logical or, and refuses subtraction, as eager does.
Result<void> add_scaled(ExecuteContext& context, const Arguments& arguments, bool scalar, int sign) {
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, scalar));
  const DType common = call.promoted();
  PTERUN_ASSIGN(const Scalar alpha, alpha_for(arguments, 2, common));
  if (common == DType::kBool && sign < 0) {
    return fail(arguments.error(ErrorCode::kInvalidType, "bool tensors cannot be subtracted"));
  }
  PTERUN_TRY(call.set_output(3, common));
  call.keep_scalars_exact();
  visit_compute(common, [&]<typename T>() {
    const T factor = wrap_mul(scalar_as<T>(alpha), static_cast<T>(sign));
    if (factor == T{1}) {
      call.map<T(T, T)>(common, [](T a, T b) { return wrap_add(a, b); });
    } else {
      call.map<T(T, T)>(common, [factor](T a, T b) { return wrap_add(a, wrap_mul(factor, b)); });
    }
  });
  return {};
}

template <bool kScalar>
Result<void> add_out(ExecuteContext& context, const Arguments& arguments) {
  return add_scaled(context, arguments, kScalar, 1);
}

template <bool kScalar>
Result<void> sub_out(ExecuteContext& context, const Arguments& arguments) {
  return add_scaled(context, arguments, kScalar, -1);
}

// other - alpha * self.
Result<void> rsub_scalar_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, true));
  const DType common = call.promoted();
  PTERUN_ASSIGN(const Scalar alpha, alpha_for(arguments, 2, common));
  if (common == DType::kBool)
    return fail(arguments.error(ErrorCode::kInvalidType, "bool tensors cannot be subtracted"));
  PTERUN_TRY(call.set_output(3, common));
  call.keep_scalars_exact();
  visit_compute(common, [&]<typename T>() {
    const T factor = scalar_as<T>(alpha);
    call.map<T(T, T)>(common, [factor](T a, T b) { return wrap_sub(b, wrap_mul(factor, a)); });
  });
  return {};
}

template <bool kScalar>
Result<void> mul_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, kScalar));
  const DType common = call.promoted();
  PTERUN_TRY(call.set_output(2, common));
  call.keep_scalars_exact();
  visit_compute(common, [&]<typename T>() { call.map<T(T, T)>(common, [](T a, T b) { return wrap_mul(a, b); }); });
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::add.out", .dtypes = kAllDTypes, .function = add_out<false>},
    {.name = "aten::add.Scalar_out", .dtypes = kAllDTypes, .function = add_out<true>},
    {.name = "aten::sub.out", .dtypes = kAllDTypes, .function = sub_out<false>},
    {.name = "aten::sub.Scalar_out", .dtypes = kAllDTypes, .function = sub_out<true>},
    {.name = "aten::rsub.Scalar_out", .dtypes = kAllDTypes, .function = rsub_scalar_out},
    {.name = "aten::mul.out", .dtypes = kAllDTypes, .function = mul_out<false>},
    {.name = "aten::mul.Scalar_out", .dtypes = kAllDTypes, .function = mul_out<true>},
};

}  // namespace

std::span<const OperatorRow> arithmetic_family() {
  return kRows;
}

}  // namespace pterun::operators
