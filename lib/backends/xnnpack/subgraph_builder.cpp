// Values and constants of a subgraph, and the errors of its nodes.
#include "backends/xnnpack/subgraph_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack/nodes/node_table.h"
#include "xnnpack/library.h"

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::data_type_name;
using xnnpack_payload::kNoValue;
using xnnpack_payload::node_kind_name;

xnn_datatype to_xnnpack(DataType type) {
  switch (type) {
    case DataType::kInvalid: return xnn_datatype_invalid;
    case DataType::kFp32: return xnn_datatype_fp32;
    case DataType::kFp16: return xnn_datatype_fp16;
    case DataType::kQint8: return xnn_datatype_qint8;
    case DataType::kQuint8: return xnn_datatype_quint8;
    case DataType::kQint32: return xnn_datatype_qint32;
    case DataType::kQcint8: return xnn_datatype_qcint8;
    case DataType::kQcint32: return xnn_datatype_qcint32;
    case DataType::kQcint4: return xnn_datatype_qcint4;
    case DataType::kQdint8: return xnn_datatype_qdint8;
    case DataType::kQbint4: return xnn_datatype_qbint4;
    case DataType::kQpint8: return xnn_datatype_qpint8;
    case DataType::kInt32: return xnn_datatype_int32;
    case DataType::kPfp32: return xnn_datatype_pfp32;
    case DataType::kBf16: return xnn_datatype_bf16;
  }
  return xnn_datatype_invalid;
}

// Whether kernels that read up to XNN_EXTRA_BYTES past the end stay in pages that hold some of the data.
bool may_read_past(Bytes data) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto last = reinterpret_cast<std::uintptr_t>(data.data()) + data.size() - 1;
  return last / page == (last + XNN_EXTRA_BYTES) / page;
}

}  // namespace

DataType compute_type(DataType type) {
  return type == DataType::kBf16 ? DataType::kFp32 : type;
}

std::string describe(const Node& node) {
  if (node.file_index == kNoValue) return fmt::format("node for dq_datatype ({})", node_kind_name(node.kind));
  return fmt::format("node {} ({})", node.file_index, node_kind_name(node.kind));
}

Error node_error(ErrorCode code, const Node& node, const std::string& what) {
  return program_error(code, fmt::format("XNNPACK {}: {}", describe(node), what)).at("node", describe(node));
}

// Constants -------------------------------------------------------------------------------------------------------

Result<void> ConstantStore::prepare(const PayloadGraph& graph) {
  std::vector<bool> is_packed_only(graph.values.size(), true);
  for (const Node& node : graph.nodes) {
    const NodeRow* row = find_node_row(node.kind);
    for (std::size_t i = 0; i < node.num_inputs; ++i) {
      const bool packed = row != nullptr && row->packs_weights && i > 0;
      if (node.inputs[i] != kNoValue && !packed) is_packed_only[node.inputs[i]] = false;
    }
  }
  pointers_.assign(graph.values.size(), nullptr);
  copies_.resize(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (!value.is_constant) continue;
    const bool widen = value.type == DataType::kBf16;
    const std::size_t bytes = value.data.size() * (widen ? 2 : 1);
    const bool in_place = !widen && bytes != 0 && (is_packed_only[i] || may_read_past(value.data));
    if (in_place) {
      pointers_[i] = value.data.data();
      originals_.emplace_back(pointers_[i], value.data);
      continue;
    }
    PTERUN_ASSIGN(copies_[i], AlignedBuffer::allocate(bytes));
    if (widen) {
      auto* floats = reinterpret_cast<float*>(copies_[i].data());
      for (std::size_t e = 0; e < bytes / sizeof(float); ++e) {
        std::uint16_t bits;
        std::memcpy(&bits, value.data.data() + 2 * e, sizeof bits);
        floats[e] = static_cast<float>(BFloat16::from_bits(bits));
      }
    } else if (bytes != 0) {
      std::memcpy(copies_[i].data(), value.data.data(), bytes);
    }
    pointers_[i] = copies_[i].data();
  }
  std::ranges::sort(originals_, {}, [](const auto& entry) { return entry.first; });
  return {};
}

Bytes ConstantStore::original(const void* pointer) const {
  const auto found = std::ranges::lower_bound(originals_, pointer, {}, [](const auto& entry) { return entry.first; });
  return found == originals_.end() || found->first != pointer ? Bytes{} : found->second;
}

void ConstantStore::drop_copies(const std::vector<bool>& packed) {
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (packed[i]) copies_[i] = AlignedBuffer();
  }
}

// Values ----------------------------------------------------------------------------------------------------------

const Value& SubgraphBuilder::value(ValueIndex index) const {
  return index < graph_.values.size() ? graph_.values[index] : plan_.added[index - graph_.values.size()];
}

Result<void> SubgraphBuilder::define_value(ValueIndex index) {
  const Value& value = this->value(index);
  const Shape& shape = plan_.shapes[index];
  if (shape.rank() > XNN_MAX_TENSOR_DIMS) {
    return fail(program_error(ErrorCode::kNotSupported,
                              fmt::format("XNNPACK value {} has {} dims {}; XNNPACK takes at most {}", value.id,
                                          shape.rank(), shape.to_string(), XNN_MAX_TENSOR_DIMS))
                    .with_hint("export the program without the XNNPACK partitioner for this operator"));
  }
  const std::size_t rank = shape.rank();
  std::array<std::size_t, XNN_MAX_TENSOR_DIMS> dims{};
  for (std::size_t i = 0; i < rank; ++i)
    dims[i] = static_cast<std::size_t>(shape[i]);
  const std::uint32_t external = value.is_external() ? value.external_id : XNN_INVALID_VALUE_ID;
  std::uint32_t flags = 0;
  if (value.is_input) flags |= XNN_VALUE_FLAG_EXTERNAL_INPUT;
  if (value.is_output) flags |= XNN_VALUE_FLAG_EXTERNAL_OUTPUT;
  const xnn_datatype type = to_xnnpack(compute_type(value.type));
  const void* data = value.is_constant ? constants_.data(index) : nullptr;
  std::uint32_t* id = &ids_[index];

  xnn_status status = xnn_status_success;
  if (const auto* tensor = value.quantized_as<xnnpack_payload::PerTensorQuantization>()) {
    status = xnn_define_quantized_tensor_value(subgraph(), type, tensor->zero_point, tensor->scale, rank, dims.data(),
                                               data, external, flags, id);
  } else if (const auto* channel = value.quantized_as<xnnpack_payload::PerChannelQuantization>()) {
    status = xnn_define_channelwise_quantized_tensor_value_v2(subgraph(), type, channel->zero_point,
                                                              channel->scales.data(), rank, channel->channel_dim,
                                                              dims.data(), data, external, flags, id);
  } else if (const auto* block = value.quantized_as<xnnpack_payload::PerBlockQuantization>()) {
    static_assert(sizeof(BFloat16) == sizeof(std::uint16_t));
    status = xnn_define_blockwise_quantized_tensor_value(
        subgraph(), type, block->zero_point, reinterpret_cast<const std::uint16_t*>(block->scales.data()), rank,
        /*channel_dim=*/0, block->block_size, dims.data(), data, external, flags, id);
  } else if (const auto* dynamic = value.quantized_as<xnnpack_payload::DynamicQuantization>()) {
    status = xnn_define_dynamically_quantized_tensor_value(subgraph(), type, rank, dynamic->num_nonbatch_dims,
                                                           dims.data(), external, flags, id);
  } else {
    status = xnn_define_tensor_value(subgraph(), type, rank, dims.data(), data, external, flags, id);
  }
  if (status == xnn_status_success) return {};
  Error error = xnnpack::status_error(
      status, fmt::format("value {} ({}{})", value.id, data_type_name(value.type), shape.to_string()));
  return fail(std::move(error).with_blame(Blame::kProgram));
}

Result<Subgraph> SubgraphBuilder::build() {
  xnn_subgraph_t made = nullptr;
  if (const xnn_status status = xnn_create_subgraph(graph_.num_externs, 0, &made); status != xnn_status_success) {
    return fail(xnnpack::status_error(status, "a subgraph cannot be made"));
  }
  subgraph_.reset(made);
  ids_.assign(plan_.shapes.size(), XNN_INVALID_VALUE_ID);

  std::vector<bool> used(plan_.shapes.size());
  for (const Node& node : plan_.nodes) {
    for (const ValueIndex input : node.input_ids()) {
      if (input != kNoValue) used[input] = true;
    }
    for (const ValueIndex output : node.output_ids())
      used[output] = true;
  }
  for (ValueIndex i = 0; i < plan_.shapes.size(); ++i) {
    if (used[i] || value(i).is_external()) PTERUN_TRY(define_value(i));
  }
  for (const Node& node : plan_.nodes) {
    const NodeRow* row = find_node_row(node.kind);
    if (row == nullptr) {
      return fail(node_error(
          ErrorCode::kNotImplemented, node,
          fmt::format("{} is in the format, but no exporter writes it and nobody runs it", node_kind_name(node.kind))));
    }
    PTERUN_TRY(row->define(*this, node));
  }
  return std::move(subgraph_);
}

std::uint32_t SubgraphBuilder::id(ValueIndex index) const {
  return index == kNoValue ? XNN_INVALID_VALUE_ID : ids_[index];
}

Result<std::uint32_t> SubgraphBuilder::add_value(const Node& node, DataType type, const Shape& dims) {
  std::array<std::size_t, XNN_MAX_TENSOR_DIMS> sizes{};
  for (std::size_t i = 0; i < dims.rank(); ++i)
    sizes[i] = static_cast<std::size_t>(dims[i]);
  std::uint32_t id = XNN_INVALID_VALUE_ID;
  PTERUN_TRY(check(xnn_define_tensor_value(subgraph(), to_xnnpack(type), dims.rank(), sizes.data(), nullptr,
                                           XNN_INVALID_VALUE_ID, 0, &id),
                   node));
  return id;
}

// Errors ----------------------------------------------------------------------------------------------------------

Error SubgraphBuilder::unsupported(const Node& node, const std::string& what) const {
  return node_error(ErrorCode::kNotSupported, node,
                    fmt::format("{}; XNNPACK {} has no such kernel", what, xnnpack::library_version()));
}

Result<void> SubgraphBuilder::require_type(const Node& node, ValueIndex index, const char* role,
                                           std::initializer_list<DataType> types) const {
  if (std::ranges::find(types, type(index)) != types.end()) return {};
  return fail(unsupported(node, fmt::format("its {} is {}", role, data_type_name(value(index).type))));
}

Result<void> SubgraphBuilder::require_same_type(const Node& node, std::initializer_list<DataType> types) const {
  for (const ValueIndex input : node.input_ids())
    PTERUN_TRY(require_type(node, input, "input", types));
  for (const ValueIndex output : node.output_ids())
    PTERUN_TRY(require_type(node, output, "output", types));
  const DataType first = type(node.inputs[0]);
  const auto differs = [&](ValueIndex index) { return type(index) != first; };
  if (std::ranges::any_of(node.input_ids(), differs) || std::ranges::any_of(node.output_ids(), differs)) {
    return check(xnn_status_invalid_parameter, node);
  }
  return {};
}

Result<void> SubgraphBuilder::check(xnn_status status, const Node& node) const {
  if (status == xnn_status_success) return {};
  std::string types;
  for (const ValueIndex input : node.input_ids()) {
    if (input != kNoValue) types += fmt::format("{}{}", types.empty() ? "" : ", ", data_type_name(value(input).type));
  }
  std::string outputs;
  for (const ValueIndex output : node.output_ids()) {
    outputs += fmt::format("{}{}", outputs.empty() ? "" : ", ", data_type_name(value(output).type));
  }
  const Error cause = xnnpack::status_error(status, "");
  const ErrorCode code = status == xnn_status_invalid_parameter ? ErrorCode::kNotSupported : cause.code;
  Error error = node_error(code, node,
                           fmt::format("XNNPACK {} does not take it with {} -> {} ({})", xnnpack::library_version(),
                                       types, outputs, xnnpack::status_name(status)));
  if (status == xnn_status_out_of_memory) error.blame = Blame::kRuntime;
  return fail(std::move(error));
}

}  // namespace pterun::backends::xnn
