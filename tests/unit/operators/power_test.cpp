#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

TEST_CASE("every common exponent gives what pow gives") {
  const Values bases = {0.25, 1, 3, 16, 100};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    for (const double exponent : {2.0, 3.0, 0.5, -0.5, -1.0, -2.0, 0.0, 1.0, 1.7}) {
      HostTensor x = make_tensor(dtype, {5}, bases);
      HostTensor out = make_output(dtype, {5});
      REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Scalar_out").tensor(x).number(exponent).tensor(out).run());
      const Values got = values_of(out);
      const double tolerance = dtype == DType::kFloat16 ? 1e-3 : 1e-6;
      for (std::size_t i = 0; i < bases.size(); ++i) {
        const double exact = std::pow(bases[i], exponent);
        if (dtype == DType::kFloat16 && exact > 65504) continue;
        CHECK(std::abs(got[i] - exact) <= tolerance * exact + 1e-7);
      }
    }
  }
}

TEST_CASE("bool to the power of a bool is bool") {
  HostTensor x = make_tensor(DType::kBool, {2}, {1, 0});
  HostTensor out = make_output(DType::kBool, {2});
  REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Scalar_out").tensor(x).boolean(true).tensor(out).run());
  CHECK(values_of(out) == std::vector<double>{1, 0});
  REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Scalar_out").tensor(x).boolean(false).tensor(out).run());
  CHECK(values_of(out) == std::vector<double>{1, 1});
}

TEST_CASE("integer powers wrap, and negative exponents of tensors give zero but for one and minus one") {
  HostTensor base = make_tensor(DType::kInt8, {5}, {2, 3, 1, -1, 0});
  HostTensor exponent = make_tensor(DType::kInt8, {5}, {7, 7, -3, -3, -1});
  HostTensor out = make_output(DType::kInt8, {5});
  REQUIRE_RESULT(OperatorCall("aten::pow.Tensor_Tensor_out").tensor(base).tensor(exponent).tensor(out).run());
  CHECK(values_of(out) == Values{-128, -117, 1, -1, 0});
}

TEST_CASE("a negative integer exponent of an integer tensor is an error") {
  HostTensor base = make_tensor(DType::kInt32, {1}, {2});
  HostTensor out = make_output(DType::kInt32, {1});
  CHECK_FALSE(OperatorCall("aten::pow.Tensor_Scalar_out").tensor(base).integer(-1).tensor(out).run().has_value());
}

TEST_CASE("a number to the power of a tensor promotes like any two operands") {
  HostTensor exponent = make_tensor(DType::kInt32, {3}, {0, 1, 2});
  HostTensor out = make_output(DType::kFloat32, {3});
  REQUIRE_RESULT(OperatorCall("aten::pow.Scalar_out").number(2.5).tensor(exponent).tensor(out).run());
  CHECK(values_of(out) == Values{1, 2.5, 6.25});
}

TEST_CASE("bool to the power of bool is an error") {
  HostTensor x = make_tensor(DType::kBool, {1}, {1});
  HostTensor out = make_output(DType::kBool, {1});
  CHECK_FALSE(OperatorCall("aten::pow.Tensor_Tensor_out").tensor(x).tensor(x).tensor(out).run().has_value());
}

}  // namespace
}  // namespace pterun::test
