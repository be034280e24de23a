// Values of a payload: types, dims, constants, external ids. Old payloads mark a float input that is to be quantised
// dynamically with dq_datatype; here that becomes two values and a Convert, as newer exporters write it.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_parts.h"

namespace pterun::xnnpack_payload {
namespace {

constexpr std::uint32_t kExternalInput = 1;
constexpr std::uint32_t kExternalOutput = 2;

bool is_quantized(DataType type) {
  switch (type) {
    case DataType::kQint8:
    case DataType::kQuint8:
    case DataType::kQint32:
    case DataType::kQcint8:
    case DataType::kQcint32:
    case DataType::kQcint4:
    case DataType::kQdint8:
    case DataType::kQbint4:
    case DataType::kQpint8: return true;
    case DataType::kInvalid:
    case DataType::kFp32:
    case DataType::kFp16:
    case DataType::kInt32:
    case DataType::kPfp32:
    case DataType::kBf16: return false;
  }
  return false;
}

Result<DataType> read_type(wire::DataType type, std::uint32_t id) {
  const auto number = static_cast<int>(type);
  if (number <= 0 || number > static_cast<int>(DataType::kBf16)) {
    return fail(value_error(id, fmt::format("unknown data type {}", number)));
  }
  return static_cast<DataType>(number);
}

Result<Shape> read_dims(const wire::TensorValue& tensor) {
  const auto* dims = tensor.dims();
  const std::uint32_t count = dims == nullptr ? 0 : dims->size();
  if (tensor.num_dims() != count) {
    return fail(
        value_error(tensor.id_out(), fmt::format("num_dims is {}, but {} dims are given", tensor.num_dims(), count)));
  }
  if (count > kMaxRank) {
    return fail(program_error(ErrorCode::kNotSupported,
                              fmt::format("XNNPACK payload: value {} has {} dims, at most {} are supported",
                                          tensor.id_out(), count, kMaxRank)));
  }
  Shape shape;
  for (std::uint32_t i = 0; i < count; ++i)
    shape.push_back(dims->Get(i));
  const auto elements = checked_numel(shape.span());
  // A margin of 8 bytes an element keeps every later size computation inside 64 bits.
  if (!elements || *elements > (std::int64_t{1} << 59)) {
    return fail(value_error(tensor.id_out(), fmt::format("dims {} overflow", shape.to_string())));
  }
  return shape;
}

Result<void> read_constant(const Reading& reading, std::uint32_t index, Value& value) {
  if (value.is_external()) return fail(value_error(value.id, "is both external and constant"));
  if (value.type == DataType::kQdint8 || value.type == DataType::kQpint8 || value.type == DataType::kPfp32) {
    return fail(value_error(value.id, fmt::format("a constant cannot be {}", data_type_name(value.type))));
  }
  PTERUN_ASSIGN(const Constant constant, find_constant(reading, index, value.id));
  const auto needed = constant_bytes(value.type, value.dims);
  if (!needed || constant.data.size() < *needed) {
    return fail(
        value_error(value.id, fmt::format("constant {} has {} bytes, {}{} needs {}", index, constant.data.size(),
                                          data_type_name(value.type), value.dims.to_string(), needed.value_or(0))));
  }
  value.is_constant = true;
  value.data = constant.data.first(static_cast<std::size_t>(*needed));
  value.key = constant.key;
  return {};
}

Result<Value> read_value(const Reading& reading, const wire::TensorValue& tensor,
                         const wire::QuantizedTensorValue* quantized) {
  Value value;
  value.id = tensor.id_out();
  if (value.id == kInvalidId) return fail(value_error(value.id, "has the id that stands for none"));
  if (reading.by_id.contains(value.id)) return fail(value_error(value.id, "is defined twice"));
  PTERUN_ASSIGN(value.type, read_type(tensor.datatype(), value.id));
  PTERUN_ASSIGN(value.dims, read_dims(tensor));
  if (is_quantized(value.type) != (quantized != nullptr)) {
    return fail(value_error(value.id, fmt::format("{} {} quantisation parameters", data_type_name(value.type),
                                                  quantized == nullptr ? "needs" : "has no")));
  }
  if (quantized != nullptr) {
    PTERUN_ASSIGN(value.quantization, read_quantization(reading, *quantized, value.type, value.dims, value.id));
  }

  if ((tensor.flags() & ~(kExternalInput | kExternalOutput)) != 0) {
    return fail(value_error(value.id, fmt::format("unknown flags {:#x}", tensor.flags())));
  }
  value.is_input = (tensor.flags() & kExternalInput) != 0;
  value.is_output = (tensor.flags() & kExternalOutput) != 0;
  if (value.is_input && value.is_output) return fail(value_error(value.id, "is both input and output"));
  if (value.is_external()) {
    value.external_id = tensor.external_id();
    if (value.external_id >= reading.result.num_externs) {
      return fail(value_error(value.id, fmt::format("external id {} is not below num_externs {}", value.external_id,
                                                    reading.result.num_externs)));
    }
  }
  if (tensor.constant_buffer_idx() != 0) PTERUN_TRY(read_constant(reading, tensor.constant_buffer_idx(), value));
  return value;
}

// Splits a float input that is to be quantised dynamically; the id then means the quantised value.
Result<void> split_dynamic_input(Reading& reading, wire::DataType target, Value value) {
  const bool is_float = value.type == DataType::kFp32 || value.type == DataType::kFp16;
  if (target != wire::DataType::qint8 || !value.is_input || !is_float) {
    return fail(program_error(ErrorCode::kNotImplemented,
                              fmt::format("XNNPACK payload: value {}: dynamic quantisation (dq_datatype {}) is known "
                                          "for external float inputs to qint8 only",
                                          value.id, static_cast<int>(target))));
  }
  Value quantized;
  quantized.id = value.id;
  quantized.type = DataType::kQdint8;
  quantized.dims = value.dims;
  quantized.quantization = DynamicQuantization{1};
  if (value.dims.rank() < 1) return fail(value_error(value.id, "dynamic quantisation needs at least one dim"));

  auto& values = reading.result.values;
  Node convert;
  convert.kind = NodeKind::kConvert;
  convert.file_index = kNoValue;
  convert.num_inputs = convert.num_outputs = 1;
  convert.inputs[0] = static_cast<ValueIndex>(values.size());
  convert.outputs[0] = convert.inputs[0] + 1;
  reading.by_id[value.id] = convert.outputs[0];
  values.push_back(std::move(value));
  values.push_back(std::move(quantized));
  reading.result.nodes.push_back(std::move(convert));
  return {};
}

Result<void> collect_externals(PayloadGraph& graph) {
  std::set<std::uint32_t> used;
  for (ValueIndex i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (!value.is_external()) continue;
    if (!used.insert(value.external_id).second) {
      return fail(value_error(value.id, fmt::format("external id {} is used twice", value.external_id)));
    }
    (value.is_input ? graph.inputs : graph.outputs).push_back(i);
  }
  const auto by_external_id = [&](ValueIndex index) { return graph.values[index].external_id; };
  std::ranges::sort(graph.inputs, {}, by_external_id);
  std::ranges::sort(graph.outputs, {}, by_external_id);
  return {};
}

}  // namespace

Result<void> read_values(Reading& reading) {
  const auto* entries = reading.graph->values();
  if (entries == nullptr) {
    return fail(program_error(ErrorCode::kInvalidProgram, "XNNPACK payload: the graph has no values"));
  }
  reading.result.values.reserve(entries->size());
  for (std::uint32_t i = 0; i < entries->size(); ++i) {
    const wire::XValue* entry = entries->Get(i);
    const auto kind = entry == nullptr ? wire::ValueKind::NONE : entry->kind_type();
    const wire::TensorValue* tensor = nullptr;
    const wire::QuantizedTensorValue* quantized = nullptr;
    if (kind == wire::ValueKind::TensorValue) {
      tensor = entry->kind_as_TensorValue();
    } else if (kind == wire::ValueKind::QuantizedTensorValue) {
      quantized = entry->kind_as_QuantizedTensorValue();
      if (quantized != nullptr) tensor = quantized->tensor_value();
    } else {
      return fail(program_error(ErrorCode::kNotImplemented, fmt::format("XNNPACK payload: entry {} of the values has "
                                                                        "the unknown kind {}",
                                                                        i, static_cast<int>(kind))));
    }
    if (tensor == nullptr) {
      return fail(program_error(ErrorCode::kInvalidProgram,
                                fmt::format("XNNPACK payload: entry {} of the values is empty", i)));
    }
    PTERUN_ASSIGN(Value value, read_value(reading, *tensor, quantized));
    if (tensor->dq_datatype() != wire::DataType::invalid) {
      PTERUN_TRY(split_dynamic_input(reading, tensor->dq_datatype(), std::move(value)));
      continue;
    }
    reading.by_id[value.id] = static_cast<ValueIndex>(reading.result.values.size());
    reading.result.values.push_back(std::move(value));
  }
  return collect_externals(reading.result);
}

}  // namespace pterun::xnnpack_payload
