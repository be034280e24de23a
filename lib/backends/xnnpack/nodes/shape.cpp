// Nodes that move elements: transpose, reshape, slice, pad, concatenate, copy.
#include <array>

#include <fmt/format.h>

#include "backends/xnnpack/nodes/node_table.h"

namespace pterun::backends::xnn {
namespace {

using Sizes = std::array<std::size_t, XNN_MAX_TENSOR_DIMS>;

constexpr std::initializer_list<DataType> kMovable = {DataType::kFp32, DataType::kFp16, DataType::kQint8,
                                                      DataType::kQuint8};

Result<Sizes> to_sizes(const Node& node, const std::vector<std::uint32_t>& values) {
  if (values.size() > XNN_MAX_TENSOR_DIMS) {
    return fail(node_error(ErrorCode::kNotSupported, node,
                           fmt::format("{} dims; XNNPACK takes at most {}", values.size(), XNN_MAX_TENSOR_DIMS)));
  }
  Sizes sizes{};
  for (std::size_t i = 0; i < values.size(); ++i)
    sizes[i] = values[i];
  return sizes;
}

}  // namespace

Result<void> define_transpose(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, kMovable));
  const auto& permutation = std::get<xnnpack_payload::TransposeParams>(node.params).permutation;
  PTERUN_ASSIGN(const Sizes sizes, to_sizes(node, permutation));
  return builder.check(
      xnn_define_static_transpose(builder.subgraph(), permutation.size(), sizes.data(), builder.id(node.inputs[0]),
                                  builder.id(node.outputs[0]), /*flags=*/0),
      node);
}

Result<void> define_reshape(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(
      node, {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8, DataType::kInt32}));
  const auto& shape = std::get<xnnpack_payload::ReshapeParams>(node.params).shape;
  PTERUN_ASSIGN(const Sizes sizes, to_sizes(node, shape));
  return builder.check(xnn_define_static_reshape(builder.subgraph(), shape.size(), sizes.data(),
                                                 builder.id(node.inputs[0]), builder.id(node.outputs[0]), /*flags=*/0),
                       node);
}

Result<void> define_slice(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, kMovable));
  const auto& offsets = std::get<xnnpack_payload::SliceParams>(node.params).offsets;
  PTERUN_ASSIGN(const Sizes begin, to_sizes(node, offsets));
  const Shape& input = builder.shape(node.inputs[0]);
  const Shape& output = builder.shape(node.outputs[0]);
  Sizes sizes{};
  for (std::size_t i = 0; i < output.rank(); ++i) {
    // XNNPACK takes size 0 for "all", which then also fits other shapes.
    const bool all = begin[i] == 0 && output[i] == input[i];
    sizes[i] = all ? 0 : static_cast<std::size_t>(output[i]);
    if (output[i] == 0 && !all) {
      return fail(
          node_error(ErrorCode::kNotSupported, node, fmt::format("its result {} has no elements", output.to_string())));
    }
  }
  return builder.check(xnn_define_static_slice(builder.subgraph(), output.rank(), begin.data(), sizes.data(),
                                               builder.id(node.inputs[0]), builder.id(node.outputs[0]), /*flags=*/0),
                       node);
}

Result<void> define_pad(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, kMovable));
  const auto& params = std::get<xnnpack_payload::PadParams>(node.params);
  PTERUN_ASSIGN(const Sizes before, to_sizes(node, params.before));
  PTERUN_ASSIGN(const Sizes after, to_sizes(node, params.after));
  return builder.check(
      xnn_define_static_constant_pad(builder.subgraph(), before.data(), after.data(), params.value,
                                     builder.id(node.inputs[0]), builder.id(node.outputs[0]), /*flags=*/0),
      node);
}

Result<void> define_concatenate(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(node, kMovable));
  const std::int32_t axis = std::get<xnnpack_payload::ConcatenateParams>(node.params).axis;
  std::array<std::uint32_t, 5> in{};
  for (std::size_t i = 0; i < node.num_inputs; ++i)
    in[i] = builder.id(node.inputs[i]);
  const std::uint32_t out = builder.id(node.outputs[0]);
  xnn_subgraph_t graph = builder.subgraph();
  switch (node.num_inputs) {
    case 2: return builder.check(xnn_define_concatenate2(graph, axis, in[0], in[1], out, 0), node);
    case 3: return builder.check(xnn_define_concatenate3(graph, axis, in[0], in[1], in[2], out, 0), node);
    case 4: return builder.check(xnn_define_concatenate4(graph, axis, in[0], in[1], in[2], in[3], out, 0), node);
    default:
      return builder.check(xnn_define_concatenate5(graph, axis, in[0], in[1], in[2], in[3], in[4], out, 0), node);
  }
}

Result<void> define_copy(SubgraphBuilder& builder, const Node& node) {
  PTERUN_TRY(builder.require_same_type(
      node, {DataType::kFp32, DataType::kFp16, DataType::kQint8, DataType::kQuint8, DataType::kInt32}));
  return builder.check(
      xnn_define_copy(builder.subgraph(), builder.id(node.inputs[0]), builder.id(node.outputs[0]), /*flags=*/0), node);
}

}  // namespace pterun::backends::xnn
