// Functions of one tensor: those of floats, which take integers as float32, and those that keep the dtype.
#include <cmath>
#include <numbers>

#include "operators/complex_elementwise.h"
#include "operators/complex_functions.h"
#include "operators/elementwise.h"
#include "operators/families/families.h"
#include "operators/vector_math.h"

namespace pterun::operators {
namespace {

// Each of these is a function object with a template call operator, so that one table row names it.
#define PTERUN_FLOAT_FUNCTION(Name, expression)      \
  struct Name {                                      \
    template <typename T>                            \
    [[gnu::always_inline]] T operator()(T x) const { \
      return expression;                             \
    }                                                \
  };
PTERUN_FLOAT_FUNCTION(Acos, std::acos(x))
PTERUN_FLOAT_FUNCTION(Acosh, std::acosh(x))
PTERUN_FLOAT_FUNCTION(Asin, std::asin(x))
PTERUN_FLOAT_FUNCTION(Asinh, std::asinh(x))
PTERUN_FLOAT_FUNCTION(Atan, std::atan(x))
PTERUN_FLOAT_FUNCTION(Atanh, std::atanh(x))
PTERUN_FLOAT_FUNCTION(Cos, std::cos(x))
PTERUN_FLOAT_FUNCTION(Cosh, std::cosh(x))
PTERUN_FLOAT_FUNCTION(Erf, vector_erf(x))
PTERUN_FLOAT_FUNCTION(Exp, vector_exp(x))
PTERUN_FLOAT_FUNCTION(Expm1, vector_expm1(x))
PTERUN_FLOAT_FUNCTION(Log, vector_log(x))
PTERUN_FLOAT_FUNCTION(Log10, std::log10(x))
PTERUN_FLOAT_FUNCTION(Log1p, std::log1p(x))
PTERUN_FLOAT_FUNCTION(Log2, std::log2(x))
PTERUN_FLOAT_FUNCTION(Reciprocal, T{1} / x)
PTERUN_FLOAT_FUNCTION(Rsqrt, T{1} / std::sqrt(x))
PTERUN_FLOAT_FUNCTION(Sigmoid, vector_sigmoid(x))
PTERUN_FLOAT_FUNCTION(Sin, std::sin(x))
PTERUN_FLOAT_FUNCTION(Sinh, std::sinh(x))
PTERUN_FLOAT_FUNCTION(Sqrt, std::sqrt(x))
PTERUN_FLOAT_FUNCTION(Tan, std::tan(x))
PTERUN_FLOAT_FUNCTION(Tanh, vector_tanh(x))
#undef PTERUN_FLOAT_FUNCTION

template <typename Function>
Result<void> float_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 1)) return complex_function(arguments);
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrdered));
  const DType result = float_result(call.promoted());
  PTERUN_TRY(call.set_output(1, result));
  visit_float_compute(result, [&]<typename T>() { call.map_heavy<T(T)>(result, Function{}); });
  return {};
}

// Functions that are the identity on integers.
template <typename Function>
Result<void> rounding_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrderedNumbers));
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(1, dtype));
  if (!is_floating(dtype)) {
    call.convert();
  } else {
    visit_float_compute(dtype, [&]<typename T>() { call.map<T(T)>(dtype, [](T x) { return Function{}(x); }); });
  }
  return {};
}

#define PTERUN_ROUNDING_FUNCTION(Name, function)     \
  struct Name {                                      \
    template <typename T>                            \
    [[gnu::always_inline]] T operator()(T x) const { \
      return std::function(x);                       \
    }                                                \
  };
PTERUN_ROUNDING_FUNCTION(Ceil, ceil)
PTERUN_ROUNDING_FUNCTION(Floor, floor)
PTERUN_ROUNDING_FUNCTION(RoundToEven, nearbyint)
PTERUN_ROUNDING_FUNCTION(Truncate, trunc)
#undef PTERUN_ROUNDING_FUNCTION

// Functions of any number, the same formula for floats and integers.
struct Absolute {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x < 0 ? wrap_sub(T{0}, x) : x;
    else
      return std::abs(x);
  }
};
struct Negate {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return wrap_sub(T{0}, x);
    else
      return -x;
  }
};
struct Sign {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));  // 0 for NaN, as eager
  }
};
struct Relu {
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? T{0} : x;  // NaN and -0 stay
  }
};

template <typename Function, bool kWithBool = false>
Result<void> number_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 1)) return complex_function(arguments);
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kWithBool ? kOrdered : kOrderedNumbers));
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(1, dtype));
  visit_compute(dtype, [&]<typename T>() { call.map<T(T)>(dtype, [](T x) { return Function{}(x); }); });
  return {};
}

struct IsInfinite {
  template <typename T>
  bool operator()(T x) const {
    return std::abs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsNan {
  template <typename T>
  bool operator()(T x) const {
    return x != x;
  }
};

template <typename Test>
Result<void> test_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 1)) return complex_function(arguments);
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0));
  const DType dtype = float_result(call.promoted());
  PTERUN_TRY(call.set_output(1, DType::kBool));
  visit_float_compute(dtype, [&]<typename T>() { call.map<Truth(T)>(dtype, [](T x) { return Test{}(x); }); });
  return {};
}

// log(x / (1 - x)), x first clamped to [eps, 1 - eps] where eps is given.
Result<void> logit_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrdered));
  PTERUN_ASSIGN(const std::optional<double> eps, arguments.optional_number(1));
  const DType result = float_result(call.promoted());
  PTERUN_TRY(call.set_output(2, result));
  visit_float_compute(result, [&]<typename T>() {
    // Eager computes every step in the result's dtype, which shows where the quotient is near 1.
    const auto round = [result](T value) { return round_to(result, value); };
    const T low = round(static_cast<T>(eps.value_or(0)));
    const T high = round(1 - low);
    const bool clamps = eps.has_value();
    call.map<T(T)>(result, [=](T x) {
      const T clamped = !clamps ? x : x < low ? low : x > high ? high : x;
      return std::log(round(clamped / round(1 - clamped)));
    });
  });
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::acos.out", .dtypes = kOrdered | kComplex, .function = float_out<Acos>},
    {.name = "aten::acosh.out", .dtypes = kOrdered | kComplex, .function = float_out<Acosh>},
    {.name = "aten::asin.out", .dtypes = kOrdered | kComplex, .function = float_out<Asin>},
    {.name = "aten::asinh.out", .dtypes = kOrdered | kComplex, .function = float_out<Asinh>},
    {.name = "aten::atan.out", .dtypes = kOrdered | kComplex, .function = float_out<Atan>},
    {.name = "aten::atanh.out", .dtypes = kOrdered | kComplex, .function = float_out<Atanh>},
    {.name = "aten::cos.out", .dtypes = kOrdered | kComplex, .function = float_out<Cos>},
    {.name = "aten::cosh.out", .dtypes = kOrdered | kComplex, .function = float_out<Cosh>},
    {.name = "aten::erf.out", .dtypes = kOrdered, .function = float_out<Erf>},
    {.name = "aten::exp.out", .dtypes = kOrdered | kComplex, .function = float_out<Exp>},
    {.name = "aten::expm1.out", .dtypes = kOrdered | kComplex, .function = float_out<Expm1>},
    {.name = "aten::log.out", .dtypes = kOrdered | kComplex, .function = float_out<Log>},
    {.name = "aten::log10.out", .dtypes = kOrdered | kComplex, .function = float_out<Log10>},
    {.name = "aten::log1p.out", .dtypes = kOrdered | kComplex, .function = float_out<Log1p>},
    {.name = "aten::log2.out", .dtypes = kOrdered | kComplex, .function = float_out<Log2>},
    {.name = "aten::reciprocal.out", .dtypes = kOrdered | kComplex, .function = float_out<Reciprocal>},
    {.name = "aten::rsqrt.out", .dtypes = kOrdered | kComplex, .function = float_out<Rsqrt>},
    {.name = "aten::sigmoid.out", .dtypes = kOrdered | kComplex, .function = float_out<Sigmoid>},
    {.name = "aten::sin.out", .dtypes = kOrdered | kComplex, .function = float_out<Sin>},
    {.name = "aten::sinh.out", .dtypes = kOrdered | kComplex, .function = float_out<Sinh>},
    {.name = "aten::sqrt.out", .dtypes = kOrdered | kComplex, .function = float_out<Sqrt>},
    {.name = "aten::tan.out", .dtypes = kOrdered | kComplex, .function = float_out<Tan>},
    {.name = "aten::tanh.out", .dtypes = kOrdered | kComplex, .function = float_out<Tanh>},
    {.name = "aten::ceil.out", .dtypes = kOrderedNumbers, .function = rounding_out<Ceil>},
    {.name = "aten::floor.out", .dtypes = kOrderedNumbers, .function = rounding_out<Floor>},
    {.name = "aten::round.out", .dtypes = kOrderedNumbers, .function = rounding_out<RoundToEven>},
    {.name = "aten::trunc.out", .dtypes = kOrderedNumbers, .function = rounding_out<Truncate>},
    {.name = "aten::abs.out", .dtypes = kOrderedNumbers | kComplex, .function = number_out<Absolute>},
    {.name = "aten::neg.out", .dtypes = kOrderedNumbers | kComplex, .function = number_out<Negate>},
    {.name = "aten::relu.out", .dtypes = kOrderedNumbers, .function = number_out<Relu>},
    {.name = "aten::sign.out", .dtypes = kOrdered, .function = number_out<Sign, true>},
    {.name = "aten::isinf.out", .dtypes = kAllDTypes | kComplex, .function = test_out<IsInfinite>},
    {.name = "aten::isnan.out", .dtypes = kAllDTypes | kComplex, .function = test_out<IsNan>},
    {.name = "aten::logit.out", .dtypes = kOrdered, .function = logit_out},
};

}  // namespace

std::span<const OperatorRow> unary_family() {
  return kRows;
}

}  // namespace pterun::operators
