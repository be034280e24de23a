// The table of complex functions.
#include "operators/complex_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "operators/complex_elementwise.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

enum class Kind : std::uint8_t { kSame, kPart, kBool };  // the dtype of the result

struct Row {
  std::string_view name;
  ComplexUnary function;
  Kind result;
};

// e^x - 1 without the loss of small parts, as eager: (e^a - 1) cos b - 2 sin(b / 2)^2 + i e^a sin b.
Complex expm1(Complex x) {
  const double half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
}

bool either(Complex x, bool (*test)(double)) {
  return test(x.real()) || test(x.imag());
}

constexpr Row kRows[] = {
    {"aten::acos.out", [](Complex x) { return std::acos(x); }, Kind::kSame},
    {"aten::acosh.out", [](Complex x) { return std::acosh(x); }, Kind::kSame},
    {"aten::asin.out", [](Complex x) { return std::asin(x); }, Kind::kSame},
    {"aten::asinh.out", [](Complex x) { return std::asinh(x); }, Kind::kSame},
    {"aten::atan.out", [](Complex x) { return std::atan(x); }, Kind::kSame},
    {"aten::atanh.out", [](Complex x) { return std::atanh(x); }, Kind::kSame},
    {"aten::cos.out", [](Complex x) { return std::cos(x); }, Kind::kSame},
    {"aten::cosh.out", [](Complex x) { return std::cosh(x); }, Kind::kSame},
    {"aten::exp.out", [](Complex x) { return std::exp(x); }, Kind::kSame},
    {"aten::log.out", [](Complex x) { return std::log(x); }, Kind::kSame},
    {"aten::log10.out", [](Complex x) { return std::log10(x); }, Kind::kSame},
    {"aten::sin.out", [](Complex x) { return std::sin(x); }, Kind::kSame},
    {"aten::sinh.out", [](Complex x) { return std::sinh(x); }, Kind::kSame},
    {"aten::sqrt.out", [](Complex x) { return std::sqrt(x); }, Kind::kSame},
    {"aten::tan.out", [](Complex x) { return std::tan(x); }, Kind::kSame},
    {"aten::tanh.out", [](Complex x) { return std::tanh(x); }, Kind::kSame},
    {"aten::abs.out", [](Complex x) { return Complex(std::abs(x)); }, Kind::kPart},
    {"aten::expm1.out", expm1, Kind::kSame},
    {"aten::isinf.out", [](Complex x) { return Complex(either(x, [](double v) { return std::isinf(v); })); },
     Kind::kBool},
    {"aten::isnan.out", [](Complex x) { return Complex(either(x, [](double v) { return std::isnan(v); })); },
     Kind::kBool},
    {"aten::log1p.out", [](Complex x) { return std::log(1.0 + x); }, Kind::kSame},
    {"aten::log2.out", [](Complex x) { return std::log(x) / std::numbers::ln2; }, Kind::kSame},
    {"aten::neg.out", [](Complex x) { return -x; }, Kind::kSame},
    {"aten::reciprocal.out", [](Complex x) { return divide(1, x); }, Kind::kSame},
    {"aten::rsqrt.out", [](Complex x) { return divide(1, std::sqrt(x)); }, Kind::kSame},
    {"aten::sigmoid.out", [](Complex x) { return divide(1, 1.0 + std::exp(-x)); }, Kind::kSame},
};

}  // namespace

Result<void> complex_function(const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  const auto row = std::ranges::find(kRows, arguments.operator_name(), &Row::name);
  // Refused like any other dtype that an operator does not have.
  if (row == std::end(kRows)) return check_dtype(arguments, 0, *input, kAllDTypes);
  const DType dtype = input->dtype();
  const DType result = row->result == Kind::kBool   ? DType::kBool
                       : row->result == Kind::kPart ? complex_part(dtype)
                                                    : dtype;
  return complex_unary(arguments, row->function, result);
}

}  // namespace pterun::operators
