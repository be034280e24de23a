// Value: one slot of a method's value table, ExecuTorch's EValue. Tensors are referred to, not owned, so that a
// MoveCall makes two slots share one tensor, as in ExecuTorch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace pterun {

class Value;

// A list of integers kept as references to the slots that hold them: a number may be computed at run time.
struct IntList {
  std::vector<Value*> items;
};
struct DoubleList {
  std::vector<double> items;
};
struct BoolList {
  std::vector<bool> items;
};
// Tensor and optional-tensor lists refer to slots; a null item of an optional list is None.
struct TensorList {
  std::vector<Value*> items;
};
struct OptionalTensorList {
  std::vector<Value*> items;
};

class Value {
 public:
  using Payload = std::variant<std::monostate, Tensor*, std::string, double, std::int64_t, bool, BoolList, DoubleList,
                               IntList, TensorList, OptionalTensorList>;
  Value() = default;
  explicit Value(Payload payload) : payload_(std::move(payload)) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(payload_); }
  bool is_tensor() const { return std::holds_alternative<Tensor*>(payload_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(payload_); }
  bool is_double() const { return std::holds_alternative<double>(payload_); }
  bool is_bool() const { return std::holds_alternative<bool>(payload_); }
  bool is_string() const { return std::holds_alternative<std::string>(payload_); }
  // Int, double or bool: a Scalar argument.
  bool is_scalar() const { return is_int() || is_double() || is_bool(); }

  // The alternative, or null when the slot holds something else.
  Tensor* tensor() const {
    auto* p = std::get_if<Tensor*>(&payload_);
    return p ? *p : nullptr;
  }
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&payload_);
  }

  const Payload& payload() const { return payload_; }
  void set(Payload payload) { payload_ = std::move(payload); }
  // "Tensor", "Int", "None", "IntList", …: ExecuTorch's tag names.
  std::string_view kind_name() const;

 private:
  Payload payload_;
};

}  // namespace pterun
