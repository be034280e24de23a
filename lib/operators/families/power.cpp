// pow with tensors and numbers on either side.
#include <cmath>

#include "operators/complex_elementwise.h"
#include "operators/elementwise.h"
#include "operators/families/families.h"
#include "operators/float_math.h"

namespace pterun::operators {
namespace {

// A tensor of exponents has one formula in eager, exp(exponent log(base)); for one number it has these shorter ones,
// which keep signs and infinities that the logarithm loses. A number as base is 1 or goes by the formula.
Complex complex_power(Complex base, Complex exponent) {
  return std::pow(base, exponent);
}
Complex complex_power_of_tensor(Complex base, Complex exponent) {
  return base == Complex(1) ? 1 : std::pow(base, exponent);
}
Complex complex_power_of_number(Complex base, Complex exponent) {
  if (exponent == Complex(0)) return 1;
  if (exponent == Complex(0.5)) return std::sqrt(base);
  if (exponent == Complex(1)) return base;
  if (exponent == Complex(2)) return multiply(base, base);
  if (exponent == Complex(3)) return multiply(multiply(base, base), base);
  if (exponent == Complex(-0.5)) return divide(1, std::sqrt(base));
  if (exponent == Complex(-1)) return divide(1, base);
  if (exponent == Complex(-2)) return divide(1, multiply(base, base));
  return std::pow(base, exponent);
}

template <typename T>
T power(T base, T exponent) {
  if constexpr (std::is_integral_v<T>)
    return integer_power(base, exponent);
  else
    return std::pow(base, exponent);
}

Result<void> check_not_bool(const Arguments& arguments, DType common) {
  if (common != DType::kBool) return {};
  return fail(arguments.error(ErrorCode::kInvalidType, "a power of bool and bool is not supported"));
}

// The exponents that models use, as loops that vectorise. False: none of them.
template <typename T>
bool map_common_exponent(Elementwise& call, DType common, double exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent == 2.0) return call.map<T(T, T)>(common, [](T a, T) { return a * a; }), true;
    if (exponent == 3.0) return call.map<T(T, T)>(common, [](T a, T) { return a * a * a; }), true;
    if (exponent == 0.5) return call.map<T(T, T)>(common, [](T a, T) { return std::sqrt(a); }), true;
    if (exponent == -0.5) return call.map<T(T, T)>(common, [](T a, T) { return 1 / std::sqrt(a); }), true;
    if (exponent == -1.0) return call.map<T(T, T)>(common, [](T a, T) { return 1 / a; }), true;
    if (exponent == -2.0) return call.map<T(T, T)>(common, [](T a, T) { return 1 / (a * a); }), true;
  }
  return false;
}

template <typename T>
void map_power(Elementwise& call, DType common) {
  call.map<T(T, T)>(common, [](T a, T b) { return power(a, b); });
}

Result<void> tensor_tensor_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 2)) return complex_binary(arguments, 2, complex_power);
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrdered));
  PTERUN_TRY(call.add_tensor(1, kOrdered));
  const DType common = call.promoted();
  PTERUN_TRY(check_not_bool(arguments, common));
  PTERUN_TRY(call.set_output(2, common));
  visit_compute(common, [&]<typename T>() { map_power<T>(call, common); });
  return {};
}

Result<void> tensor_scalar_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 2)) return complex_binary(arguments, 2, complex_power_of_number);
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrdered));
  PTERUN_TRY(call.add_scalar(1));
  PTERUN_ASSIGN(const Scalar exponent, arguments.scalar(1));
  const DType common = call.promoted();
  if (!is_floating(common) && exponent.to_int() < 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "integers to negative integer powers are not allowed"));
  }
  PTERUN_TRY(call.set_output(2, common));
  call.keep_scalars_exact();
  visit_compute(common, [&]<typename T>() {
    if (!map_common_exponent<T>(call, common, exponent.to_double())) map_power<T>(call, common);
  });
  return {};
}

Result<void> scalar_tensor_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 2)) return complex_binary(arguments, 2, complex_power_of_tensor);
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_scalar(0));
  PTERUN_TRY(call.add_tensor(1, kOrdered));
  const DType common = call.promoted();
  PTERUN_TRY(check_not_bool(arguments, common));
  PTERUN_TRY(call.set_output(2, common));
  visit_compute(common, [&]<typename T>() { map_power<T>(call, common); });
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::pow.Tensor_Tensor_out", .dtypes = kOrderedNumbers | kComplex, .function = tensor_tensor_out},
    {.name = "aten::pow.Tensor_Scalar_out", .dtypes = kOrdered | kComplex, .function = tensor_scalar_out},
    {.name = "aten::pow.Scalar_out", .dtypes = kOrdered | kComplex, .function = scalar_tensor_out},
};

}  // namespace

std::span<const OperatorRow> power_family() {
  return kRows;
}

}  // namespace pterun::operators
