// Nodes of a payload: the union's tables by family, ids to value indices, params to plain structs.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_parts.h"

namespace pterun::xnnpack_payload {
namespace {

// Which table of the schema a kind is stored in.
enum class Family : std::uint8_t {
  kNone,
  kUnary,
  kSlope,
  kBinary,
  kFullyConnected,
  kConvolution,
  kPooling,
  kArgMaxPooling,
  kTranspose,
  kReshape,
  kSlice,
  kPad,
  kResize,
  kConcatenate,
  kAttention,
};

constexpr auto kFamilies = [] {
  std::array<Family, kNodeKinds> families{};
  const auto set = [&](Family family, std::initializer_list<NodeKind> kinds) {
    for (const NodeKind kind : kinds)
      families[static_cast<std::size_t>(kind)] = family;
  };
  using enum NodeKind;
  set(Family::kUnary, {kSoftmax,
                       kSigmoid,
                       kClamp,
                       kFloor,
                       kConvert,
                       kGlobalAvgPooling2d,
                       kSquareRoot,
                       kCeiling,
                       kHardswish,
                       kNegate,
                       kSquare,
                       kAbs,
                       kReciprocalSquareRoot,
                       kLog,
                       kGelu,
                       kTanh,
                       kExp,
                       kSin,
                       kCopy,
                       kCos});
  set(Family::kSlope, {kLeakyReLU, kELU});
  set(Family::kBinary, {kAdd, kDiv, kMinimum, kMultiply, kSubtract, kMaximum, kPReLU, kBatchMatrixMultiply});
  set(Family::kFullyConnected, {kFullyConnected});
  set(Family::kConvolution, {kConv2d, kDepthwiseConv2d, kConvTranspose2d});
  set(Family::kPooling, {kAvgPooling2d, kMaxPooling2d});
  set(Family::kArgMaxPooling, {kArgMaxPooling2d});
  set(Family::kTranspose, {kStaticTranspose});
  set(Family::kReshape, {kStaticReshape});
  set(Family::kSlice, {kStaticSlice});
  set(Family::kPad, {kStaticConstantPad});
  set(Family::kResize, {kStaticResizeBilinear2D});
  set(Family::kConcatenate, {kConcatenate2, kConcatenate3, kConcatenate4, kConcatenate5});
  set(Family::kAttention, {kScaledDotProductAttention});
  return families;
}();

constexpr std::size_t kMaxListLength = 64;  // of perm, new_shape, offsets …: far above any rank

// One node being filled from its table.
class NodeReader {
 public:
  NodeReader(const Reading& reading, Node& node) : reading_(reading), node_(node) {}

  std::unexpected<Error> error(const std::string& what) const {
    return fail(
        program_error(ErrorCode::kInvalidProgram, fmt::format("XNNPACK payload: {}: {}", describe_node(node_), what))
            .at("node", describe_node(node_)));
  }

  Result<void> input(std::uint32_t id) {
    PTERUN_ASSIGN(node_.inputs[node_.num_inputs], resolve(id, "input"));
    ++node_.num_inputs;
    return {};
  }

  // The id that stands for none is allowed.
  Result<void> optional_input(std::uint32_t id) {
    if (id != kInvalidId) return input(id);
    node_.inputs[node_.num_inputs++] = kNoValue;
    return {};
  }

  Result<void> output(std::uint32_t id) {
    PTERUN_ASSIGN(node_.outputs[node_.num_outputs], resolve(id, "output"));
    ++node_.num_outputs;
    return {};
  }

  Result<std::vector<std::uint32_t>> list(const flatbuffers::Vector<std::uint32_t>* values, const char* name) const {
    if (values == nullptr) return error(fmt::format("{} is missing", name));
    if (values->size() > kMaxListLength) return error(fmt::format("{} has {} entries", name, values->size()));
    return std::vector<std::uint32_t>(values->begin(), values->end());
  }

 private:
  Result<ValueIndex> resolve(std::uint32_t id, const char* role) const {
    const auto found = reading_.by_id.find(id);
    if (found == reading_.by_id.end()) return error(fmt::format("{} is value {}, which does not exist", role, id));
    return found->second;
  }

  const Reading& reading_;
  Node& node_;
};

template <typename Table>
PoolingParams pooling_window(const Table& table) {
  PoolingParams params;
  params.pad_top = table.padding_top();
  params.pad_right = table.padding_right();
  params.pad_bottom = table.padding_bottom();
  params.pad_left = table.padding_left();
  params.window_height = table.pooling_height();
  params.window_width = table.pooling_width();
  return params;
}

ConvolutionParams convolution_params(const wire::Convolution& table) {
  ConvolutionParams params;
  params.pad_top = table.padding_top();
  params.pad_right = table.padding_right();
  params.pad_bottom = table.padding_bottom();
  params.pad_left = table.padding_left();
  params.kernel_height = table.kernel_height();
  params.kernel_width = table.kernel_width();
  params.stride_height = table.subsampling_height();
  params.stride_width = table.subsampling_width();
  params.dilation_height = table.dilation_height();
  params.dilation_width = table.dilation_width();
  params.groups = table.groups();
  params.group_input_channels = table.group_input_channels();
  params.group_output_channels = table.group_output_channels();
  params.adjust_height = table.adjustment_height();
  params.adjust_width = table.adjustment_width();
  return params;
}

// Each fills inputs, outputs, flags and params of a node from its table.

Result<void> read(const wire::Concatenate& table, Node& node, NodeReader& reader) {
  const std::array<std::uint32_t, 5> ids = {table.input1_id(), table.input2_id(), table.input3_id(), table.input4_id(),
                                            table.input5_id()};
  std::size_t count = 2;
  if (node.kind == NodeKind::kConcatenate3) count = 3;
  if (node.kind == NodeKind::kConcatenate4) count = 4;
  if (node.kind == NodeKind::kConcatenate5) count = 5;
  for (std::size_t i = 0; i < count; ++i)
    PTERUN_TRY(reader.input(ids[i]));
  node.params = ConcatenateParams{static_cast<std::int32_t>(table.axis())};
  node.flags = table.flags();
  return reader.output(table.output_id());
}

Result<void> read(const wire::Attention& table, Node& node, NodeReader& reader) {
  for (const std::uint32_t id :
       {table.query_id(), table.key_id(), table.value_id(), table.scale_id(), table.mask_id()}) {
    PTERUN_TRY(reader.input(id));
  }
  node.flags = table.flags();
  return reader.output(table.output_id());
}

Result<void> read(const wire::Unary& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::Slope& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  node.params = SlopeParams{table.slope()};
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::Binary& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  PTERUN_TRY(reader.input(table.input1_id()));
  PTERUN_TRY(reader.input(table.input2_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::FullyConnected& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  PTERUN_TRY(reader.input(table.input_id()));
  PTERUN_TRY(reader.input(table.filter_id()));
  PTERUN_TRY(reader.optional_input(table.bias_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::Convolution& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  node.params = convolution_params(table);
  PTERUN_TRY(reader.input(table.input_id()));
  PTERUN_TRY(reader.input(table.filter_id()));
  PTERUN_TRY(reader.optional_input(table.bias_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::Pooling& table, Node& node, NodeReader& reader) {
  PoolingParams params = pooling_window(table);
  params.stride_height = table.stride_height();
  params.stride_width = table.stride_width();
  if (node.kind == NodeKind::kMaxPooling2d) {
    params.dilation_height = table.dilation_height();
    params.dilation_width = table.dilation_width();
  }
  node.params = params;
  node.flags = table.flags();
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::ArgMaxPooling& table, Node& node, NodeReader& reader) {
  PoolingParams params = pooling_window(table);
  params.stride_height = params.window_height;
  params.stride_width = params.window_width;
  node.params = params;
  node.flags = table.flags();
  PTERUN_TRY(reader.input(table.input_id()));
  PTERUN_TRY(reader.output(table.output_value_id()));
  return reader.output(table.output_index_id());
}

Result<void> read(const wire::Transpose& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  TransposeParams params;
  PTERUN_ASSIGN(params.permutation, reader.list(table.perm(), "perm"));
  node.params = std::move(params);
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::Reshape& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  ReshapeParams params;
  PTERUN_ASSIGN(params.shape, reader.list(table.new_shape(), "new_shape"));
  node.params = std::move(params);
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::Slice& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  SliceParams params;
  PTERUN_ASSIGN(params.offsets, reader.list(table.offsets(), "offsets"));
  PTERUN_ASSIGN(params.sizes, reader.list(table.sizes(), "sizes"));
  if (params.offsets.size() != params.sizes.size()) return reader.error("offsets and sizes differ in length");
  node.params = std::move(params);
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::ConstantPad& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  PadParams params;
  PTERUN_ASSIGN(params.before, reader.list(table.pre_paddings(), "pre_paddings"));
  PTERUN_ASSIGN(params.after, reader.list(table.post_paddings(), "post_paddings"));
  if (params.before.size() != params.after.size()) return reader.error("pre_ and post_paddings differ in length");
  params.value = table.padding_value();
  node.params = std::move(params);
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

Result<void> read(const wire::ResizeBilinear& table, Node& node, NodeReader& reader) {
  node.flags = table.flags();
  node.params = ResizeParams{table.new_height(), table.new_width()};
  PTERUN_TRY(reader.input(table.input_id()));
  return reader.output(table.output_id());
}

template <typename Table>
Result<void> read_as(const void* table, Node& node, NodeReader& reader) {
  return read(*static_cast<const Table*>(table), node, reader);
}

// The verifier has checked that the table is of the family's type.
Result<void> read_table(Family family, const void* table, Node& node, NodeReader& reader) {
  switch (family) {
    case Family::kUnary: return read_as<wire::Unary>(table, node, reader);
    case Family::kSlope: return read_as<wire::Slope>(table, node, reader);
    case Family::kBinary: return read_as<wire::Binary>(table, node, reader);
    case Family::kFullyConnected: return read_as<wire::FullyConnected>(table, node, reader);
    case Family::kConvolution: return read_as<wire::Convolution>(table, node, reader);
    case Family::kPooling: return read_as<wire::Pooling>(table, node, reader);
    case Family::kArgMaxPooling: return read_as<wire::ArgMaxPooling>(table, node, reader);
    case Family::kTranspose: return read_as<wire::Transpose>(table, node, reader);
    case Family::kReshape: return read_as<wire::Reshape>(table, node, reader);
    case Family::kSlice: return read_as<wire::Slice>(table, node, reader);
    case Family::kPad: return read_as<wire::ConstantPad>(table, node, reader);
    case Family::kResize: return read_as<wire::ResizeBilinear>(table, node, reader);
    case Family::kConcatenate: return read_as<wire::Concatenate>(table, node, reader);
    case Family::kAttention: return read_as<wire::Attention>(table, node, reader);
    case Family::kNone: break;
  }
  return reader.error("is of no known family");
}

}  // namespace

Result<void> read_nodes(Reading& reading) {
  const auto* entries = reading.graph->nodes();
  if (entries == nullptr) {
    return fail(program_error(ErrorCode::kInvalidProgram, "XNNPACK payload: the graph has no nodes"));
  }
  auto& nodes = reading.result.nodes;
  nodes.reserve(nodes.size() + entries->size());
  for (std::uint32_t i = 0; i < entries->size(); ++i) {
    const wire::XNode* entry = entries->Get(i);
    const auto tag = entry == nullptr ? std::size_t{0} : static_cast<std::size_t>(entry->node_type());
    if (tag == 0 || tag >= kNodeKinds) {
      return fail(program_error(ErrorCode::kNotImplemented,
                                fmt::format("XNNPACK payload: node {} is of the unknown kind {}; kinds 1 to {} are "
                                            "known",
                                            i, tag, kNodeKinds - 1))
                      .at("node", fmt::format("{}", i)));
    }
    Node node;
    node.kind = static_cast<NodeKind>(tag);
    node.file_index = i;
    node.debug_handle = entry->debug_handle();
    NodeReader reader(reading, node);
    if (entry->node() == nullptr) return reader.error("is empty");
    if (const auto* range = entry->output_min_max()) {
      node.range = {range->output_min(), range->output_max()};
      if (!(node.range.min <= node.range.max)) {
        return reader.error(fmt::format("output range [{}, {}] is empty", node.range.min, node.range.max));
      }
    }
    PTERUN_TRY(read_table(kFamilies[tag], entry->node(), node, reader));
    nodes.push_back(std::move(node));
  }
  return {};
}

}  // namespace pterun::xnnpack_payload
