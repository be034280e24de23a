#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

using Number = std::variant<std::monostate, bool, std::int64_t, double>;

Number result_of(OperatorCall&& call, std::size_t out) {
  call.none();  // the slot that the result replaces
  REQUIRE_RESULT(call.run());
  const Value& slot = call.slot(out);
  if (const auto* flag = slot.get_if<bool>()) return *flag;
  if (const auto* whole = slot.get_if<std::int64_t>()) return *whole;
  if (const auto* real = slot.get_if<double>()) return *real;
  return {};
}

Number binary(std::string_view name, std::int64_t a, std::int64_t b) {
  return result_of(std::move(OperatorCall(name).integer(a).integer(b)), 2);
}
Number binary(std::string_view name, double a, double b) {
  return result_of(std::move(OperatorCall(name).number(a).number(b)), 2);
}
Number unary(std::string_view name, double a) {
  return result_of(std::move(OperatorCall(name).number(a)), 1);
}

TEST_CASE("numbers stay integers until a float joins them") {
  CHECK(binary("executorch_prim::add.Scalar", std::int64_t{2}, std::int64_t{3}) == Number(std::int64_t{5}));
  CHECK(binary("executorch_prim::sub.Scalar", 2.5, 1.0) == Number(1.5));
  CHECK(result_of(std::move(OperatorCall("executorch_prim::mul.Scalar").integer(3).number(0.5)), 2) == Number(1.5));
  CHECK(binary("executorch_prim::truediv.Scalar", std::int64_t{3}, std::int64_t{2}) == Number(1.5));
}

TEST_CASE("division and modulo of numbers round down, as in Python") {
  CHECK(binary("executorch_prim::floordiv.Scalar", std::int64_t{-7}, std::int64_t{2}) == Number(std::int64_t{-4}));
  CHECK(binary("executorch_prim::floordiv.int", std::int64_t{7}, std::int64_t{-2}) == Number(std::int64_t{-4}));
  CHECK(binary("executorch_prim::mod.Scalar", std::int64_t{-7}, std::int64_t{3}) == Number(std::int64_t{2}));
  CHECK(binary("executorch_prim::mod.int", std::int64_t{7}, std::int64_t{-3}) == Number(std::int64_t{-2}));
  CHECK(binary("executorch_prim::mod.Scalar", -7.5, 2.0) == Number(0.5));
  CHECK(binary("executorch_prim::floordiv.Scalar", -7.5, 2.0) == Number(-4.0));
}

TEST_CASE("numbers divided by zero are errors") {
  for (const char* name :
       {"executorch_prim::floordiv.Scalar", "executorch_prim::mod.int", "executorch_prim::truediv.Scalar"}) {
    CHECK_FALSE(OperatorCall(name).integer(1).integer(0).none().run().has_value());
  }
}

TEST_CASE("comparisons and choices of numbers") {
  CHECK(binary("executorch_prim::lt.Scalar", std::int64_t{1}, std::int64_t{2}) == Number(true));
  CHECK(binary("executorch_prim::ge.Scalar", 1.0, 2.0) == Number(false));
  CHECK(binary("executorch_prim::eq.Scalar", INT64_MAX, INT64_MAX - 1) == Number(false));
  CHECK(binary("executorch_prim::sym_max.Scalar", std::int64_t{4}, std::int64_t{9}) == Number(std::int64_t{9}));
  CHECK(binary("executorch_prim::sym_min.Scalar", 4.0, 9.0) == Number(4.0));
  CHECK(result_of(std::move(OperatorCall("executorch_prim::sym_not.Scalar").boolean(true)), 1) == Number(false));
  CHECK(result_of(std::move(OperatorCall("executorch_prim::sym_ite.Scalar").boolean(false).integer(1).number(2.5)),
                  3) == Number(2.5));
}

TEST_CASE("rounding a number gives an integer, halves to even") {
  CHECK(unary("executorch_prim::round.Scalar", 2.5) == Number(std::int64_t{2}));
  CHECK(unary("executorch_prim::ceil.Scalar", -2.5) == Number(std::int64_t{-2}));
  CHECK(unary("executorch_prim::trunc.Scalar", -2.5) == Number(std::int64_t{-2}));
  CHECK(unary("executorch_prim::sym_int.Scalar", 2.9) == Number(std::int64_t{2}));
  CHECK(unary("executorch_prim::neg.Scalar", 2.5) == Number(-2.5));
  CHECK(result_of(std::move(OperatorCall("executorch_prim::sym_float.Scalar").integer(3)), 1) == Number(3.0));
  CHECK_FALSE(OperatorCall("executorch_prim::ceil.Scalar").number(std::nan("")).none().run().has_value());
}

TEST_CASE("sizes and single elements of tensors become numbers") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(result_of(std::move(OperatorCall("aten::sym_size.int").tensor(x).integer(-1)), 2) == Number(std::int64_t{3}));
  CHECK(result_of(std::move(OperatorCall("aten::sym_numel").tensor(x)), 1) == Number(std::int64_t{6}));
  CHECK_FALSE(OperatorCall("aten::sym_size.int").tensor(x).integer(2).none().run().has_value());
  CHECK_FALSE(OperatorCall("aten::_local_scalar_dense").tensor(x).none().run().has_value());
  HostTensor half = make_tensor(DType::kFloat16, {}, {0.5});
  HostTensor flag = make_tensor(DType::kBool, {1}, {1});
  HostTensor whole = make_int64({}, {INT64_MAX});
  CHECK(result_of(std::move(OperatorCall("aten::_local_scalar_dense").tensor(half)), 1) == Number(0.5));
  CHECK(result_of(std::move(OperatorCall("aten::_local_scalar_dense").tensor(flag)), 1) == Number(true));
  CHECK(result_of(std::move(OperatorCall("aten::_local_scalar_dense").tensor(whole)), 1) == Number(INT64_MAX));
}

TEST_CASE("a view shares memory and works out one size") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor view(DType::kFloat32, {3, 2}, nullptr);
  REQUIRE_RESULT(OperatorCall("executorch_prim::et_view.default").tensor(x).integers({3, -1}).tensor(view).run());
  CHECK(view.raw_data() == x.view().raw_data());
  CHECK_FALSE(
      OperatorCall("executorch_prim::et_view.default").tensor(x).integers({4, -1}).tensor(view).run().has_value());
  CHECK_FALSE(
      OperatorCall("executorch_prim::et_view.default").tensor(x).integers({-1, -1}).tensor(view).run().has_value());
  CHECK_FALSE(OperatorCall("executorch_prim::et_view.default").tensor(x).integers({6}).tensor(view).run().has_value());
  Tensor wider(DType::kFloat64, {3, 2}, nullptr);
  CHECK_FALSE(
      OperatorCall("executorch_prim::et_view.default").tensor(x).integers({3, 2}).tensor(wider).run().has_value());
}

TEST_CASE("a loop collects its results row by row") {
  HostTensor rows = make_dynamic_output(DType::kFloat32, {3, 2});
  HostTensor row = make_tensor(DType::kFloat32, {2}, {1, 2});
  HostTensor next = make_tensor(DType::kFloat32, {2}, {3, 4});
  REQUIRE_RESULT(OperatorCall("executorch_prim::et_copy_index.tensor").tensor(rows).tensor(row).integer(0).run());
  CHECK(rows.view().shape() == Shape{1, 2});
  REQUIRE_RESULT(OperatorCall("executorch_prim::et_copy_index.tensor").tensor(rows).tensor(next).integer(1).run());
  CHECK(values_of(rows) == Values{1, 2, 3, 4});
  CHECK_FALSE(
      OperatorCall("executorch_prim::et_copy_index.tensor").tensor(rows).tensor(row).integer(3).run().has_value());
  CHECK_FALSE(
      OperatorCall("executorch_prim::et_copy_index.tensor").tensor(rows).tensor(row).integer(-1).run().has_value());
  HostTensor longer = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  CHECK_FALSE(
      OperatorCall("executorch_prim::et_copy_index.tensor").tensor(rows).tensor(longer).integer(2).run().has_value());
}

}  // namespace
}  // namespace pterun::test
