#include "operators/promotion.h"

#include <catch2/catch_test_macros.hpp>

namespace pterun::operators {
namespace {

Tensor tensor(DType dtype, const Shape& shape) {
  return Tensor(dtype, shape, nullptr);
}

TEST_CASE("two dtypes promote as torch.promote_types says") {
  CHECK(promote(DType::kUInt8, DType::kInt8) == DType::kInt16);
  CHECK(promote(DType::kUInt8, DType::kInt16) == DType::kInt16);
  CHECK(promote(DType::kInt64, DType::kUInt8) == DType::kInt64);
  CHECK(promote(DType::kBool, DType::kUInt8) == DType::kUInt8);
  CHECK(promote(DType::kInt64, DType::kFloat16) == DType::kFloat16);
  CHECK(promote(DType::kFloat16, DType::kBFloat16) == DType::kFloat32);
  CHECK(promote(DType::kFloat32, DType::kFloat64) == DType::kFloat64);
  CHECK(promote(DType::kBool, DType::kBool) == DType::kBool);
}

TEST_CASE("a 0-d tensor changes the result only by its category") {
  Promotion promotion;
  promotion.add(tensor(DType::kFloat16, {2}));
  promotion.add(tensor(DType::kFloat64, {}));
  CHECK(promotion.result() == DType::kFloat16);
  Promotion higher;
  higher.add(tensor(DType::kInt8, {2}));
  higher.add(tensor(DType::kFloat64, {}));
  CHECK(higher.result() == DType::kFloat64);
}

TEST_CASE("a number changes the result only by its category, to the default dtype") {
  Promotion promotion;
  promotion.add(tensor(DType::kInt8, {2}));
  promotion.add(Scalar(std::int64_t{1000}));
  CHECK(promotion.result() == DType::kInt8);
  promotion.add(Scalar(0.5));
  CHECK(promotion.result() == DType::kFloat32);
  Promotion with_bool;
  with_bool.add(tensor(DType::kBool, {}));
  with_bool.add(Scalar(std::int64_t{1}));
  CHECK(with_bool.result() == DType::kInt64);
}

TEST_CASE("complex is the highest category and keeps the width of the floats it meets") {
  CHECK(promote(DType::kComplex64, DType::kFloat64) == DType::kComplex128);
  CHECK(promote(DType::kInt64, DType::kComplex64) == DType::kComplex64);
  Promotion with_float;
  with_float.add(tensor(DType::kFloat32, {2}));
  with_float.add(tensor(DType::kComplex128, {}));
  CHECK(with_float.result() == DType::kComplex64);
  Promotion with_integer;
  with_integer.add(tensor(DType::kInt64, {2}));
  with_integer.add(tensor(DType::kComplex128, {}));
  CHECK(with_integer.result() == DType::kComplex128);
  CHECK_FALSE(can_cast(DType::kComplex64, DType::kFloat64));
}

TEST_CASE("results may be written to a wider category only") {
  CHECK(can_cast(DType::kFloat64, DType::kFloat16));
  CHECK(can_cast(DType::kInt64, DType::kInt8));
  CHECK_FALSE(can_cast(DType::kFloat32, DType::kInt64));
  CHECK_FALSE(can_cast(DType::kInt8, DType::kBool));
}

TEST_CASE("integers become float32 where a result is a float") {
  CHECK(float_result(DType::kInt64) == DType::kFloat32);
  CHECK(float_result(DType::kBool) == DType::kFloat32);
  CHECK(float_result(DType::kFloat16) == DType::kFloat16);
}

TEST_CASE("errors about dtypes name the operator and the dtype") {
  const Arguments arguments("aten::sqrt.out", {});
  const auto out = check_output_dtype(arguments, DType::kFloat32, tensor(DType::kInt32, {}));
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error().message.find("aten::sqrt.out") != std::string::npos);
  CHECK(out.error().message.find("int32") != std::string::npos);
  const auto in = check_dtype(arguments, 0, tensor(DType::kQInt8, {}), kAllDTypes);
  REQUIRE_FALSE(in.has_value());
  CHECK(in.error().code == ErrorCode::kInvalidType);
  CHECK(in.error().message.find("qint8") != std::string::npos);
}

}  // namespace
}  // namespace pterun::operators
