// One delegate: an XNNPACK runtime made from a payload, and how a delegate call's arguments reach it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <xnnpack.h>

#include "backend/backend.h"
#include "backends/xnnpack/backend_options.h"
#include "backends/xnnpack/node_plan.h"
#include "backends/xnnpack/packed_weights.h"
#include "backends/xnnpack/subgraph_builder.h"
#include "backends/xnnpack/workspaces.h"
#include "backends/xnnpack_payload/graph.h"

namespace pterun::backends::xnn {

struct RuntimeDeleter {
  void operator()(xnn_runtime* runtime) const { xnn_delete_runtime(runtime); }
};
using Runtime = std::unique_ptr<xnn_runtime, RuntimeDeleter>;

class XnnpackDelegate final : public backend::Delegate {
 public:
  // Builds the runtime. Errors: as Backend::init.
  static Result<std::unique_ptr<XnnpackDelegate>> make(const backend::InitContext& context, PayloadGraph graph,
                                                       const BackendOptions& options,
                                                       std::shared_ptr<Workspace> workspace, WeightStores stores);
  ~XnnpackDelegate() override;

  Result<void> execute(std::span<pterun::Value* const> args) override;
  std::vector<backend::OptionEffect> option_effects() const override;
  backend::Metrics metrics() const override;

 private:
  // An argument of the delegate call, and what the runtime was last set up with for it.
  struct Argument {
    ValueIndex value = 0;
    std::uint32_t position = 0;  // in the call's arguments; also XNNPACK's external id
    DType dtype = DType::kFloat32;
    bool is_index = false;      // 32-bit indices inside; int64 outside is allowed
    bool is_converted = false;  // bfloat16 outside, float32 inside
    bool is_hidden = false;     // no argument: a result that nobody reads, in memory of the delegate
    Shape shape;                // the tensor's, logical order
    DimOrder order;
    void* data = nullptr;   // what XNNPACK reads or writes
    AlignedBuffer scratch;  // that memory, of a converted or hidden argument
  };

  XnnpackDelegate(PayloadGraph graph, const BackendOptions& options, std::shared_ptr<Workspace> workspace,
                  WeightStores stores);

  Result<void> make_arguments();
  void expose_unread_results();
  // Plans for `shapes` and makes the runtime; specialised if the inputs have the payload's own shapes.
  Result<void> make_runtime(const std::vector<Shape>& shapes, const std::function<void(const void*)>& release_constant);
  bool is_declared(const std::vector<Shape>& shapes) const;
  // Names the node that XNNPACK refuses, by making a runtime of each alone.
  Error diagnose(xnn_status status, const NodePlan& plan) const;

  Result<Tensor*> tensor_of(std::span<pterun::Value* const> args, const Argument& argument) const;
  Result<bool> inputs_changed_shape(std::span<pterun::Value* const> args);
  Result<void> infer(std::span<pterun::Value* const> args);
  Result<void> resize_outputs(std::span<pterun::Value* const> args);
  Result<bool> update_pointers(std::span<pterun::Value* const> args);
  Result<void> set_up(bool reshape);
  Result<void> check_output_shapes() const;
  // Whether the runtime was made for shapes that do not allow these.
  bool needs_other_runtime(const std::vector<Shape>& shapes) const;
  pthreadpool* choose_pool(const std::vector<Shape>& shapes) const;
  const Shape& inner_shape(ValueIndex index) const;
  void convert_inputs(std::span<pterun::Value* const> args) const;
  void convert_outputs(std::span<pterun::Value* const> args) const;
  void add_cache_file_effects(std::vector<backend::OptionEffect>& effects) const;

  PayloadGraph graph_;
  BackendOptions options_;
  ConstantStore constants_;
  PackedWeights weights_;  // before runtime_, whose operators point to it
  std::shared_ptr<Workspace> workspace_;
  ThreadPool* threads_ = nullptr;
  pthreadpool* pool_ = nullptr;  // what the runtime was made with: null where threads do not pay
  Runtime runtime_;
  NodePlan plan_;
  std::vector<Shape> declared_;   // the values' shapes by the payload: static shapes or bounds
  std::vector<Shape> built_for_;  // the values' shapes that the plan was made for
  std::vector<Shape> shapes_;     // the values' shapes of the last execute
  std::vector<Argument> inputs_;
  std::vector<Argument> outputs_;
  std::vector<xnn_external_value> externals_;
  bool has_conversions_ = false;
  bool is_set_up_ = false;
  bool outputs_empty_ = false;
  bool met_alias_ = false;  // an input and an output had one address: see set_up
};

}  // namespace pterun::backends::xnn
