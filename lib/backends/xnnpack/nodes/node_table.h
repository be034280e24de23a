// Which function adds a node of which kind to an XNNPACK subgraph. One file a family; a new kind is one row.
#pragma once

#include <span>

#include "backends/xnnpack/subgraph_builder.h"

namespace pterun::backends::xnn {

using DefineNode = Result<void> (*)(SubgraphBuilder& builder, const Node& node);

struct NodeRow {
  NodeKind kind;
  DefineNode define;
  // Whether XNNPACK packs inputs 1 and 2 (filter and bias) when the runtime is made, if they are constant.
  bool packs_weights = false;
};

// The row, or null for a kind that nobody implements.
const NodeRow* find_node_row(NodeKind kind);

// Families, in nodes/<family>.cpp.
Result<void> define_unary(SubgraphBuilder&, const Node&);
Result<void> define_convert(SubgraphBuilder&, const Node&);
Result<void> define_binary(SubgraphBuilder&, const Node&);
Result<void> define_fully_connected(SubgraphBuilder&, const Node&);
Result<void> define_convolution(SubgraphBuilder&, const Node&);
Result<void> define_depthwise_convolution(SubgraphBuilder&, const Node&);
Result<void> define_transposed_convolution(SubgraphBuilder&, const Node&);
Result<void> define_average_pooling(SubgraphBuilder&, const Node&);
Result<void> define_max_pooling(SubgraphBuilder&, const Node&);
Result<void> define_argmax_pooling(SubgraphBuilder&, const Node&);
Result<void> define_global_average_pooling(SubgraphBuilder&, const Node&);
Result<void> define_softmax(SubgraphBuilder&, const Node&);
Result<void> define_batch_matmul(SubgraphBuilder&, const Node&);
Result<void> define_resize(SubgraphBuilder&, const Node&);
Result<void> define_transpose(SubgraphBuilder&, const Node&);
Result<void> define_reshape(SubgraphBuilder&, const Node&);
Result<void> define_slice(SubgraphBuilder&, const Node&);
Result<void> define_pad(SubgraphBuilder&, const Node&);
Result<void> define_concatenate(SubgraphBuilder&, const Node&);
Result<void> define_copy(SubgraphBuilder&, const Node&);

}  // namespace pterun::backends::xnn
