// Turns a planned graph into an XNNPACK subgraph: values first, then nodes through the table in nodes/node_table.h.
// bfloat16, which XNNPACK 2024-11 cannot compute with, becomes float32 here; the delegate converts at its borders.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <xnnpack.h>

#include "backends/xnnpack/node_plan.h"
#include "backends/xnnpack_payload/graph.h"
#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::backends::xnn {

using xnnpack_payload::DataType;
using xnnpack_payload::NodeKind;

struct SubgraphDeleter {
  void operator()(xnn_subgraph* subgraph) const { xnn_delete_subgraph(subgraph); }
};
using Subgraph = std::unique_ptr<xnn_subgraph, SubgraphDeleter>;

// The type a value has inside XNNPACK: bf16 is computed as fp32, the rest is itself.
DataType compute_type(DataType type);
// "node 3 (Conv2d)"; what a message begins with.
std::string describe(const Node& node);
// An error about a node, with its place and blame on the program.
Error node_error(ErrorCode code, const Node& node, const std::string& what);

// Constants in the form that XNNPACK reads them in. They live as long as the delegate.
class ConstantStore {
 public:
  // Prepares one pointer per constant value: in place where possible; widened from bf16; copied where kernels would
  // read past the end into a page that may not be mapped. Errors: kMemoryAllocationFailed.
  Result<void> prepare(const PayloadGraph& graph);
  // Null for a value that is no constant.
  const void* data(ValueIndex value) const { return pointers_[value]; }
  // The constant's own bytes if XNNPACK reads them in place, for page release; empty otherwise.
  Bytes original(const void* pointer) const;
  // Frees the copies of constants that were packed (named by `packed`) and are not read again.
  void drop_copies(const std::vector<bool>& packed);

 private:
  std::vector<const void*> pointers_;
  std::vector<AlignedBuffer> copies_;                     // by value index; empty where none was needed
  std::vector<std::pair<const void*, Bytes>> originals_;  // sorted by pointer
};

class SubgraphBuilder {
 public:
  // All borrowed; the plan's shapes are what static parameters are chosen for.
  SubgraphBuilder(const PayloadGraph& graph, const ConstantStore& constants, const NodePlan& plan)
      : graph_(graph), constants_(constants), plan_(plan) {}

  // Errors, naming node or value: kNotSupported or kNotImplemented (blame kProgram), kInternal.
  Result<Subgraph> build();

  // For node definitions: ---------------------------------------------------------------------------------------

  xnn_subgraph_t subgraph() const { return subgraph_.get(); }
  const Value& value(ValueIndex index) const;
  const Shape& shape(ValueIndex index) const { return plan_.shapes[index]; }
  DataType type(ValueIndex index) const { return compute_type(value(index).type); }
  // XNNPACK's id of a value; XNN_INVALID_VALUE_ID for kNoValue.
  std::uint32_t id(ValueIndex index) const;
  // Errors unless `index` has one of the types: kNotSupported, naming node, role and type.
  Result<void> require_type(const Node& node, ValueIndex index, const char* role,
                            std::initializer_list<DataType> types) const;
  // All inputs and outputs of the node have one and the same of these types.
  Result<void> require_same_type(const Node& node, std::initializer_list<DataType> types) const;
  // A further float value; for nodes that become several.
  Result<std::uint32_t> add_value(const Node& node, DataType type, const Shape& dims);
  // Turns a status into an error that names the node, its types and the XNNPACK version.
  Result<void> check(xnn_status status, const Node& node) const;

 private:
  Result<void> define_value(ValueIndex index);
  Error unsupported(const Node& node, const std::string& what) const;

  const PayloadGraph& graph_;
  const ConstantStore& constants_;
  const NodePlan& plan_;
  Subgraph subgraph_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace pterun::backends::xnn
