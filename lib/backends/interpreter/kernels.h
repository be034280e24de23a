// One plain kernel per node kind, in double. Shapes were checked by shape_inference.h before a kernel runs.
#pragma once

#include <span>
#include <vector>

#include "backends/interpreter/real_values.h"
#include "backends/xnnpack_payload/graph.h"

namespace pterun::backends::interpreter {

// What a kernel sees of one node: its operands in the order of node.inputs (null where there is none), and their
// shapes.
struct NodeCall {
  const xnnpack_payload::Node* node = nullptr;
  std::vector<const Reals*> inputs;
  std::vector<Shape> input_shapes;
  std::vector<Reals*> outputs;  // empty on entry
  std::vector<Shape> output_shapes;
};

using NodeKernel = void (*)(const NodeCall& call);

// The kernel of a kind, or null for kinds that no runtime implements (ScaledDotProductAttention).
NodeKernel kernel_of(xnnpack_payload::NodeKind kind);

void run_unary(const NodeCall& call);
void run_binary(const NodeCall& call);
void run_prelu(const NodeCall& call);
void run_softmax(const NodeCall& call);
void run_fully_connected(const NodeCall& call);
void run_batch_matmul(const NodeCall& call);
void run_convolution(const NodeCall& call);
void run_transposed_convolution(const NodeCall& call);
void run_pooling(const NodeCall& call);
void run_global_average(const NodeCall& call);
void run_transpose(const NodeCall& call);
void run_copy(const NodeCall& call);
void run_slice(const NodeCall& call);
void run_pad(const NodeCall& call);
void run_concatenate(const NodeCall& call);
void run_resize(const NodeCall& call);

}  // namespace pterun::backends::interpreter
