// Judging one node at a time: each is computed again in double from the very inputs that it had.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/interpreter/real_values.h"
#include "backends/xnnpack_payload/graph.h"
#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::backends::interpreter {

// One operand of a judged node: a value of the payload, and the numbers that it stands for.
struct NodeOperand {
  xnnpack_payload::ValueIndex value = 0;
  const Shape* shape = nullptr;
  const Reals* reals = nullptr;
};

// A node whose result was seen. Borrowed for the duration of the visitor's call.
struct NodeCheck {
  const xnnpack_payload::Node* node = nullptr;
  std::size_t position = 0;         // in the graph's list of nodes
  std::vector<NodeOperand> inputs;  // what it is computed from: xnnpack_payload::visible_inputs
  NodeOperand output;               // what was seen
  const Reals* want = nullptr;      // what the node gives in double, rounded to the output's type
  DType dtype = DType::kFloat32;    // of the seen output
  // By how much one step of a quantised operand (an activation, dynamic ones included) can move the result: results
  // that lie at a border between two steps may be rounded either way.
  double rounding = 0;
};
using NodeVisitor = std::function<Result<void>(const NodeCheck& check)>;

// Shows the visitor every node of `graph` whose output is among the seen values, in order. Results that cannot be seen
// (dynamically quantised activations) are computed and go into the next node. `shapes` and `seen` are by value.
// Errors: of the visitor; kInvalidArgument for seen values that do not go with the graph.
Result<void> check_nodes(const xnnpack_payload::PayloadGraph& graph, std::span<const Shape> shapes,
                         std::span<const std::optional<Tensor>> seen, const NodeVisitor& visitor);

}  // namespace pterun::backends::interpreter
