// Shapes, types and conversions at a delegate's borders.
#include "backends/xnnpack/delegate_arguments.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace pterun::backends::xnn {
using xnnpack_payload::data_type_name;

Result<DType> argument_dtype(const Value& value) {
  switch (value.type) {
    case DataType::kFp32: return DType::kFloat32;
    case DataType::kFp16: return DType::kFloat16;
    case DataType::kBf16: return DType::kBFloat16;
    case DataType::kQint8: return DType::kInt8;
    case DataType::kQuint8: return DType::kUInt8;
    case DataType::kQint32:
    case DataType::kInt32: return DType::kInt32;
    default: break;
  }
  return fail(program_error(
      ErrorCode::kNotSupported,
      fmt::format("XNNPACK value {} is {}, which cannot be passed in or out", value.id, data_type_name(value.type))));
}

namespace {

bool dtype_matches(DType expected, DType found) {
  if (expected == found) return true;
  return (expected == DType::kInt8 && found == DType::kQInt8) ||
         (expected == DType::kUInt8 && found == DType::kQUInt8) ||
         (expected == DType::kInt32 && found == DType::kQInt32);
}

// 32-bit indices come from ArgMaxPooling2d, perhaps moved about; exporters declare them fp32.
std::vector<bool> find_indices(const PayloadGraph& graph) {
  std::vector<bool> is_index(graph.values.size());
  for (const Node& node : graph.nodes) {
    switch (node.kind) {
      case NodeKind::kArgMaxPooling2d: is_index[node.outputs[1]] = true; break;
      case NodeKind::kStaticTranspose:
      case NodeKind::kStaticReshape:
      case NodeKind::kStaticSlice:
      case NodeKind::kCopy: is_index[node.outputs[0]] = is_index[node.inputs[0]]; break;
      default: break;
    }
  }
  return is_index;
}

void widen_in_place(Tensor& tensor) {
  const auto* from = static_cast<const std::byte*>(tensor.raw_data());
  auto* to = tensor.mutable_data<std::int64_t>();
  for (std::int64_t i = tensor.numel() - 1; i >= 0; --i) {
    std::int32_t index;
    std::memcpy(&index, from + i * static_cast<std::int64_t>(sizeof index), sizeof index);
    to[i] = index;
  }
}

}  // namespace

Result<std::vector<Argument>> make_arguments(const PayloadGraph& graph, std::span<const ValueIndex> values) {
  const std::vector<bool> indices = find_indices(graph);
  std::vector<Argument> arguments;
  for (const ValueIndex index : values) {
    const Value& value = graph.values[index];
    Argument argument;
    argument.value = index;
    argument.position = value.external_id;
    PTERUN_ASSIGN(argument.dtype, argument_dtype(value));
    argument.is_converted = value.type == DataType::kBf16;
    argument.is_index = indices[index];
    if (argument.is_index) argument.dtype = DType::kInt32;
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

void expose_unread_results(PayloadGraph& graph, std::vector<Argument>& outputs, bool all) {
  std::vector<bool> is_read(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const ValueIndex input : node.input_ids()) {
      if (input != xnnpack_payload::kNoValue) is_read[input] = true;
    }
  }
  for (const Node& node : graph.nodes) {
    for (const ValueIndex output : node.output_ids()) {
      Value& value = graph.values[output];
      const bool is_unread = node.num_outputs > 1 && !is_read[output];
      if (value.is_output || !(is_unread || (all && argument_dtype(value).has_value()))) continue;
      value.is_output = true;
      value.external_id = graph.num_externs++;
      graph.outputs.push_back(output);
      Argument hidden;
      hidden.value = output;
      hidden.position = value.external_id;
      hidden.is_hidden = true;
      outputs.push_back(std::move(hidden));
    }
  }
}

Result<Tensor*> tensor_of(std::span<pterun::Value* const> args, const Argument& argument) {
  const auto wrong = [&](ErrorCode code, const std::string& what) {
    return fail(program_error(code, fmt::format("XNNPACK delegate argument {}: {}", argument.position, what)));
  };
  if (argument.position >= args.size()) {
    return wrong(ErrorCode::kInvalidProgram, fmt::format("the delegate call has {} arguments", args.size()));
  }
  Tensor* tensor = args[argument.position]->tensor();
  if (tensor == nullptr) {
    return wrong(ErrorCode::kInvalidArgument,
                 fmt::format("expected a tensor, found {}", args[argument.position]->kind_name()));
  }
  const bool is_wide_index = argument.is_index && tensor->dtype() == DType::kInt64;
  if (!dtype_matches(argument.dtype, tensor->dtype()) && !is_wide_index) {
    return wrong(ErrorCode::kInvalidArgument,
                 fmt::format("expected {}, found {}", dtype_name(argument.dtype), dtype_name(tensor->dtype())));
  }
  return tensor;
}

void convert_inputs(std::span<const Argument> inputs, std::span<pterun::Value* const> args) {
  for (const Argument& input : inputs) {
    if (!input.is_converted) continue;
    const Tensor& tensor = *args[input.position]->tensor();
    const auto* from = tensor.data<BFloat16>();
    auto* to = static_cast<float*>(input.data);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      to[i] = static_cast<float>(from[i]);
  }
}

void convert_outputs(std::span<const Argument> outputs, std::span<pterun::Value* const> args) {
  for (const Argument& output : outputs) {
    if (output.is_hidden) continue;
    Tensor& tensor = *args[output.position]->tensor();
    if (output.is_index && tensor.dtype() == DType::kInt64) widen_in_place(tensor);
    if (!output.is_converted) continue;
    const auto* from = static_cast<const float*>(output.data);
    auto* to = tensor.mutable_data<BFloat16>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      to[i] = BFloat16(from[i]);
  }
}

}  // namespace pterun::backends::xnn
