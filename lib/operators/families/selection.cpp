// where and masked_fill: a condition chooses between two operands.
#include "operators/complex_elementwise.h"
#include "operators/elementwise.h"
#include "operators/families/families.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kConditions = {DType::kBool, DType::kUInt8};

// (condition, self, other)
Result<void> where_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 3)) {
    PTERUN_ASSIGN(const Tensor* condition, arguments.tensor(0));
    PTERUN_ASSIGN(const Tensor* a, arguments.tensor(1));
    PTERUN_ASSIGN(const Tensor* b, arguments.tensor(2));
    PTERUN_TRY(check_dtype(arguments, 0, *condition, kConditions));
    Promotion promotion;
    promotion.add(*a);
    promotion.add(*b);
    return complex_select(arguments, 0, 1, 2, promotion.result(), 3);
  }
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_unpromoted(0, kConditions));
  PTERUN_TRY(call.add_tensor(1));
  PTERUN_TRY(call.add_tensor(2));
  const DType common = call.promoted();
  PTERUN_TRY(call.set_output(3, common));
  visit_compute(common, [&]<typename T>() {
    call.map<T(Truth, T, T)>(common, [](Truth condition, T a, T b) { return condition != 0 ? a : b; });
  });
  return {};
}

// (self, mask, value): the value is rounded to self's dtype.
Result<void> masked_fill_out(ExecuteContext& context, const Arguments& arguments) {
  if (has_complex(arguments, 1)) {
    PTERUN_ASSIGN(const Tensor* mask, arguments.tensor(1));
    PTERUN_TRY(check_dtype(arguments, 1, *mask, kBoolOnly));
    return complex_select(arguments, 1, 2, 0, arguments.slot(0).tensor()->dtype(), 3);
  }
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0));
  PTERUN_TRY(call.add_unpromoted(1, kBoolOnly));
  PTERUN_ASSIGN(const Scalar value, arguments.scalar(2));
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(3, dtype));
  visit_compute(dtype, [&]<typename T>() {
    const T fill = scalar_rounded<T>(value, dtype);
    call.map<T(T, Truth)>(dtype, [fill](T x, Truth masked) { return masked != 0 ? fill : x; });
  });
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::where.self_out", .dtypes = kAnyDType, .function = where_out},
    {.name = "aten::masked_fill.Scalar_out", .dtypes = kAnyDType, .function = masked_fill_out},
};

}  // namespace

std::span<const OperatorRow> selection_family() {
  return kRows;
}

}  // namespace pterun::operators
