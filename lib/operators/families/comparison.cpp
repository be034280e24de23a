// eq, ne, lt, le, gt, ge: compared in the promoted dtype, so that 300 meets a uint8 as 44, as in eager.
#include <functional>

#include "operators/complex_elementwise.h"
#include "operators/elementwise.h"
#include "operators/families/families.h"

namespace pterun::operators {
namespace {

template <bool kScalar, typename Compare>
Result<void> compare_out(ExecuteContext& context, const Arguments& arguments) {
  constexpr bool kOrder = !std::is_same_v<Compare, std::equal_to<>> && !std::is_same_v<Compare, std::not_equal_to<>>;
  constexpr DTypeSet kAllowed = kOrder ? kOrdered : kAllDTypes;
  if constexpr (!kOrder) {
    if (has_complex(arguments, 2))
      return complex_compare(arguments, 2, [](Complex a, Complex b) { return Compare{}(a, b); });
  }
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kAllowed));
  PTERUN_TRY(kScalar ? call.add_scalar(1) : call.add_tensor(1, kAllowed));
  const DType common = call.promoted();
  PTERUN_TRY(call.set_output(2, DType::kBool));
  visit_compute(common, [&]<typename T>() { call.map<Truth(T, T)>(common, [](T a, T b) { return Compare{}(a, b); }); });
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::eq.Tensor_out", .dtypes = kAnyDType, .function = compare_out<false, std::equal_to<>>},
    {.name = "aten::eq.Scalar_out", .dtypes = kAnyDType, .function = compare_out<true, std::equal_to<>>},
    {.name = "aten::ne.Tensor_out", .dtypes = kAnyDType, .function = compare_out<false, std::not_equal_to<>>},
    {.name = "aten::ne.Scalar_out", .dtypes = kAnyDType, .function = compare_out<true, std::not_equal_to<>>},
    {.name = "aten::lt.Tensor_out", .dtypes = kOrdered, .function = compare_out<false, std::less<>>},
    {.name = "aten::lt.Scalar_out", .dtypes = kOrdered, .function = compare_out<true, std::less<>>},
    {.name = "aten::le.Tensor_out", .dtypes = kOrdered, .function = compare_out<false, std::less_equal<>>},
    {.name = "aten::le.Scalar_out", .dtypes = kOrdered, .function = compare_out<true, std::less_equal<>>},
    {.name = "aten::gt.Tensor_out", .dtypes = kOrdered, .function = compare_out<false, std::greater<>>},
    {.name = "aten::gt.Scalar_out", .dtypes = kOrdered, .function = compare_out<true, std::greater<>>},
    {.name = "aten::ge.Tensor_out", .dtypes = kOrdered, .function = compare_out<false, std::greater_equal<>>},
    {.name = "aten::ge.Scalar_out", .dtypes = kOrdered, .function = compare_out<true, std::greater_equal<>>},
};

}  // namespace

std::span<const OperatorRow> comparison_family() {
  return kRows;
}

}  // namespace pterun::operators
