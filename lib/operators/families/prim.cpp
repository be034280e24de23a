// Operators on numbers, which control flow and dynamic shapes are made of. The result replaces the value in the last
// slot. Division and modulo are Python's: they round towards minus infinity, and a zero divisor is an error.
#include <cmath>

#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/float_math.h"

namespace pterun::operators {
namespace {

Result<void> give(const Arguments& arguments, Value::Payload payload) {
  if (arguments.size() == 0) return fail(arguments.error(ErrorCode::kInvalidProgram, "the call has no output"));
  arguments.slot(arguments.size() - 1).set(std::move(payload));
  return {};
}

Result<void> give(const Arguments& arguments, const Scalar& number) {
  if (number.is_bool()) return give(arguments, Value::Payload(number.to_bool()));
  if (number.is_int()) return give(arguments, Value::Payload(number.to_int()));
  return give(arguments, Value::Payload(number.to_double()));
}

// Two numbers: both as integers when neither is a float, else both as doubles.
struct Pair {
  Scalar a;
  Scalar b;
  bool whole() const { return !a.is_double() && !b.is_double(); }
};

Result<Pair> pair(const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar a, arguments.scalar(0));
  PTERUN_ASSIGN(const Scalar b, arguments.scalar(1));
  return Pair{a, b};
}

Result<void> check_divisor(const Arguments& arguments, const Scalar& divisor) {
  if (divisor.to_double() != 0) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument, "division by zero"));
}

template <typename Operation>
Result<void> arithmetic(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Pair operands, pair(arguments));
  if constexpr (Operation::kDivides) PTERUN_TRY(check_divisor(arguments, operands.b));
  const Operation operation;
  if (operands.whole()) return give(arguments, Scalar(operation(operands.a.to_int(), operands.b.to_int())));
  return give(arguments, Scalar(operation(operands.a.to_double(), operands.b.to_double())));
}

struct Add {
  static constexpr bool kDivides = false;
  template <typename T>
  T operator()(T a, T b) const {
    return wrap_add(a, b);
  }
};
struct Subtract {
  static constexpr bool kDivides = false;
  template <typename T>
  T operator()(T a, T b) const {
    return wrap_sub(a, b);
  }
};
struct Multiply {
  static constexpr bool kDivides = false;
  template <typename T>
  T operator()(T a, T b) const {
    return wrap_mul(a, b);
  }
};
struct FloorDivide {
  static constexpr bool kDivides = true;
  template <typename T>
  T operator()(T a, T b) const {
    return floor_divide(a, b);
  }
};
struct Modulo {
  static constexpr bool kDivides = true;
  template <typename T>
  T operator()(T a, T b) const {
    return floor_remainder(a, b);
  }
};
struct Maximum {
  static constexpr bool kDivides = false;
  template <typename T>
  T operator()(T a, T b) const {
    return nan_max(a, b);
  }
};
struct Minimum {
  static constexpr bool kDivides = false;
  template <typename T>
  T operator()(T a, T b) const {
    return nan_min(a, b);
  }
};

Result<void> true_divide(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Pair operands, pair(arguments));
  PTERUN_TRY(check_divisor(arguments, operands.b));
  return give(arguments, Scalar(operands.a.to_double() / operands.b.to_double()));
}

template <typename Compare>
Result<void> compare(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Pair operands, pair(arguments));
  const bool holds = operands.whole() ? Compare{}(operands.a.to_int(), operands.b.to_int())
                                      : Compare{}(operands.a.to_double(), operands.b.to_double());
  return give(arguments, Scalar(holds));
}

Result<void> negate(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar number, arguments.scalar(0));
  if (number.is_double()) return give(arguments, Scalar(-number.to_double()));
  return give(arguments, Scalar(wrap_sub(std::int64_t{0}, number.to_int())));
}

// ceil, round (halves to even), trunc of a number, as an integer.
template <double (*kRound)(double)>
Result<void> round_to_integer(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar number, arguments.scalar(0));
  if (!number.is_double()) return give(arguments, Scalar(number.to_int()));
  const double rounded = kRound(number.to_double());
  if (!(rounded >= -0x1p63 && rounded < 0x1p63)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, std::to_string(rounded) + " is no 64-bit integer"));
  }
  return give(arguments, Scalar(static_cast<std::int64_t>(rounded)));
}

double ceiling(double value) {
  return std::ceil(value);
}
double to_even(double value) {
  return std::nearbyint(value);
}
double truncated(double value) {
  return std::trunc(value);
}

Result<void> to_float(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar number, arguments.scalar(0));
  return give(arguments, Scalar(number.to_double()));
}

Result<void> logical_not(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar number, arguments.scalar(0));
  return give(arguments, Scalar(!number.to_bool()));
}

// (condition, then, else)
Result<void> if_then_else(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const bool condition, arguments.boolean(0));
  PTERUN_ASSIGN(const Scalar chosen, arguments.scalar(condition ? 1 : 2));
  return give(arguments, chosen);
}

Result<const Tensor*> any_tensor(const Arguments& arguments) {
  const Tensor* tensor = arguments.size() == 0 ? nullptr : arguments.slot(0).tensor();
  if (tensor != nullptr) return tensor;
  PTERUN_ASSIGN(tensor, arguments.tensor(0));  // says what is wrong
  return tensor;
}

// (tensor, dim)
Result<void> sym_size(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* tensor, any_tensor(arguments));
  PTERUN_ASSIGN(const std::int64_t dim, arguments.integer(1));
  const auto rank = static_cast<std::int64_t>(tensor->rank());
  if (dim < -rank || dim >= rank) {
    return fail(
        arguments.error(ErrorCode::kInvalidArgument, "dimension " + std::to_string(dim) + " of " + tensor->describe()));
  }
  return give(arguments, Scalar(tensor->size(static_cast<std::size_t>(dim < 0 ? dim + rank : dim))));
}

Result<void> sym_numel(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* tensor, any_tensor(arguments));
  return give(arguments, Scalar(tensor->numel()));
}

// The only element of a tensor, as a number.
Result<void> local_scalar_dense(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* tensor, arguments.tensor(0));
  if (tensor->numel() != 1 || !kAllDTypes.contains(tensor->dtype())) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, tensor->describe() + " is not one number"));
  }
  const DType dtype = tensor->dtype();
  if (is_floating(dtype)) return give(arguments, Scalar(load_one<double>(dtype, tensor->raw_data())));
  const auto value = load_one<std::int64_t>(dtype, tensor->raw_data());
  if (dtype == DType::kBool) return give(arguments, Scalar(value != 0));
  return give(arguments, Scalar(value));
}

constexpr DTypeSet kNone = {};

const OperatorRow kRows[] = {
    {.name = "aten::sym_size.int", .dtypes = kAllDTypes, .function = sym_size},
    {.name = "aten::sym_numel", .dtypes = kAllDTypes, .function = sym_numel},
    {.name = "aten::_local_scalar_dense", .dtypes = kAllDTypes, .function = local_scalar_dense},
    {.name = "executorch_prim::add.Scalar", .dtypes = kNone, .function = arithmetic<Add>},
    {.name = "executorch_prim::sub.Scalar", .dtypes = kNone, .function = arithmetic<Subtract>},
    {.name = "executorch_prim::mul.Scalar", .dtypes = kNone, .function = arithmetic<Multiply>},
    {.name = "executorch_prim::floordiv.Scalar", .dtypes = kNone, .function = arithmetic<FloorDivide>},
    {.name = "executorch_prim::floordiv.int", .dtypes = kNone, .function = arithmetic<FloorDivide>},
    {.name = "executorch_prim::truediv.Scalar", .dtypes = kNone, .function = true_divide},
    {.name = "executorch_prim::mod.Scalar", .dtypes = kNone, .function = arithmetic<Modulo>},
    {.name = "executorch_prim::mod.int", .dtypes = kNone, .function = arithmetic<Modulo>},
    {.name = "executorch_prim::sym_max.Scalar", .dtypes = kNone, .function = arithmetic<Maximum>},
    {.name = "executorch_prim::sym_min.Scalar", .dtypes = kNone, .function = arithmetic<Minimum>},
    {.name = "executorch_prim::eq.Scalar", .dtypes = kNone, .function = compare<std::equal_to<>>},
    {.name = "executorch_prim::gt.Scalar", .dtypes = kNone, .function = compare<std::greater<>>},
    {.name = "executorch_prim::lt.Scalar", .dtypes = kNone, .function = compare<std::less<>>},
    {.name = "executorch_prim::le.Scalar", .dtypes = kNone, .function = compare<std::less_equal<>>},
    {.name = "executorch_prim::ge.Scalar", .dtypes = kNone, .function = compare<std::greater_equal<>>},
    {.name = "executorch_prim::neg.Scalar", .dtypes = kNone, .function = negate},
    {.name = "executorch_prim::ceil.Scalar", .dtypes = kNone, .function = round_to_integer<ceiling>},
    {.name = "executorch_prim::round.Scalar", .dtypes = kNone, .function = round_to_integer<to_even>},
    {.name = "executorch_prim::trunc.Scalar", .dtypes = kNone, .function = round_to_integer<truncated>},
    {.name = "executorch_prim::sym_int.Scalar", .dtypes = kNone, .function = round_to_integer<truncated>},
    {.name = "executorch_prim::sym_float.Scalar", .dtypes = kNone, .function = to_float},
    {.name = "executorch_prim::sym_not.Scalar", .dtypes = kNone, .function = logical_not},
    {.name = "executorch_prim::sym_ite.Scalar", .dtypes = kNone, .function = if_then_else},
};

}  // namespace

std::span<const OperatorRow> prim_family() {
  return kRows;
}

}  // namespace pterun::operators
