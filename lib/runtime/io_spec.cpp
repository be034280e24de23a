// What inputs and outputs are, and whether a given input fits.
#include <cmath>

#include "runtime/method_state.h"

namespace pterun::runtime {
namespace {

std::string number_text(double value) {
  std::string text = std::to_string(value);
  return text;
}

std::string value_text(const Value& value) {
  if (const auto* number = value.get_if<std::int64_t>()) return "int " + std::to_string(*number);
  if (const auto* real = value.get_if<double>()) return "float " + number_text(*real);
  if (const auto* flag = value.get_if<bool>()) return *flag ? "bool true" : "bool false";
  if (const auto* text = value.get_if<std::string>()) return "string \"" + *text + "\"";
  return std::string(value.kind_name());
}

std::string input_name(std::size_t index) {
  return "input " + std::to_string(index);
}

Error input_error(std::size_t index, const std::string& message) {
  return make_error(ErrorCode::kInput, input_name(index) + ": " + message).at("input", std::to_string(index));
}

}  // namespace

IoSpec io_spec(const program::ValueSpec& spec) {
  IoSpec io;
  if (const auto* tensor = std::get_if<program::TensorSpec>(&spec)) {
    io.kind = IoSpec::Kind::kTensor;
    io.dtype = tensor->dtype;
    io.sizes = tensor->sizes;
    io.dim_order = tensor->dim_order;
    io.dynamic = tensor->dynamic;
    io.constant = tensor->is_constant();
  } else if (const auto* number = std::get_if<std::int64_t>(&spec)) {
    io.kind = IoSpec::Kind::kInt;
    io.baked = Value(*number);
  } else if (const auto* real = std::get_if<double>(&spec)) {
    io.kind = IoSpec::Kind::kDouble;
    io.baked = Value(*real);
  } else if (const auto* flag = std::get_if<bool>(&spec)) {
    io.kind = IoSpec::Kind::kBool;
    io.baked = Value(*flag);
  } else if (const auto* text = std::get_if<std::string_view>(&spec)) {
    io.kind = IoSpec::Kind::kString;
    io.baked = Value(std::string(*text));
  } else if (!std::holds_alternative<program::NoneSpec>(spec)) {
    io.kind = IoSpec::Kind::kOther;
  }
  return io;
}

std::string IoSpec::describe() const {
  switch (kind) {
    case Kind::kNone: return "None";
    case Kind::kTensor: {
      std::string text = std::string(dtype_name(dtype)) + sizes.to_string();
      if (dynamic) text += " (dynamic, at most these sizes)";
      if (!dim_order.is_contiguous()) text += " in dim order " + dim_order.to_string();
      return text;
    }
    case Kind::kInt:
    case Kind::kDouble:
    case Kind::kBool:
    case Kind::kString: return value_text(baked);
    case Kind::kOther: return "a list";
  }
  return "";
}

Result<void> check_tensor_input(std::size_t index, const IoSpec& spec, const Tensor& given) {
  const std::string mismatch = "given " + given.describe() + ", the method takes " + spec.describe();
  if (spec.kind != IoSpec::Kind::kTensor || spec.dtype != given.dtype() || spec.sizes.rank() != given.rank()) {
    return fail(input_error(index, mismatch));
  }
  if (!spec.dynamic) {
    if (given.shape() != spec.sizes) return fail(input_error(index, mismatch));
    return {};
  }
  for (std::size_t dim = 0; dim < given.rank(); ++dim) {
    if (given.size(dim) > spec.sizes[dim]) {
      return fail(input_error(index, mismatch + "; dimension " + std::to_string(dim) + " is " +
                                         std::to_string(given.size(dim)) + ", its bound is " +
                                         std::to_string(spec.sizes[dim])));
    }
  }
  return {};
}

Result<void> check_value_input(std::size_t index, const IoSpec& spec, const Value& given) {
  const auto mismatch = [&] {
    return fail(input_error(index, "given " + value_text(given) + ", the program was exported with " + spec.describe() +
                                       " and takes no other value"));
  };
  if (given.payload().index() != spec.baked.payload().index()) return mismatch();
  if (const auto* real = given.get_if<double>()) {
    // ExecuTorch's tolerance for doubles that went through a file (method.cpp: set_input).
    const double baked = *spec.baked.get_if<double>();
    const bool equal = *real == baked || (std::isnan(*real) && std::isnan(baked)) ||
                       std::abs(*real - baked) <= 1e-4 + 1e-5 * std::abs(baked);
    if (!equal) return mismatch();
    return {};
  }
  const bool equal = (given.is_none() && spec.kind == IoSpec::Kind::kNone) ||
                     (given.is_int() && *given.get_if<std::int64_t>() == *spec.baked.get_if<std::int64_t>()) ||
                     (given.is_bool() && *given.get_if<bool>() == *spec.baked.get_if<bool>()) ||
                     (given.is_string() && *given.get_if<std::string>() == *spec.baked.get_if<std::string>());
  if (!equal) return mismatch();
  return {};
}

}  // namespace pterun::runtime
