// logical_*, bitwise_* and shifts.
#include <functional>

#include "operators/elementwise.h"
#include "operators/families/families.h"

namespace pterun::operators {
namespace {

// Any dtype in, "!= 0" decides; the output's dtype is free as well.
template <typename Combine>
Result<void> logical_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kAnyDType));
  PTERUN_TRY(call.add_tensor(1, kAnyDType));
  PTERUN_TRY(call.set_output(2, DType::kBool));
  call.map<Truth(Truth, Truth)>(DType::kBool, [](Truth a, Truth b) { return Combine{}(a, b); });
  return {};
}

Result<void> logical_not_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kAnyDType));
  PTERUN_TRY(call.set_output(1, DType::kBool));
  call.map<Truth(Truth)>(DType::kBool, [](Truth a) { return a ^ 1; });
  return {};
}

template <bool kScalar, typename Combine>
Result<void> bitwise_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kIntegersAndBool));
  PTERUN_TRY(kScalar ? call.add_scalar(1) : call.add_tensor(1, kIntegersAndBool));
  const DType common = call.promoted();
  if (is_floating(common)) return fail(arguments.error(ErrorCode::kInvalidType, "a float has no bitwise operation"));
  PTERUN_TRY(call.set_output(2, common));
  using Int = std::int64_t;
  call.map<Int(Int, Int)>(common, [](Int a, Int b) { return Combine{}(a, b); });
  return {};
}

Result<void> bitwise_not_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kIntegersAndBool));
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(1, dtype));
  if (dtype == DType::kBool) {
    call.map<Truth(Truth)>(dtype, [](Truth a) { return a ^ 1; });
  } else {
    call.map<std::int64_t(std::int64_t)>(dtype, [](std::int64_t a) { return ~a; });
  }
  return {};
}

// Shifting out of the dtype's width gives 0 to the left and the sign to the right; so does a negative distance.
template <bool kScalar, bool kLeft>
Result<void> shift_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kIntegersAndBool));
  PTERUN_TRY(kScalar ? call.add_scalar(1) : call.add_tensor(1, kIntegersAndBool));
  const DType common = call.promoted();
  if (is_floating(common) || common == DType::kBool || common == DType::kUInt64) {
    return fail(arguments.error(ErrorCode::kInvalidType, std::string(dtype_name(common)) + " cannot be shifted"));
  }
  PTERUN_TRY(call.set_output(2, common));
  using Int = std::int64_t;
  const Int bits = static_cast<Int>(dtype_size(common)) * 8;
  if constexpr (kLeft) {
    call.map<Int(Int, Int)>(common, [bits](Int a, Int b) {
      const bool inside = b >= 0 && b < bits;
      return inside ? static_cast<Int>(static_cast<std::uint64_t>(a) << (inside ? b : 0)) : Int{0};
    });
  } else {
    // An unsigned value is not negative as int64, so that 63 shifts it out.
    call.map<Int(Int, Int)>(common, [bits](Int a, Int b) { return a >> (b >= 0 && b < bits ? b : 63); });
  }
  return {};
}

using And = std::bit_and<>;
using Or = std::bit_or<>;
using Xor = std::bit_xor<>;
constexpr DTypeSet kShiftable = kIntegers | DTypeSet{DType::kUInt16, DType::kUInt32};

const OperatorRow kRows[] = {
    {.name = "aten::logical_and.out", .dtypes = kAnyDType, .function = logical_out<And>},
    {.name = "aten::logical_or.out", .dtypes = kAnyDType, .function = logical_out<Or>},
    {.name = "aten::logical_xor.out", .dtypes = kAnyDType, .function = logical_out<Xor>},
    {.name = "aten::logical_not.out", .dtypes = kAnyDType, .function = logical_not_out},
    {.name = "aten::bitwise_and.Tensor_out", .dtypes = kIntegersAndBool, .function = bitwise_out<false, And>},
    {.name = "aten::bitwise_and.Scalar_out", .dtypes = kIntegersAndBool, .function = bitwise_out<true, And>},
    {.name = "aten::bitwise_or.Tensor_out", .dtypes = kIntegersAndBool, .function = bitwise_out<false, Or>},
    {.name = "aten::bitwise_or.Scalar_out", .dtypes = kIntegersAndBool, .function = bitwise_out<true, Or>},
    {.name = "aten::bitwise_xor.Tensor_out", .dtypes = kIntegersAndBool, .function = bitwise_out<false, Xor>},
    {.name = "aten::bitwise_xor.Scalar_out", .dtypes = kIntegersAndBool, .function = bitwise_out<true, Xor>},
    {.name = "aten::bitwise_not.out", .dtypes = kIntegersAndBool, .function = bitwise_not_out},
    {.name = "aten::bitwise_left_shift.Tensor_out", .dtypes = kShiftable, .function = shift_out<false, true>},
    {.name = "aten::bitwise_left_shift.Tensor_Scalar_out", .dtypes = kShiftable, .function = shift_out<true, true>},
    {.name = "aten::bitwise_right_shift.Tensor_out", .dtypes = kShiftable, .function = shift_out<false, false>},
    {.name = "aten::bitwise_right_shift.Tensor_Scalar_out", .dtypes = kShiftable, .function = shift_out<true, false>},
};

}  // namespace

std::span<const OperatorRow> logic_family() {
  return kRows;
}

}  // namespace pterun::operators
