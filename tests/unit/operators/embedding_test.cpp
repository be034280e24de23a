#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

Result<void> embed(HostTensor& table, HostTensor& indices, HostTensor& out) {
  return OperatorCall("aten::embedding.out")
      .tensor(table)
      .tensor(indices)
      .integer(-1)
      .boolean(false)
      .boolean(false)
      .tensor(out)
      .run();
}

TEST_CASE("embedding picks rows in every dtype, with int32 and int64 indices") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt64,
                            DType::kInt8, DType::kBool, DType::kUInt16}) {
    for (const DType index_dtype : {DType::kInt32, DType::kInt64}) {
      HostTensor table = make_tensor(dtype, {4, 3}, random_integers(12, 1, 0, 1));
      HostTensor indices = make_tensor(index_dtype, {2, 2}, {3, 0, 1, 3});
      HostTensor out = make_output(dtype, {2, 2, 3});
      REQUIRE_RESULT(embed(table, indices, out));
      Values want;
      for (const std::size_t row : {3, 0, 1, 3}) {
        for (std::size_t i = 0; i < 3; ++i)
          want.push_back(values_of(table)[row * 3 + i]);
      }
      CHECK(values_of(out) == want);
    }
  }
}

TEST_CASE("embedding of a single index gives a row, of none nothing") {
  HostTensor table = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor one = make_tensor(DType::kInt64, {}, {1});
  HostTensor row = make_output(DType::kFloat32, {2});
  REQUIRE_RESULT(embed(table, one, row));
  CHECK(values_of(row) == Values{3, 4});
  HostTensor none = make_tensor(DType::kInt64, {0}, {});
  HostTensor empty = make_output(DType::kFloat32, {0, 2});
  REQUIRE_RESULT(embed(table, none, empty));
}

TEST_CASE("embedding refuses indices outside the table") {
  HostTensor table = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor out = make_output(DType::kFloat32, {1, 2});
  for (const double index : {-1.0, 2.0}) {
    HostTensor indices = make_tensor(DType::kInt64, {1}, {index});
    const auto result = embed(table, indices, out);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message.find("is outside the table of 2 rows") != std::string::npos);
  }
  HostTensor real = make_tensor(DType::kFloat32, {1}, {1});
  const auto result = embed(table, real, out);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message == "aten::embedding.out: indices is float32[1]; supported are int32, int64");
}

}  // namespace
}  // namespace pterun::test
