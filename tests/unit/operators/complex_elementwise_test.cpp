#include "operators/complex_elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Complex = std::complex<double>;

template <typename T>
HostTensor make_complex(DType dtype, const Shape& shape, const std::vector<std::complex<T>>& values) {
  HostTensor tensor = HostTensor::allocate(dtype, shape).value();
  std::copy(values.begin(), values.end(), tensor.view().mutable_data<std::complex<T>>());
  return tensor;
}

template <typename T>
std::vector<Complex> complex_values(const HostTensor& tensor) {
  const auto* data = tensor.view().data<std::complex<T>>();
  return {data, data + tensor.view().numel()};
}

TEST_CASE("complex numbers add, subtract, multiply and divide, with real operands too") {
  HostTensor a = make_complex<float>(DType::kComplex64, {2}, {{1, 2}, {3, -1}});
  HostTensor b = make_complex<double>(DType::kComplex128, {2, 1}, {{0, 1}, {2, 0}});
  HostTensor real = make_tensor(DType::kFloat32, {}, {2});
  HostTensor out = make_output(DType::kComplex128, {2, 2});
  HostTensor same = make_output(DType::kComplex64, {2});
  REQUIRE_RESULT(OperatorCall("aten::add.out").tensor(a).tensor(b).integer(2).tensor(out).run());
  CHECK(complex_values<double>(out) == std::vector<Complex>{{1, 4}, {3, 1}, {5, 2}, {7, -1}});
  REQUIRE_RESULT(OperatorCall("aten::mul.out").tensor(a).tensor(b).tensor(out).run());
  CHECK(complex_values<double>(out) == std::vector<Complex>{{-2, 1}, {1, 3}, {2, 4}, {6, -2}});
  REQUIRE_RESULT(OperatorCall("aten::sub.out").tensor(a).tensor(real).integer(1).tensor(same).run());
  CHECK(complex_values<float>(same) == std::vector<Complex>{{-1, 2}, {1, -1}});
  REQUIRE_RESULT(OperatorCall("aten::div.Scalar_out").tensor(a).integer(2).tensor(same).run());
  CHECK(complex_values<float>(same) == std::vector<Complex>{{0.5, 1}, {1.5, -0.5}});
}

TEST_CASE("copies convert between real and complex, and keep complex128 whole") {
  HostTensor whole = make_tensor(DType::kInt8, {2}, {3, -4});
  HostTensor out = make_output(DType::kComplex64, {2});
  REQUIRE_RESULT(OperatorCall("aten::_to_copy.out").tensor(whole).boolean(false).none().tensor(out).run());
  CHECK(complex_values<float>(out) == std::vector<Complex>{{3, 0}, {-4, 0}});
  HostTensor wide = make_complex<double>(DType::kComplex128, {2}, {{1e300, 2}, {3, 1e-300}});
  HostTensor copy = make_output(DType::kComplex128, {2});
  REQUIRE_RESULT(OperatorCall("aten::clone.out").tensor(wide).none().tensor(copy).run());
  CHECK(complex_values<double>(copy) == complex_values<double>(wide));
  REQUIRE_RESULT(OperatorCall("aten::_conj_physical.out").tensor(wide).tensor(copy).run());
  CHECK(complex_values<double>(copy) == std::vector<Complex>{{1e300, -2}, {3, -1e-300}});
}

TEST_CASE(
    "complex numbers of two dtypes are joined and filled in whole, and are true when one of their parts is not zero") {
  HostTensor narrow = make_complex<float>(DType::kComplex64, {2}, {{0, 3}, {0, 0}});
  HostTensor wide = make_complex<double>(DType::kComplex128, {1}, {{1e300, -2}});
  HostTensor joined = make_output(DType::kComplex128, {3});
  REQUIRE_RESULT(OperatorCall("aten::cat.out").tensors({&narrow, &wide}).integer(0).tensor(joined).run());
  CHECK(complex_values<double>(joined) == std::vector<Complex>{{0, 3}, {0, 0}, {1e300, -2}});
  HostTensor one = make_complex<double>(DType::kComplex128, {}, {{1, -2}});
  HostTensor filled = make_output(DType::kComplex64, {2});
  REQUIRE_RESULT(OperatorCall("aten::fill.Tensor_out").tensor(narrow).tensor(one).tensor(filled).run());
  CHECK(complex_values<float>(filled) == std::vector<Complex>{{1, -2}, {1, -2}});
  HostTensor truth = make_output(DType::kBool, {2});
  REQUIRE_RESULT(OperatorCall("aten::_to_copy.out").tensor(narrow).boolean(false).none().tensor(truth).run());
  CHECK(values_of(truth) == std::vector<double>{1, 0});
}

TEST_CASE("complex expm1 keeps small parts and turns two infinities into NaN") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  HostTensor x = make_complex<double>(DType::kComplex128, {2}, {{1e-20, 1e-12}, {kInf, kInf}});
  HostTensor out = make_output(DType::kComplex128, {2});
  REQUIRE_RESULT(OperatorCall("aten::expm1.out").tensor(x).tensor(out).run());
  CHECK(std::abs(complex_values<double>(out)[0].real() - (1e-20 - 5e-25)) < 1e-32);
  CHECK(std::isnan(complex_values<double>(out)[1].real()));
}

TEST_CASE("complex products and quotients treat infinities and large numbers as eager does") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Complex product = operators::multiply({-kInf, 1}, {2, 0});
  CHECK(product.real() == -kInf);
  CHECK(std::isnan(product.imag()));  // -inf * 0
  CHECK(operators::divide({1e300, 1e300}, {1e300, 1e300}) == Complex(1, 0));
  CHECK(operators::divide({1, 1}, {kInf, 0}) == Complex(0, 0));
  CHECK(operators::divide({1, -1}, {0, 0}).real() == kInf);
  // Two infinite parts have no ratio; one decides alone.
  CHECK(std::isnan(operators::divide(1, {kInf, kInf}).real()));
  CHECK(operators::divide(1, {kInf, 1.5}) == Complex(0, 0));
  CHECK(operators::divide(1, {1.5, -kInf}) == Complex(0, 0));
  CHECK(std::isnan(operators::divide({-kInf, 0}, 3).imag()));  // -inf * 0
}

TEST_CASE("a mean of complex infinities is NaN, and others are divided part by part") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  HostTensor x = make_complex<double>(DType::kComplex128, {2, 2}, {{-kInf, 0}, {1, -kInf}, {1, 2}, {3, 6}});
  HostTensor out = make_output(DType::kComplex128, {2});
  REQUIRE_RESULT(OperatorCall("aten::mean.out").tensor(x).integers({1}).boolean(false).none().tensor(out).run());
  CHECK(std::isnan(complex_values<double>(out)[0].real()));
  CHECK(std::isnan(complex_values<double>(out)[0].imag()));
  CHECK(complex_values<double>(out)[1] == Complex(2, 4));
}

TEST_CASE("a power of a complex infinity differs for a number and for a tensor of exponents, as in eager") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  HostTensor x = make_complex<double>(DType::kComplex128, {1}, {{-3.5, kInf}});
  HostTensor one = make_complex<double>(DType::kComplex128, {1}, {{1, 0}});
  HostTensor out = make_output(DType::kComplex128, {1});
  REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Tensor_out").tensor(x).tensor(one).tensor(out).run());
  CHECK(std::isnan(complex_values<double>(out)[0].imag()));
  REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Scalar_out").tensor(x).integer(1).tensor(out).run());
  CHECK(complex_values<double>(out)[0] == Complex(-3.5, kInf));
  REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Scalar_out").tensor(x).integer(-1).tensor(out).run());
  CHECK(complex_values<double>(out)[0] == Complex(0, 0));
}

TEST_CASE("functions of complex numbers") {
  HostTensor x = make_complex<double>(DType::kComplex128, {2}, {{3, 4}, {0, 0}});
  HostTensor out = make_output(DType::kComplex128, {2});
  HostTensor size = make_output(DType::kFloat64, {2});
  HostTensor flags = make_output(DType::kBool, {2});
  REQUIRE_RESULT(OperatorCall("aten::neg.out").tensor(x).tensor(out).run());
  CHECK(complex_values<double>(out) == std::vector<Complex>{{-3, -4}, {0, 0}});
  REQUIRE_RESULT(OperatorCall("aten::exp.out").tensor(x).tensor(out).run());
  CHECK(std::abs(complex_values<double>(out)[0] - std::exp(Complex(3, 4))) < 1e-12);
  REQUIRE_RESULT(OperatorCall("aten::abs.out").tensor(x).tensor(size).run());
  CHECK(values_of(size) == std::vector<double>{5, 0});
  REQUIRE_RESULT(OperatorCall("aten::logical_not.out").tensor(x).tensor(flags).run());
  CHECK(values_of(flags) == std::vector<double>{0, 1});
  REQUIRE_RESULT(OperatorCall("aten::eq.Scalar_out").tensor(x).integer(0).tensor(flags).run());
  CHECK(values_of(flags) == std::vector<double>{0, 1});
  REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Scalar_out").tensor(x).integer(2).tensor(out).run());
  CHECK(complex_values<double>(out) == std::vector<Complex>{{-7, 24}, {0, 0}});
  HostTensor nan = make_complex<double>(DType::kComplex128, {2}, {{1, std::nan("")}, {1, 2}});
  REQUIRE_RESULT(OperatorCall("aten::isnan.out").tensor(nan).tensor(flags).run());
  CHECK(values_of(flags) == std::vector<double>{1, 0});
}

TEST_CASE("complex elements are chosen, filled, placed and padded") {
  HostTensor x = make_complex<float>(DType::kComplex64, {2}, {{1, 2}, {3, 4}});
  HostTensor mask = make_tensor(DType::kBool, {2}, {1, 0});
  HostTensor other = make_tensor(DType::kFloat32, {}, {9});
  HostTensor out = make_output(DType::kComplex64, {2});
  REQUIRE_RESULT(OperatorCall("aten::where.self_out").tensor(mask).tensor(x).tensor(other).tensor(out).run());
  CHECK(complex_values<float>(out) == std::vector<Complex>{{1, 2}, {9, 0}});
  REQUIRE_RESULT(OperatorCall("aten::masked_fill.Scalar_out").tensor(x).tensor(mask).number(0.5).tensor(out).run());
  CHECK(complex_values<float>(out) == std::vector<Complex>{{0.5, 0}, {3, 4}});
  HostTensor index = make_int64({1}, {1});
  REQUIRE_RESULT(
      OperatorCall("aten::scatter.value_out").tensor(x).integer(0).tensor(index).number(7).tensor(out).run());
  CHECK(complex_values<float>(out) == std::vector<Complex>{{1, 2}, {7, 0}});
  HostTensor source = make_complex<float>(DType::kComplex64, {1}, {{10, 20}});
  REQUIRE_RESULT(
      OperatorCall("aten::scatter_add.out").tensor(x).integer(0).tensor(index).tensor(source).tensor(out).run());
  CHECK(complex_values<float>(out) == std::vector<Complex>{{1, 2}, {13, 24}});
  OperatorCall put("aten::index_put.out");
  REQUIRE_RESULT(put.tensor(x).optional_tensors({&index}).tensor(source).boolean(true).tensor(out).run());
  CHECK(complex_values<float>(out) == std::vector<Complex>{{1, 2}, {13, 24}});
  HostTensor picked = make_output(DType::kComplex64, {1});
  REQUIRE_RESULT(OperatorCall("aten::index.Tensor_out").tensor(x).optional_tensors({&index}).tensor(picked).run());
  CHECK(complex_values<float>(picked) == std::vector<Complex>{{3, 4}});
  HostTensor wide = make_output(DType::kComplex128, {3});
  HostTensor pair = make_complex<double>(DType::kComplex128, {2}, {{1, 2}, {3, 4}});
  REQUIRE_RESULT(OperatorCall("aten::constant_pad_nd.out").tensor(pair).integers({1, 0}).number(-1).tensor(wide).run());
  CHECK(complex_values<double>(wide) == std::vector<Complex>{{-1, 0}, {1, 2}, {3, 4}});
  REQUIRE_RESULT(OperatorCall("aten::full.out").integers({3}).number(2.5).tensor(wide).run());
  CHECK(complex_values<double>(wide) == std::vector<Complex>{{2.5, 0}, {2.5, 0}, {2.5, 0}});
}

TEST_CASE("complex numbers add up and multiply along dimensions") {
  HostTensor x = make_complex<double>(DType::kComplex128, {2, 2}, {{1, 1}, {2, 0}, {0, 3}, {-1, 1}});
  HostTensor row = make_output(DType::kComplex128, {2});
  HostTensor one = make_output(DType::kComplex128, {});
  OperatorCall sum("aten::sum.IntList_out");
  REQUIRE_RESULT(sum.tensor(x).integers({-2}).boolean(false).none().tensor(row).run());
  CHECK(complex_values<double>(row) == std::vector<Complex>{{1, 4}, {1, 1}});
  REQUIRE_RESULT(OperatorCall("aten::mean.dtype_out").tensor(x).none().tensor(one).run());
  CHECK(complex_values<double>(one) == std::vector<Complex>{{0.5, 1.25}});
  OperatorCall product("aten::prod.int_out");
  REQUIRE_RESULT(product.tensor(x).integer(1).boolean(false).none().tensor(row).run());
  CHECK(complex_values<double>(row) == std::vector<Complex>{{2, 2}, {-3, -3}});
  HostTensor whole = make_output(DType::kComplex128, {2, 2});
  REQUIRE_RESULT(OperatorCall("aten::cumsum.out").tensor(x).integer(1).none().tensor(whole).run());
  CHECK(complex_values<double>(whole) == std::vector<Complex>{{1, 1}, {3, 1}, {0, 3}, {-1, 4}});
  HostTensor variance = make_output(DType::kFloat64, {2});
  OperatorCall moments("aten::var_mean.correction_out");
  REQUIRE_RESULT(moments.tensor(x).integers({0}).none().boolean(false).tensor(variance).tensor(row).run());
  CHECK(values_of(variance) == std::vector<double>{2.5, 5});  // 0.5 + 2 and 4.5 + 0.5
  CHECK(complex_values<double>(row) == std::vector<Complex>{{0.5, 2}, {0.5, 0.5}});
  HostTensor real = make_output(DType::kFloat64, {2});
  OperatorCall dropped("aten::sum.IntList_out");  // eager drops imaginary parts when a real dtype is asked for
  dropped.tensor(x).integers({0}).boolean(false).dtype(DType::kFloat64).tensor(real);
  REQUIRE_RESULT(dropped.run());
  CHECK(values_of(real) == std::vector<double>{1, 1});
}

TEST_CASE("a complex product takes an addend") {
  HostTensor a = make_complex<double>(DType::kComplex128, {1, 2}, {{1, 1}, {2, 0}});
  HostTensor b = make_complex<double>(DType::kComplex128, {2, 1}, {{0, 1}, {3, 0}});
  HostTensor bias = make_complex<double>(DType::kComplex128, {1}, {{10, 100}});
  HostTensor out = make_output(DType::kComplex128, {1, 1});
  OperatorCall call("aten::addmm.out");
  REQUIRE_RESULT(call.tensor(bias).tensor(a).tensor(b).integer(2).integer(3).tensor(out).run());
  CHECK(complex_values<double>(out) == std::vector<Complex>{{35, 203}});  // 2 (10 + 100i) + 3 (5 + i)
}

TEST_CASE("a complex result does not fit a real output") {
  HostTensor a = make_complex<float>(DType::kComplex64, {1}, {{1, 2}});
  HostTensor out = make_output(DType::kFloat64, {1});
  CHECK_FALSE(OperatorCall("aten::mul.out").tensor(a).tensor(a).tensor(out).run().has_value());
}

TEST_CASE("operators without complex arithmetic refuse complex tensors") {
  HostTensor a = make_complex<float>(DType::kComplex64, {1}, {{1, 2}});
  for (const char* name : {"aten::erf.out", "aten::ceil.out", "aten::sign.out", "aten::relu.out"}) {
    const auto result = OperatorCall(name).tensor(a).tensor(a).run();
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code == ErrorCode::kInvalidType);
  }
}

}  // namespace
}  // namespace pterun::test
