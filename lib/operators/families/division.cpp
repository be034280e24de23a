// div with its rounding modes, floor_divide, fmod, remainder. Integers divide truly into floats, and an integer
// division by zero is an error, as in eager.
#include <algorithm>
#include <cmath>

#include "operators/complex_elementwise.h"
#include "operators/elementwise.h"
#include "operators/families/families.h"
#include "operators/float_math.h"

namespace pterun::operators {
namespace {

enum class Division : std::uint8_t { kTrue, kTruncate, kFloor, kTruncateRemainder, kFloorRemainder };

template <typename T>
T divide(Division division, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    switch (division) {
      case Division::kTrue:
      case Division::kTruncate: return truncate_divide(a, b);
      case Division::kFloor: return floor_divide(a, b);
      case Division::kTruncateRemainder: return truncate_remainder(a, b);
      case Division::kFloorRemainder: return floor_remainder(a, b);
    }
  } else {
    switch (division) {
      case Division::kTrue: return a / b;
      case Division::kTruncate: return std::trunc(a / b);
      case Division::kFloor: return floor_divide(a, b);
      case Division::kTruncateRemainder: return std::fmod(a, b);
      case Division::kFloorRemainder: return floor_remainder(a, b);
    }
  }
  return T{};
}

Error zero_divisor(const Arguments& arguments) {
  return arguments.error(ErrorCode::kInvalidArgument, "integer division by zero");
}

// A divisor may become 0 only when it is rounded to the common integer dtype: 256 in uint8.
Result<void> check_divisor(const Arguments& arguments, DType common) {
  const Tensor* divisor = arguments.slot(1).tensor();
  if (divisor == nullptr) {
    PTERUN_ASSIGN(const Scalar number, arguments.scalar(1));
    if (scalar_rounded<std::int64_t>(number, common) == 0) return fail(zero_divisor(arguments));
    return {};
  }
  const auto* data = static_cast<const std::byte*>(divisor->raw_data());
  const auto count = static_cast<std::size_t>(divisor->numel());
  alignas(8) std::byte rounded[kBlock * 8];
  std::int64_t block[kBlock];
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t n = std::min(kBlock, count - done);
    convert_elements(divisor->dtype(), data + done * dtype_size(divisor->dtype()), common, rounded, n);
    load_as(common, rounded, 1, block, n);
    if (std::find(block, block + n, 0) != block + n) return fail(zero_divisor(arguments));
  }
  return {};
}

Result<void> run_division(ExecuteContext& context, const Arguments& arguments, bool scalar, Division division,
                          std::size_t out) {
  if (division == Division::kTrue && has_complex(arguments, 2)) {
    return complex_binary(arguments, out, [](Complex a, Complex b) { return operators::divide(a, b); });
  }
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrdered));
  PTERUN_TRY(scalar ? call.add_scalar(1) : call.add_tensor(1, kOrdered));
  const DType common = division == Division::kTrue ? float_result(call.promoted()) : call.promoted();
  if (common == DType::kBool) {
    return fail(arguments.error(ErrorCode::kInvalidType, "bool cannot be divided by bool with rounding"));
  }
  PTERUN_TRY(call.set_output(out, common));
  if (division == Division::kTrue) {
    call.keep_scalars_exact();
    visit_float_compute(common, [&]<typename T>() { call.map<T(T, T)>(common, [](T a, T b) { return a / b; }); });
    return {};
  }
  PTERUN_ASSIGN(const Tensor* output, arguments.tensor(out));
  if (!is_floating(common) && output->numel() != 0) PTERUN_TRY(check_divisor(arguments, common));
  visit_compute(common, [&]<typename T>() {
    call.map<T(T, T)>(common, [division](T a, T b) { return divide(division, a, b); });
  });
  return {};
}

template <bool kScalar, Division kDivision>
Result<void> division_out(ExecuteContext& context, const Arguments& arguments) {
  return run_division(context, arguments, kScalar, kDivision, 2);
}

// rounding_mode is None, "trunc" or "floor".
template <bool kScalar>
Result<void> division_mode_out(ExecuteContext& context, const Arguments& arguments) {
  Division division = Division::kTrue;
  if (!arguments.is_none(2)) {
    PTERUN_ASSIGN(const std::string_view mode, arguments.string(2));
    if (mode != "trunc" && mode != "floor") {
      return fail(arguments.error(ErrorCode::kInvalidArgument,
                                  "rounding mode '" + std::string(mode) + "' is neither 'trunc' nor 'floor'"));
    }
    division = mode == "trunc" ? Division::kTruncate : Division::kFloor;
  }
  return run_division(context, arguments, kScalar, division, 3);
}

constexpr Division kFmod = Division::kTruncateRemainder;
constexpr Division kRemainder = Division::kFloorRemainder;

const OperatorRow kRows[] = {
    {.name = "aten::div.out", .dtypes = kOrdered | kComplex, .function = division_out<false, Division::kTrue>},
    {.name = "aten::div.Scalar_out", .dtypes = kOrdered | kComplex, .function = division_out<true, Division::kTrue>},
    {.name = "aten::div.out_mode", .dtypes = kOrderedNumbers, .function = division_mode_out<false>},
    {.name = "aten::div.Scalar_mode_out", .dtypes = kOrderedNumbers, .function = division_mode_out<true>},
    {.name = "aten::floor_divide.out", .dtypes = kOrderedNumbers, .function = division_out<false, Division::kFloor>},
    {.name = "aten::fmod.Tensor_out", .dtypes = kOrderedNumbers, .function = division_out<false, kFmod>},
    {.name = "aten::fmod.Scalar_out", .dtypes = kOrderedNumbers, .function = division_out<true, kFmod>},
    {.name = "aten::remainder.Tensor_out", .dtypes = kOrderedNumbers, .function = division_out<false, kRemainder>},
    {.name = "aten::remainder.Scalar_out", .dtypes = kOrderedNumbers, .function = division_out<true, kRemainder>},
};

}  // namespace

std::span<const OperatorRow> division_family() {
  return kRows;
}

}  // namespace pterun::operators
