// elu, gelu, hardtanh, leaky_relu, clamp.
#include <cmath>
#include <numbers>

#include "operators/elementwise.h"
#include "operators/families/families.h"
#include "operators/float_math.h"
#include "operators/vector_math.h"

namespace pterun::operators {
namespace {

// (self, alpha, scale, input_scale): scale x where x > 0, else scale alpha (e^(input_scale x) - 1).
Result<void> elu_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kFloats));
  PTERUN_ASSIGN(const double alpha, arguments.number(1));
  PTERUN_ASSIGN(const double scale, arguments.number(2));
  PTERUN_ASSIGN(const double input_scale, arguments.number(3));
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(4, dtype));
  visit_float_compute(dtype, [&]<typename T>() {
    const T negative = static_cast<T>(alpha * scale);
    const T positive = static_cast<T>(scale);
    const T inner = static_cast<T>(input_scale);
    call.map_heavy<T(T)>(dtype, [=](T x) {
      const T bent = vector_expm1(x * inner) * negative;
      return x < 0 ? bent : x * positive;
    });
  });
  return {};
}

template <typename T>
[[gnu::always_inline]] inline T gelu(T x) {
  return x * T{0.5} * (1 + vector_erf(x * static_cast<T>(std::numbers::sqrt2 / 2)));
}

template <typename T>
[[gnu::always_inline]] inline T gelu_tanh(T x) {
  constexpr T kBeta = static_cast<T>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  return x * T{0.5} * (1 + vector_tanh(kBeta * (x + static_cast<T>(0.044715) * x * x * x)));
}

Result<void> gelu_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kFloats));
  PTERUN_ASSIGN(const std::string_view approximate, arguments.string(1));
  if (approximate != "none" && approximate != "tanh") {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "approximation '" + std::string(approximate) + "' is neither 'none' nor 'tanh'"));
  }
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(2, dtype));
  visit_float_compute(dtype, [&]<typename T>() {
    if (approximate == "tanh") {
      call.map_heavy<T(T)>(dtype, [](T x) { return gelu_tanh(x); });
    } else {
      call.map_heavy<T(T)>(dtype, [](T x) { return gelu(x); });
    }
  });
  return {};
}

Result<void> leaky_relu_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kFloats));
  PTERUN_ASSIGN(const double slope, arguments.number(1));
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(2, dtype));
  visit_float_compute(dtype, [&]<typename T>() {
    const T negative = static_cast<T>(slope);
    call.map<T(T)>(dtype, [negative](T x) { return x > 0 ? x : x * negative; });
  });
  return {};
}

// A NaN in x stays; where the limits cross, the upper one wins. A limit that is NaN makes everything NaN; one that is
// None does not limit.
template <typename T>
void map_limits(Elementwise& call, DType common, std::optional<T> least, std::optional<T> most) {
  if ((least && *least != *least) || (most && *most != *most)) {
    call.map<T(T)>(common, [](T) { return std::numeric_limits<T>::quiet_NaN(); });
  } else if (least && most) {
    call.map<T(T)>(common, [low = *least, high = *most](T x) {
      const T raised = x < low ? low : x;
      return raised > high ? high : raised;
    });
  } else if (least) {
    call.map<T(T)>(common, [bound = *least](T x) { return x < bound ? bound : x; });
  } else if (most) {
    call.map<T(T)>(common, [bound = *most](T x) { return x > bound ? bound : x; });
  } else {
    call.map<T(T)>(common, [](T x) { return x; });
  }
}

// The limits are numbers of self's dtype; the result has it too.
Result<void> hardtanh_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrderedNumbers));
  PTERUN_ASSIGN(const Scalar low, arguments.scalar(1));
  PTERUN_ASSIGN(const Scalar high, arguments.scalar(2));
  const DType dtype = call.promoted();
  PTERUN_TRY(call.set_output(3, dtype));
  visit_compute(dtype, [&]<typename T>() {
    map_limits<T>(call, dtype, scalar_rounded<T>(low, dtype), scalar_rounded<T>(high, dtype));
  });
  return {};
}

template <typename T>
std::optional<T> limit(const std::optional<Scalar>& scalar, DType common) {
  if (!scalar) return std::nullopt;
  return scalar_rounded<T>(*scalar, common);
}

Result<void> clamp_out(ExecuteContext& context, const Arguments& arguments) {
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrdered));
  PTERUN_ASSIGN(const std::optional<Scalar> low, arguments.optional_scalar(1));
  PTERUN_ASSIGN(const std::optional<Scalar> high, arguments.optional_scalar(2));
  Promotion promotion;
  promotion.add(**arguments.tensor(0));
  if (low) promotion.add(*low);
  if (high) promotion.add(*high);
  const DType common = promotion.result();
  PTERUN_TRY(call.set_output(3, common));
  visit_compute(common,
                [&]<typename T>() { map_limits<T>(call, common, limit<T>(low, common), limit<T>(high, common)); });
  return {};
}

// min(max(self, low), high) with NaN on any side winning; either limit may be None.
Result<void> clamp_tensor_out(ExecuteContext& context, const Arguments& arguments) {
  const bool has_low = !arguments.is_none(1);
  const bool has_high = !arguments.is_none(2);
  Elementwise call(context, arguments);
  PTERUN_TRY(call.add_tensor(0, kOrdered));
  if (has_low) PTERUN_TRY(call.add_tensor(1, kOrdered));
  if (has_high) PTERUN_TRY(call.add_tensor(2, kOrdered));
  const DType common = call.promoted();
  PTERUN_TRY(call.set_output(3, common));
  visit_compute(common, [&]<typename T>() {
    if (has_low && has_high) {
      call.map<T(T, T, T)>(common, [](T x, T low, T high) { return nan_min(nan_max(x, low), high); });
    } else if (has_low) {
      call.map<T(T, T)>(common, [](T x, T low) { return nan_max(x, low); });
    } else if (has_high) {
      call.map<T(T, T)>(common, [](T x, T high) { return nan_min(x, high); });
    } else {
      call.map<T(T)>(common, [](T x) { return x; });
    }
  });
  return {};
}

const OperatorRow kRows[] = {
    {.name = "aten::elu.out", .dtypes = kFloats, .function = elu_out},
    {.name = "aten::gelu.out", .dtypes = kFloats, .function = gelu_out},
    {.name = "aten::leaky_relu.out", .dtypes = kFloats, .function = leaky_relu_out},
    {.name = "aten::hardtanh.out", .dtypes = kOrderedNumbers, .function = hardtanh_out},
    {.name = "aten::clamp.out", .dtypes = kOrdered, .function = clamp_out},
    {.name = "aten::clamp.Tensor_out", .dtypes = kOrdered, .function = clamp_tensor_out},
};

}  // namespace

std::span<const OperatorRow> activation_family() {
  return kRows;
}

}  // namespace pterun::operators
