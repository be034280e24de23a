// Typed access to operator arguments.
#include "operators/arguments.h"

#include <limits>

namespace pterun::operators {

double Scalar::to_double() const {
  if (const bool* flag = std::get_if<bool>(&value_)) return *flag ? 1.0 : 0.0;
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  return std::get<double>(value_);
}

std::int64_t Scalar::to_int() const {
  if (const bool* flag = std::get_if<bool>(&value_)) return *flag ? 1 : 0;
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value_)) return *number;
  const double value = std::get<double>(value_);
  if (!(value >= -0x1p63 && value < 0x1p63)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

bool Scalar::to_bool() const {
  if (const bool* flag = std::get_if<bool>(&value_)) return *flag;
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value_)) return *number != 0;
  return std::get<double>(value_) != 0.0;
}

Error Arguments::error(ErrorCode code, std::string message) const {
  return make_error(code, std::string(name_) + ": " + std::move(message)).at("operator", std::string(name_));
}

Error Arguments::wrong_kind(std::size_t i, std::string_view wanted) const {
  return error(ErrorCode::kInvalidArgument, "argument " + std::to_string(i) + " is " +
                                                std::string(slots_[i]->kind_name()) + ", " + std::string(wanted) +
                                                " is needed");
}

Result<const Value*> Arguments::at(std::size_t i) const {
  if (i < slots_.size()) return slots_[i];
  return fail(error(ErrorCode::kInvalidProgram,
                    "argument " + std::to_string(i) + " is missing; the call has " + std::to_string(slots_.size())));
}

Result<void> Arguments::check_memory(const Tensor& tensor, std::size_t i) const {
  if (tensor.raw_data() != nullptr || tensor.numel() == 0) return {};
  return fail(error(ErrorCode::kInvalidState, "argument " + std::to_string(i) + " has no memory"));
}

Result<Tensor*> Arguments::tensor(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  Tensor* tensor = value->tensor();
  if (tensor == nullptr) return fail(wrong_kind(i, "a Tensor"));
  PTERUN_TRY(check_memory(*tensor, i));
  return tensor;
}

Result<Tensor*> Arguments::optional_tensor(std::size_t i) const {
  if (is_none(i)) return nullptr;
  return tensor(i);
}

Result<std::int64_t> Arguments::integer(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  if (const auto* number = value->get_if<std::int64_t>()) return *number;
  if (const auto* flag = value->get_if<bool>()) return *flag ? 1 : 0;
  return fail(wrong_kind(i, "an Int"));
}

Result<std::optional<std::int64_t>> Arguments::optional_integer(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  PTERUN_ASSIGN(const std::int64_t number, integer(i));
  return number;
}

Result<double> Arguments::number(std::size_t i) const {
  PTERUN_ASSIGN(const Scalar value, scalar(i));
  return value.to_double();
}

Result<std::optional<double>> Arguments::optional_number(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  PTERUN_ASSIGN(const double value, number(i));
  return value;
}

Result<bool> Arguments::boolean(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  if (const auto* flag = value->get_if<bool>()) return *flag;
  if (const auto* number = value->get_if<std::int64_t>()) return *number != 0;
  return fail(wrong_kind(i, "a Bool"));
}

Result<Scalar> Arguments::scalar(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  if (const auto* flag = value->get_if<bool>()) return Scalar(*flag);
  if (const auto* number = value->get_if<std::int64_t>()) return Scalar(*number);
  if (const auto* real = value->get_if<double>()) return Scalar(*real);
  return fail(wrong_kind(i, "a number"));
}

Result<std::optional<Scalar>> Arguments::optional_scalar(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  PTERUN_ASSIGN(const Scalar value, scalar(i));
  return value;
}

Result<std::optional<DType>> Arguments::optional_dtype(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  PTERUN_ASSIGN(const std::int64_t number, integer(i));
  const auto dtype = dtype_from_number(static_cast<int>(number));
  if (!dtype) {
    return fail(error(ErrorCode::kInvalidArgument,
                      "argument " + std::to_string(i) + ": " + std::to_string(number) + " is no dtype"));
  }
  return dtype;
}

Result<std::string_view> Arguments::string(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  if (const auto* text = value->get_if<std::string>()) return std::string_view(*text);
  return fail(wrong_kind(i, "a String"));
}

Result<Shape> Arguments::int_list(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  Shape numbers;
  if (const auto* list = value->get_if<IntList>()) {
    if (list->items.size() > kMaxRank) {
      return fail(error(ErrorCode::kNotSupported, "argument " + std::to_string(i) + " lists more than 16 numbers"));
    }
    for (const Value* item : list->items) {
      const auto* number = item->get_if<std::int64_t>();
      if (number == nullptr) return fail(wrong_kind(i, "a list of Ints"));
      numbers.push_back(*number);
    }
    return numbers;
  }
  if (const auto* number = value->get_if<std::int64_t>()) {
    numbers.push_back(*number);
    return numbers;
  }
  return fail(wrong_kind(i, "an IntList"));
}

Result<std::optional<Shape>> Arguments::optional_int_list(std::size_t i) const {
  if (is_none(i)) return std::nullopt;
  PTERUN_ASSIGN(const Shape numbers, int_list(i));
  return numbers;
}

Result<std::vector<double>> Arguments::double_list(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  if (const auto* list = value->get_if<DoubleList>()) return list->items;
  return fail(wrong_kind(i, "a DoubleList"));
}

Result<std::vector<bool>> Arguments::bool_list(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  if (const auto* list = value->get_if<BoolList>()) return list->items;
  return fail(wrong_kind(i, "a BoolList"));
}

Result<std::vector<Tensor*>> Arguments::tensor_list(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  const auto* list = value->get_if<TensorList>();
  if (list == nullptr) return fail(wrong_kind(i, "a TensorList"));
  std::vector<Tensor*> tensors;
  for (const Value* item : list->items) {
    Tensor* tensor = item->tensor();
    if (tensor == nullptr) return fail(wrong_kind(i, "a list of Tensors"));
    PTERUN_TRY(check_memory(*tensor, i));
    tensors.push_back(tensor);
  }
  return tensors;
}

Result<std::vector<Tensor*>> Arguments::optional_tensor_list(std::size_t i) const {
  PTERUN_ASSIGN(const Value* value, at(i));
  std::vector<Tensor*> tensors;
  if (const auto* list = value->get_if<OptionalTensorList>()) {
    for (const Value* item : list->items) {
      Tensor* tensor = item == nullptr ? nullptr : item->tensor();
      if (tensor != nullptr) PTERUN_TRY(check_memory(*tensor, i));
      tensors.push_back(tensor);
    }
    return tensors;
  }
  return tensor_list(i);
}

}  // namespace pterun::operators
