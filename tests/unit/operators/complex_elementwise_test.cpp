#include "operators/complex_elementwise.h"

#include <algorithm>
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

TEST_CASE("a complex result does not fit a real output") {
  HostTensor a = make_complex<float>(DType::kComplex64, {1}, {{1, 2}});
  HostTensor out = make_output(DType::kFloat64, {1});
  CHECK_FALSE(OperatorCall("aten::mul.out").tensor(a).tensor(a).tensor(out).run().has_value());
}

TEST_CASE("operators without complex arithmetic refuse complex tensors") {
  HostTensor a = make_complex<float>(DType::kComplex64, {1}, {{1, 2}});
  for (const char* name : {"aten::exp.out", "aten::neg.out", "aten::logical_not.out"}) {
    const auto result = OperatorCall(name).tensor(a).tensor(a).run();
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code == ErrorCode::kInvalidType);
  }
}

}  // namespace
}  // namespace pterun::test
