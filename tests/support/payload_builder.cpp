// Writes a PayloadGraph with the schema's generated code, applying the lies that a test asked for.
#include "support/payload_builder.h"

#include <cstring>

#include <flatbuffers/flatbuffers.h>

#include "generated/backends/xnnpack_payload/payload_generated.h"

namespace pterun::test {
namespace {

namespace wire = xnnpack_payload::wire;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using xnnpack_payload::kNoValue;
using xnnpack_payload::PayloadGraph;
using xnnpack_payload::Value;

constexpr std::uint32_t kInvalidId = 0xFFFFFFFFu;

// Collects constants in the order of their indices; index 0 stands for none.
class ConstantWriter {
 public:
  ConstantWriter(ConstantPlace place, FakeNamedData& named) : place_(place), named_(named) { entries_.push_back({}); }

  std::uint32_t add(Bytes bytes, std::string key) {
    if (place_ == ConstantPlace::kNamed) {
      if (key.empty()) key = "constant_" + std::to_string(entries_.size());
      named_.add(key, {bytes.begin(), bytes.end()});
      entries_.push_back({UINT64_MAX, 0, key, {}});
    } else {
      region_.resize((region_.size() + 15) / 16 * 16);
      entries_.push_back({region_.size(), bytes.size(), {}, {bytes.begin(), bytes.end()}});
      region_.insert(region_.end(), bytes.begin(), bytes.end());
    }
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }

  Offset<flatbuffers::Vector<Offset<wire::ConstantData>>> write_table(FlatBufferBuilder& fbb) const {
    std::vector<Offset<wire::ConstantData>> table;
    for (const Entry& entry : entries_) {
      table.push_back(
          wire::CreateConstantData(fbb, entry.offset, entry.size, entry.key.empty() ? 0 : fbb.CreateString(entry.key)));
    }
    return fbb.CreateVector(table);
  }

  Offset<flatbuffers::Vector<Offset<wire::InlineConstant>>> write_inline(FlatBufferBuilder& fbb) const {
    std::vector<Offset<wire::InlineConstant>> table;
    for (const Entry& entry : entries_) {
      fbb.ForceVectorAlignment(entry.bytes.size(), 1, 16);
      const auto bytes =
          fbb.CreateVector(reinterpret_cast<const std::uint8_t*>(entry.bytes.data()), entry.bytes.size());
      table.push_back(wire::CreateInlineConstant(fbb, bytes));
    }
    return fbb.CreateVector(table);
  }

  const std::vector<std::byte>& region() const { return region_; }

 private:
  struct Entry {
    std::uint64_t offset = 0, size = 0;
    std::string key;
    std::vector<std::byte> bytes;
  };
  ConstantPlace place_;
  FakeNamedData& named_;
  std::vector<Entry> entries_;
  std::vector<std::byte> region_;
};

template <typename T>
Bytes bytes_of(const std::vector<T>& items) {
  return std::as_bytes(std::span(items));
}

struct WrittenQuantization {
  wire::QuantParams type = wire::QuantParams::NONE;
  Offset<void> offset;
};

WrittenQuantization write_quantization(FlatBufferBuilder& fbb, const Value& value, const ValueLie& lie,
                                       ConstantWriter& constants) {
  if (const auto* q = value.quantized_as<xnnpack_payload::PerTensorQuantization>()) {
    return {wire::QuantParams::PerTensor,
            wire::CreatePerTensor(fbb, lie.scale.value_or(q->scale), lie.zero_point.value_or(q->zero_point)).Union()};
  }
  if (const auto* q = value.quantized_as<xnnpack_payload::PerChannelQuantization>()) {
    const int dim = lie.channel_dim.value_or(static_cast<int>(q->channel_dim));
    if (lie.inline_scales) {
      return {wire::QuantParams::PerChannel, wire::CreatePerChannel(fbb, fbb.CreateVector(q->scales), dim).Union()};
    }
    const std::uint32_t index = lie.scale_index.value_or(constants.add(bytes_of(q->scales), {}));
    const auto count = lie.num_scales.value_or(static_cast<std::uint32_t>(q->scales.size()));
    return {wire::QuantParams::PerChannel, wire::CreatePerChannel(fbb, 0, dim, index, count).Union()};
  }
  if (const auto* q = value.quantized_as<xnnpack_payload::PerBlockQuantization>()) {
    const int dim = lie.channel_dim.value_or(0);
    const int group = lie.group_size.value_or(static_cast<int>(q->block_size));
    if (lie.inline_scales) {
      std::vector<float> scales;
      for (const BFloat16 scale : q->scales)
        scales.push_back(static_cast<float>(scale));
      return {wire::QuantParams::PerChannelGroup,
              wire::CreatePerChannelGroup(fbb, fbb.CreateVector(scales), dim, group).Union()};
    }
    const std::uint32_t index = lie.scale_index.value_or(constants.add(bytes_of(q->scales), {}));
    const auto count = lie.num_scales.value_or(static_cast<std::uint32_t>(q->scales.size()));
    return {wire::QuantParams::PerChannelGroup, wire::CreatePerChannelGroup(fbb, 0, dim, group, index, count).Union()};
  }
  if (const auto* q = value.quantized_as<xnnpack_payload::DynamicQuantization>()) {
    return {wire::QuantParams::PerTokenDynamic,
            wire::CreatePerTokenDynamic(fbb, lie.num_nonbatch_dims.value_or(static_cast<int>(q->num_nonbatch_dims)))
                .Union()};
  }
  return {};
}

Offset<wire::XValue> write_value(FlatBufferBuilder& fbb, const Value& value, const ValueLie& lie,
                                 ConstantWriter& constants) {
  std::vector<std::uint32_t> dims;
  for (const std::int64_t size : value.dims)
    dims.push_back(static_cast<std::uint32_t>(size));
  const std::uint32_t constant = value.is_constant ? constants.add(value.data, std::string(value.key)) : 0;
  const std::uint32_t flags = (value.is_input ? 1u : 0u) | (value.is_output ? 2u : 0u);
  const auto tensor = wire::CreateTensorValue(
      fbb, static_cast<wire::DataType>(lie.type.value_or(static_cast<int>(value.type))),
      lie.num_dims.value_or(static_cast<std::uint32_t>(dims.size())), fbb.CreateVector(dims),
      lie.constant_index.value_or(constant),
      lie.external_id.value_or(value.is_external() ? value.external_id : kInvalidId), lie.flags.value_or(flags),
      lie.id.value_or(value.id), lie.dq_qint8 ? wire::DataType::qint8 : wire::DataType::invalid);
  const WrittenQuantization quantization = write_quantization(fbb, value, lie, constants);
  if (quantization.type == wire::QuantParams::NONE || lie.drop_quantization) {
    return wire::CreateXValue(fbb, wire::ValueKind::TensorValue, tensor.Union());
  }
  const auto quantized = wire::CreateQuantizedTensorValue(fbb, tensor, quantization.type, quantization.offset);
  return wire::CreateXValue(fbb, wire::ValueKind::QuantizedTensorValue, quantized.Union());
}

// The node's table, as its kind needs it.
Offset<void> write_table(FlatBufferBuilder& fbb, const PayloadGraph& graph, const Node& node, const NodeLie& lie) {
  const auto id = [&](ValueIndex index) { return index == kNoValue ? kInvalidId : graph.values[index].id; };
  const auto in = [&](std::size_t i) {
    return i == 0 && lie.input_id ? *lie.input_id : (i < node.num_inputs ? id(node.inputs[i]) : 0);
  };
  const std::uint32_t out = lie.output_id.value_or(id(node.outputs[0]));
  const auto list = [&](const std::vector<std::uint32_t>& items) {
    return lie.drop_lists ? Offset<flatbuffers::Vector<std::uint32_t>>() : fbb.CreateVector(items);
  };
  const std::uint32_t flags = node.flags;
  if (const auto* p = std::get_if<xnnpack_payload::ConvolutionParams>(&node.params)) {
    return wire::CreateConvolution(fbb, p->pad_top, p->pad_right, p->pad_bottom, p->pad_left, p->kernel_height,
                                   p->kernel_width, p->stride_height, p->stride_width, p->dilation_height,
                                   p->dilation_width, p->group_input_channels, p->group_output_channels, p->groups,
                                   p->adjust_height, p->adjust_width, in(0), in(1), in(2), out, flags)
        .Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::PoolingParams>(&node.params)) {
    if (node.kind == NodeKind::kArgMaxPooling2d) {
      return wire::CreateArgMaxPooling(fbb, p->pad_top, p->pad_right, p->pad_bottom, p->pad_left, p->window_height,
                                       p->window_width, in(0), out, id(node.outputs[1]), flags)
          .Union();
    }
    return wire::CreatePooling(fbb, p->pad_top, p->pad_right, p->pad_bottom, p->pad_left, p->window_height,
                               p->window_width, p->stride_height, p->stride_width, p->dilation_height,
                               p->dilation_width, in(0), out, flags)
        .Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::TransposeParams>(&node.params)) {
    return wire::CreateTranspose(fbb, static_cast<std::uint32_t>(p->permutation.size()), list(p->permutation), in(0),
                                 out, flags)
        .Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::ReshapeParams>(&node.params)) {
    return wire::CreateReshape(fbb, static_cast<std::uint32_t>(p->shape.size()), list(p->shape), in(0), out, flags)
        .Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::SliceParams>(&node.params)) {
    return wire::CreateSlice(fbb, static_cast<std::uint32_t>(p->offsets.size()), list(p->offsets), list(p->sizes),
                             in(0), out, flags)
        .Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::PadParams>(&node.params)) {
    return wire::CreateConstantPad(fbb, list(p->before), list(p->after), p->value, in(0), out, flags).Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::ResizeParams>(&node.params)) {
    return wire::CreateResizeBilinear(fbb, p->height, p->width, in(0), out, flags).Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::ConcatenateParams>(&node.params)) {
    return wire::CreateConcatenate(fbb, static_cast<std::uint32_t>(p->axis), in(0), in(1), in(2), in(3), out, flags,
                                   in(4))
        .Union();
  }
  if (const auto* p = std::get_if<xnnpack_payload::SlopeParams>(&node.params)) {
    return wire::CreateSlope(fbb, p->slope, in(0), out, flags).Union();
  }
  if (node.kind == NodeKind::kScaledDotProductAttention) {
    return wire::CreateAttention(fbb, in(0), in(1), in(2), in(3), in(4), out, flags).Union();
  }
  if (node.kind == NodeKind::kFullyConnected) {
    return wire::CreateFullyConnected(fbb, in(0), in(1), in(2), out, flags).Union();
  }
  if (node.num_inputs == 2) return wire::CreateBinary(fbb, in(0), in(1), out, flags).Union();
  return wire::CreateUnary(fbb, in(0), out, flags).Union();
}

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// Header, flatbuffer, constants; without a header the flatbuffer alone.
std::vector<std::byte> assemble(const FlatBufferBuilder& fbb, const std::vector<std::byte>& region, bool header) {
  const auto* buffer = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  if (!header) return {buffer, buffer + fbb.GetSize()};
  std::vector<std::byte> bytes(32);
  std::memcpy(bytes.data() + 4, "XH00", 4);
  bytes.insert(bytes.end(), buffer, buffer + fbb.GetSize());
  const std::size_t constants_offset = (bytes.size() + 15) / 16 * 16;
  bytes.resize(constants_offset);
  bytes.insert(bytes.end(), region.begin(), region.end());
  put<std::uint16_t>(bytes, 8, 30);
  put<std::uint32_t>(bytes, 10, 32);
  put<std::uint32_t>(bytes, 14, fbb.GetSize());
  put<std::uint32_t>(bytes, 18, static_cast<std::uint32_t>(constants_offset));
  put<std::uint64_t>(bytes, 22, region.size());
  return bytes;
}

}  // namespace

Result<Bytes> FakeNamedData::find(std::string_view key) const {
  const auto found = blobs_.find(key);
  if (found == blobs_.end()) return fail(ErrorCode::kNotFound, "no data under key '" + std::string(key) + "'");
  return Bytes(found->second);
}

std::vector<std::pair<std::string_view, std::size_t>> FakeNamedData::list() const {
  std::vector<std::pair<std::string_view, std::size_t>> entries;
  for (const auto& [key, bytes] : blobs_)
    entries.emplace_back(key, bytes.size());
  return entries;
}

ValueIndex PayloadBuilder::internal(DataType type, const Shape& dims, Quantization quantization) {
  Value value;
  value.id = static_cast<std::uint32_t>(graph_.values.size()) + 10;  // ids differ from indices
  value.type = type;
  value.dims = dims;
  value.quantization = std::move(quantization);
  graph_.values.push_back(std::move(value));
  return static_cast<ValueIndex>(graph_.values.size() - 1);
}

ValueIndex PayloadBuilder::input(DataType type, const Shape& dims, Quantization quantization) {
  const ValueIndex index = internal(type, dims, std::move(quantization));
  graph_.values[index].is_input = true;
  graph_.values[index].external_id = graph_.num_externs++;
  return index;
}

ValueIndex PayloadBuilder::output(DataType type, const Shape& dims, Quantization quantization) {
  const ValueIndex index = internal(type, dims, std::move(quantization));
  graph_.values[index].is_output = true;
  graph_.values[index].external_id = graph_.num_externs++;
  return index;
}

ValueIndex PayloadBuilder::constant(DataType type, const Shape& dims, std::vector<std::byte> bytes,
                                    Quantization quantization, std::string key) {
  const ValueIndex index = internal(type, dims, std::move(quantization));
  graph_.values[index].is_constant = true;
  graph_.values[index].data = bytes_.emplace_back(std::move(bytes));
  graph_.values[index].key = keys_.emplace_back(std::move(key));
  return index;
}

Node& PayloadBuilder::node(NodeKind kind, const std::vector<ValueIndex>& inputs, const std::vector<ValueIndex>& outputs,
                           NodeParams params) {
  Node& node = graph_.nodes.emplace_back();
  node.kind = kind;
  for (const ValueIndex input : inputs)
    node.inputs[node.num_inputs++] = input;
  for (const ValueIndex output : outputs)
    node.outputs[node.num_outputs++] = output;
  node.params = std::move(params);
  return node;
}

std::vector<std::byte> PayloadBuilder::write() {
  FlatBufferBuilder fbb;
  ConstantWriter constants(place, named_data_);
  std::vector<Offset<wire::XValue>> values;
  for (ValueIndex i = 0; i < graph_.values.size(); ++i) {
    values.push_back(write_value(fbb, graph_.values[i], value_lies[i], constants));
  }
  std::vector<Offset<wire::XNode>> nodes;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    const NodeLie& lie = node_lies[i];
    const auto tag = static_cast<wire::NodeUnion>(lie.tag.value_or(static_cast<std::uint32_t>(node.kind)));
    const auto table = write_table(fbb, graph_, node, lie);
    const auto range = node.range.is_unbounded() ? Offset<wire::OutputMinMax>()
                                                 : wire::CreateOutputMinMax(fbb, node.range.min, node.range.max);
    nodes.push_back(wire::CreateXNode(fbb, tag, table, node.debug_handle, range));
  }
  const bool inlined = place == ConstantPlace::kInline;
  const auto table = inlined ? 0 : constants.write_table(fbb);
  const auto buffers = inlined ? constants.write_inline(fbb) : 0;
  fbb.Finish(wire::CreateGraph(fbb, fbb.CreateString("0"), fbb.CreateVector(nodes), fbb.CreateVector(values),
                               graph_.num_externs, 0, 0, buffers, 0, table),
             identifier.c_str());
  return assemble(fbb, constants.region(), !inlined);
}

Result<void> DelegateHarness::init(PayloadBuilder& builder) {
  return init(builder.write(), builder.named_data());
}

Result<void> DelegateHarness::init(std::vector<std::byte> payload, const backend::NamedData& named_data) {
  delegate_.reset();
  payload_ = std::move(payload);
  backend::InitContext context;
  context.method = method;
  context.load_options = load_options;
  context.named_data = &named_data;
  context.threads = threads_.get();
  context.log = &log;
  context.program_id = program_id;
  context.verify_caches = verify_caches;
  context.release_pages = [&](Bytes range) { named_data.release_pages(range); };
  auto made = backend_.init(context, payload_, {});
  if (!made) return fail(std::move(made).error());
  delegate_ = *std::move(made);
  backend_.method_loaded(program_id, method, log);
  return {};
}

Result<void> DelegateHarness::execute(const std::vector<Tensor*>& tensors) {
  std::vector<pterun::Value> slots(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    slots[i].set(tensors[i]);
  std::vector<pterun::Value*> args;
  for (pterun::Value& slot : slots)
    args.push_back(&slot);
  return delegate_->execute(args);
}

}  // namespace pterun::test
