// add, sub, rsub, mul, maximum, minimum, atan2: binary arithmetic with PyTorch's promotion and broadcasting.
#include <cmath>

#include "operators/complex_elementwise.h"
#include "operators/elementwise.h"
#include "operators/families/families.h"
#include "operators/float_math.h"

namespace pterun::operators {
namespace {

// Operands 0 and 1: Tensor with Tensor, or Tensor with Scalar.
Result<void> add_operands(Elementwise& call, bool scalar, DTypeSet allowed = kAllDTypes) {
  PTERUN_TRY(call.add_tensor(0, allowed));
  return scalar ? call.add_scalar(1) : call.add_tensor(1, allowed);
}

// Eager refuses to subtract when either side is bool, whatever the other is.
Result<void> check_no_bool(const Arguments& arguments) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor* tensor = arguments.slot(i).tensor();
    if (arguments.slot(i).is_bool() || (tensor != nullptr && tensor->dtype() == DType::kBool)) {
      return fail(arguments.error(ErrorCode::kInvalidType, "bool cannot be subtracted"));
    }
  }
  return {};
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

// a + alpha * b; `sign` -1 subtracts. Bool adds as logical or.
Result<void> add_scaled(ExecuteContext& context, const Arguments& arguments, bool scalar, int sign) {
  if (has_complex(arguments, 2)) {
    PTERUN_ASSIGN(const double factor, arguments.number(2));
    return complex_binary(arguments, 3, [](Complex a, Complex b) { return a + b; }, factor * sign);
  }
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, scalar));
  const DType common = call.promoted();
  PTERUN_ASSIGN(const Scalar alpha, alpha_for(arguments, 2, common));
  if (sign < 0) PTERUN_TRY(check_no_bool(arguments));
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
  if (has_complex(arguments, 1)) {
    PTERUN_ASSIGN(const double factor, arguments.number(2));
    return complex_binary(arguments, 3, [](Complex a, Complex b) { return b - a; }, factor, 0);
  }
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, true));
  const DType common = call.promoted();
  PTERUN_ASSIGN(const Scalar alpha, alpha_for(arguments, 2, common));
  PTERUN_TRY(check_no_bool(arguments));
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
  if (has_complex(arguments, 2)) {
    return complex_binary(arguments, 2, multiply);
  }
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, kScalar));
  const DType common = call.promoted();
  PTERUN_TRY(call.set_output(2, common));
  call.keep_scalars_exact();
  visit_compute(common, [&]<typename T>() { call.map<T(T, T)>(common, [](T a, T b) { return wrap_mul(a, b); }); });
  return {};
}

// A NaN on either side is the result.
template <bool kMaximum>
Result<void> extremum_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, false, kOrdered));
  const DType common = call.promoted();
  PTERUN_TRY(call.set_output(2, common));
  visit_compute(common, [&]<typename T>() {
    if constexpr (kMaximum) {
      call.map<T(T, T)>(common, [](T a, T b) { return nan_max(a, b); });
    } else {
      call.map<T(T, T)>(common, [](T a, T b) { return nan_min(a, b); });
    }
  });
  return {};
}

Result<void> atan2_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(add_operands(call, false, kOrdered));
  const DType common = float_result(call.promoted());
  PTERUN_TRY(call.set_output(2, common));
  visit_float_compute(common,
                      [&]<typename T>() { call.map<T(T, T)>(common, [](T a, T b) { return std::atan2(a, b); }); });
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::add.out", .dtypes = kAnyDType, .function = add_out<false>},
    {.name = "aten::add.Scalar_out", .dtypes = kAnyDType, .function = add_out<true>},
    {.name = "aten::sub.out", .dtypes = kNumbers | kComplex, .function = sub_out<false>},
    {.name = "aten::sub.Scalar_out", .dtypes = kNumbers | kComplex, .function = sub_out<true>},
    {.name = "aten::rsub.Scalar_out", .dtypes = kNumbers | kComplex, .function = rsub_scalar_out},
    {.name = "aten::mul.out", .dtypes = kAnyDType, .function = mul_out<false>},
    {.name = "aten::mul.Scalar_out", .dtypes = kAnyDType, .function = mul_out<true>},
    {.name = "aten::maximum.out", .dtypes = kOrdered, .function = extremum_out<true>},
    {.name = "aten::minimum.out", .dtypes = kOrdered, .function = extremum_out<false>},
    {.name = "aten::atan2.out", .dtypes = kOrdered, .function = atan2_out},
};

}  // namespace

std::span<const OperatorRow> arithmetic_family() {
  return kRows;
}

}  // namespace pterun::operators
