// The arguments of one operator call: typed access to a method's slots, with errors that name operator and position.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "tensor/value.h"

namespace pterun::operators {

// PyTorch's Scalar: a Python number whose kind takes part in type promotion.
class Scalar {
 public:
  Scalar(bool value) : value_(value) {}          // NOLINT: implicit on purpose, like Python's
  Scalar(std::int64_t value) : value_(value) {}  // NOLINT
  Scalar(double value) : value_(value) {}        // NOLINT
  bool is_bool() const { return value_.index() == 0; }
  bool is_int() const { return value_.index() == 1; }
  bool is_double() const { return value_.index() == 2; }
  double to_double() const;
  std::int64_t to_int() const;  // doubles truncate; out of range and NaN give what a C cast on x86-64 gives
  bool to_bool() const;

 private:
  std::variant<bool, std::int64_t, double> value_;
};

class Arguments {
 public:
  Arguments(std::string_view operator_name, std::span<Value* const> slots) : name_(operator_name), slots_(slots) {}

  std::string_view operator_name() const { return name_; }
  std::size_t size() const { return slots_.size(); }
  Value& slot(std::size_t i) const { return *slots_[i]; }
  bool is_none(std::size_t i) const { return i >= slots_.size() || slots_[i]->is_none(); }

  // Errors of all: kInvalidArgument "aten::add.out: argument 1 is None, a Tensor is needed".
  Result<Tensor*> tensor(std::size_t i) const;
  Result<Tensor*> optional_tensor(std::size_t i) const;  // null for None
  Result<std::int64_t> integer(std::size_t i) const;     // Int, or a Bool as 0 / 1
  Result<std::optional<std::int64_t>> optional_integer(std::size_t i) const;
  Result<double> number(std::size_t i) const;  // Double, Int or Bool
  Result<std::optional<double>> optional_number(std::size_t i) const;
  Result<bool> boolean(std::size_t i) const;
  Result<Scalar> scalar(std::size_t i) const;
  Result<std::optional<Scalar>> optional_scalar(std::size_t i) const;
  Result<std::optional<DType>> optional_dtype(std::size_t i) const;  // an Int with a ScalarType number, or None
  Result<std::string_view> string(std::size_t i) const;
  Result<Shape> int_list(std::size_t i) const;  // at most kMaxRank items; one Int counts as a list
  Result<std::optional<Shape>> optional_int_list(std::size_t i) const;
  Result<std::vector<double>> double_list(std::size_t i) const;
  Result<std::vector<bool>> bool_list(std::size_t i) const;
  Result<std::vector<Tensor*>> tensor_list(std::size_t i) const;
  Result<std::vector<Tensor*>> optional_tensor_list(std::size_t i) const;  // null items are None

  // An error of this call: "aten::add.out: " + message, place "operator".
  Error error(ErrorCode code, std::string message) const;

 private:
  Result<const Value*> at(std::size_t i) const;
  Result<void> check_memory(const Tensor& tensor, std::size_t i) const;  // none after a Free instruction
  Error wrong_kind(std::size_t i, std::string_view wanted) const;

  std::string_view name_;
  std::span<Value* const> slots_;
};

}  // namespace pterun::operators
