// A method: its memory plan, values, operators, delegates, inputs and outputs.
#include "program/method_reader.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace pterun::program {
namespace {

// ExecuTorch looks operators up in a buffer of 100 bytes with a NUL.
constexpr std::size_t kMaxOperatorNameBytes = 99;

std::unexpected<Error> invalid(std::string message) {
  return fail(program_error(ErrorCode::kInvalidProgram, std::move(message)));
}

Error prefixed(Error error, const std::string& prefix) {
  error.message = prefix + " " + error.message;
  return error;
}

class MethodReader {
 public:
  MethodReader(const fb::ExecutionPlan& plan, const ReadContext& context) : plan_(plan), context_(context) {}

  Result<MethodPlan> read() {
    method_.name = text_of(plan_.name());
    PTERUN_TRY(read_buffers());
    PTERUN_TRY(read_values());
    PTERUN_TRY(check_lists());
    PTERUN_TRY(read_operators());
    PTERUN_TRY(read_delegates());
    const std::size_t count = method_.values.size();
    PTERUN_ASSIGN(method_.inputs, read_value_indices(items_of(plan_.inputs()), count, "an input is value", context_));
    PTERUN_TRY(check_inputs());
    PTERUN_ASSIGN(method_.outputs,
                  read_value_indices(items_of(plan_.outputs()), count, "an output is value", context_));
    PTERUN_ASSIGN(method_.chains, read_chains(plan_, method_, context_));
    return std::move(method_);
  }

 private:
  Result<void> read_buffers() {
    const WideItems sizes(plan_.non_const_buffer_sizes());
    PTERUN_TRY(take(sizes.size()));
    for (std::size_t i = 1; i < sizes.size(); ++i) {  // entry 0 is reserved
      if (sizes[i] < 0) return invalid(fmt::format("planned memory {} has the negative size {}", i, sizes[i]));
      method_.buffer_bytes.push_back(static_cast<std::uint64_t>(sizes[i]));
    }
    const TableList devices(plan_.non_const_buffer_device());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].device_type() != 0) {
        return fail(program_error(ErrorCode::kNotSupported,
                                  fmt::format("planned memory {} is on device type {}; only the CPU (0) is supported",
                                              devices[i].buffer_idx(), devices[i].device_type())));
      }
    }
    return {};
  }

  Result<void> read_values() {
    if (plan_.values() == nullptr) return invalid("it has no table of values");
    const TableList values(plan_.values());
    method_.values.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto value = read_value(values[i]);
      if (!value) return fail(prefixed(std::move(value).error(), fmt::format("value {}", i)));
      method_.values.push_back(*std::move(value));
    }
    return {};
  }

  Result<ValueSpec> read_value(const fb::Value& value) {
    if (value.val() == nullptr) return invalid("is empty");
    switch (value.val_type()) {
      case fb::Kind::Null: return NoneSpec{};
      case fb::Kind::Int: return value.val_as_Int()->value();
      case fb::Kind::Bool: return value.val_as_Bool()->value();
      case fb::Kind::Double: return value.val_as_Double()->value();
      case fb::Kind::String: return text_of(value.val_as_String()->value());
      case fb::Kind::Tensor: return read_tensor(*value.val_as_Tensor(), method_.buffer_bytes, context_);
      case fb::Kind::IntList: return read_int_list(*value.val_as_IntList());
      case fb::Kind::DoubleList: {
        const WideItems items(value.val_as_DoubleList()->items());
        PTERUN_TRY(take(items.size()));
        DoubleListSpec list{std::vector<double>(items.size())};
        for (std::size_t i = 0; i < items.size(); ++i)
          list.items[i] = items[i];
        return list;
      }
      case fb::Kind::BoolList: {
        const auto items = items_of(value.val_as_BoolList()->items());
        PTERUN_TRY(take(items.size()));
        return BoolListSpec{{items.begin(), items.end()}};
      }
      case fb::Kind::TensorList: {
        TensorListSpec list;
        PTERUN_ASSIGN(list.values, read_value_indices(items_of(value.val_as_TensorList()->items()), value_count(),
                                                      "holds value", context_));
        return list;
      }
      case fb::Kind::OptionalTensorList: return read_optional_list(*value.val_as_OptionalTensorList());
      case fb::Kind::NONE: break;
    }
    return invalid(fmt::format("is of the unknown kind {}", static_cast<int>(value.val_type())));
  }

  Result<ValueSpec> read_int_list(const fb::IntList& list) {
    const WideItems items(list.items());
    PTERUN_TRY(take(items.size()));
    IntListSpec result;
    result.values.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      PTERUN_ASSIGN(const std::uint32_t index, checked_index(items[i], value_count(), "holds value", "values"));
      result.values.push_back(index);
    }
    return result;
  }

  Result<ValueSpec> read_optional_list(const fb::OptionalTensorList& list) {
    const auto items = items_of(list.items());
    PTERUN_TRY(take(items.size()));
    OptionalTensorListSpec result;
    result.values.reserve(items.size());
    for (const std::int32_t item : items) {
      if (item == -1) {
        result.values.emplace_back();
        continue;
      }
      PTERUN_ASSIGN(const std::uint32_t index, checked_index(item, value_count(), "holds value", "values"));
      result.values.emplace_back(index);
    }
    return result;
  }

  // Lists may refer to values behind them, so the kinds of their items are checked when all values are known.
  Result<void> check_lists() {
    for (std::size_t i = 0; i < method_.values.size(); ++i) {
      if (const auto* ints = std::get_if<IntListSpec>(&method_.values[i])) {
        for (const std::uint32_t item : ints->values)
          PTERUN_TRY(check_item<std::int64_t>(i, item, "an Int"));
      } else if (const auto* tensors = std::get_if<TensorListSpec>(&method_.values[i])) {
        for (const std::uint32_t item : tensors->values)
          PTERUN_TRY(check_item<TensorSpec>(i, item, "a Tensor"));
      } else if (auto* optionals = std::get_if<OptionalTensorListSpec>(&method_.values[i])) {
        for (auto& item : optionals->values) {
          if (item && std::holds_alternative<NoneSpec>(method_.values[*item])) item.reset();
          if (item) PTERUN_TRY(check_item<TensorSpec>(i, *item, "a Tensor or None"));
        }
      }
    }
    return {};
  }

  template <typename Kind>
  Result<void> check_item(std::size_t list, std::uint32_t item, const char* wanted) const {
    if (std::holds_alternative<Kind>(method_.values[item])) return {};
    return invalid(fmt::format("value {} holds value {}, which is not {}", list, item, wanted));
  }

  // Inputs are written to, and constants lie in read-only memory.
  Result<void> check_inputs() {
    for (const std::uint32_t input : method_.inputs) {
      const auto* tensor = std::get_if<TensorSpec>(&method_.values[input]);
      if (tensor != nullptr && tensor->is_constant())
        return invalid(fmt::format("an input is value {}, a constant", input));
    }
    return {};
  }

  Result<void> read_operators() {
    const TableList operators(plan_.operators());
    method_.operators.reserve(operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const std::string_view name = text_of(operators[i].name());
      const std::string_view overload = text_of(operators[i].overload());
      if (name.empty()) return invalid(fmt::format("operator {} has no name", i));
      const std::size_t length = name.size() + (overload.empty() ? 0 : 1 + overload.size());
      if (length > kMaxOperatorNameBytes) {
        return invalid(fmt::format("operator {} has a name of {} bytes ({}); at most {} are possible", i, length,
                                   in_quotes(name, 24), kMaxOperatorNameBytes));
      }
      std::string full(name);
      if (!overload.empty()) full.append(1, '.').append(overload);
      if (!is_printable(full))
        return invalid(fmt::format("operator {} has the unprintable name {}", i, in_quotes(full)));
      method_.operators.push_back(std::move(full));
    }
    return {};
  }

  Result<void> read_delegates() {
    const TableList delegates(plan_.delegates());
    method_.delegates.reserve(delegates.size());
    for (std::size_t i = 0; i < delegates.size(); ++i) {
      auto delegate = read_delegate(delegates[i]);
      if (!delegate) {
        return fail(
            prefixed(std::move(delegate).error(), fmt::format("delegate {}:", i)).at("delegate", std::to_string(i)));
      }
      method_.delegates.push_back(*std::move(delegate));
    }
    return {};
  }

  Result<DelegateSpec> read_delegate(const fb::Delegate& delegate) {
    DelegateSpec result;
    result.id = text_of(delegate.id());
    if (result.id.empty()) return invalid("it has no backend name");
    if (!is_printable(result.id)) return invalid("its backend has the unprintable name " + in_quotes(result.id));
    if (delegate.processed() == nullptr) return invalid("it has no payload");
    PTERUN_ASSIGN(result.payload, context_.data.payload(*delegate.processed()));
    const TableList specs(delegate.compile_specs());
    for (std::size_t i = 0; i < specs.size(); ++i) {
      result.compile_specs.push_back({text_of(specs[i].key()), bytes_of(specs[i].value())});
    }
    return result;
  }

  std::size_t value_count() const { return TableList(plan_.values()).size(); }
  Result<void> take(std::size_t items) const {
    if (context_.budget.take(items)) return {};
    return invalid("its lists share their items, so that they would need more memory than the file has");
  }

  const fb::ExecutionPlan& plan_;
  const ReadContext& context_;
  MethodPlan method_;
};

}  // namespace

Result<std::uint32_t> checked_index(std::int64_t index, std::size_t count, const char* what, const char* table) {
  if (index >= 0 && static_cast<std::uint64_t>(index) < count) return static_cast<std::uint32_t>(index);
  return invalid(fmt::format("{} {}; there are {} {}", what, index, count, table));
}

Result<std::vector<std::uint32_t>> read_value_indices(std::span<const std::int32_t> indices, std::size_t count,
                                                      const char* what, const ReadContext& context) {
  if (!context.budget.take(indices.size())) {
    return invalid("its lists share their items, so that they would need more memory than the file has");
  }
  std::vector<std::uint32_t> result;
  result.reserve(indices.size());
  for (const std::int32_t index : indices) {
    PTERUN_ASSIGN(const std::uint32_t checked, checked_index(index, count, what, "values"));
    result.push_back(checked);
  }
  return result;
}

Result<MethodPlan> read_method(const fb::ExecutionPlan& plan, const ReadContext& context) {
  const std::string_view name = text_of(plan.name());
  if (name.empty()) return invalid("it has a method without a name");
  if (!is_printable(name)) return invalid("it has a method with the unprintable name " + in_quotes(name));
  auto method = MethodReader(plan, context).read();
  if (method) return method;
  Error error = prefixed(std::move(method).error(), fmt::format("method '{}':", name));
  return fail(std::move(error).at("method", std::string(name)));
}

}  // namespace pterun::program
