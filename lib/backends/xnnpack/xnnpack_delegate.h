// One delegate: an XNNPACK runtime made from a payload, and how a delegate call's arguments reach it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <xnnpack.h>

#include "backend/backend.h"
#include "backends/xnnpack/backend_options.h"
#include "backends/xnnpack/delegate_arguments.h"
#include "backends/xnnpack/node_plan.h"
#include "backends/xnnpack/node_profile.h"
#include "backends/xnnpack/packed_weights.h"
#include "backends/xnnpack/runtime.h"
#include "backends/xnnpack/subgraph_builder.h"
#include "backends/xnnpack/workspaces.h"
#include "backends/xnnpack_payload/graph.h"

namespace pterun::backends::xnn {

class XnnpackDelegate final : public backend::Delegate {
 public:
  // Builds the runtime. With `watch` every intermediate result is an output as well, so that it can be looked at: nodes
  // are not fused then. Errors: as Backend::init.
  static Result<std::unique_ptr<XnnpackDelegate>> make(const backend::InitContext& context, PayloadGraph graph,
                                                       const BackendOptions& options,
                                                       std::shared_ptr<Workspace> workspace, WeightStores stores,
                                                       bool watch = false);
  ~XnnpackDelegate() override;

  Result<void> execute(std::span<pterun::Value* const> args) override;
  std::vector<backend::OptionEffect> option_effects() const override;
  backend::Metrics metrics() const override;
  std::optional<double> output_scale(std::size_t argument) const override;
  std::vector<backend::NodeTime> node_times() const override;

  const PayloadGraph& graph() const { return graph_; }
  // Of the last execute: the values' shapes, and the elements of an intermediate result, valid until the next one and
  // in the payload's order; nothing for one that is not watched. bfloat16 is float32 inside.
  std::span<const Shape> shapes() const { return shapes_; }
  std::optional<Tensor> watched(ValueIndex value) const;

 private:
  XnnpackDelegate(PayloadGraph graph, const BackendOptions& options, std::shared_ptr<Workspace> workspace,
                  WeightStores stores);

  // Plans for `shapes` and makes the runtime; specialised if the inputs have the payload's own shapes.
  Result<void> make_runtime(const std::vector<Shape>& shapes, const std::function<void(const void*)>& release_constant);
  bool is_declared(const std::vector<Shape>& shapes) const;
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
  void add_cache_file_effects(std::vector<backend::OptionEffect>& effects) const;

  PayloadGraph graph_;
  BackendOptions options_;
  ConstantStore constants_;
  PackedWeights weights_;  // before runtime_, whose operators point to it
  std::shared_ptr<Workspace> workspace_;
  ThreadPool* threads_ = nullptr;
  pthreadpool* pool_ = nullptr;  // what the runtime was made with: null where threads do not pay
  Runtime runtime_;
  std::optional<NodeProfile> node_profile_;  // where the times of nodes are wanted
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
