// Execution of a delegate. The common call has the shapes and addresses of the one before: it costs a few comparisons
// and xnn_invoke_runtime.
#include "backends/xnnpack/xnnpack_delegate.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack/weight_keys.h"
#include "backends/xnnpack/work_estimate.h"
#include "backends/xnnpack_payload/shape_inference.h"
#include "xnnpack/library.h"

namespace pterun::backends::xnn {

XnnpackDelegate::XnnpackDelegate(PayloadGraph graph, const BackendOptions& options,
                                 std::shared_ptr<Workspace> workspace, WeightStores stores)
    : graph_(std::move(graph)), options_(options), weights_(std::move(stores)), workspace_(std::move(workspace)) {
  const auto lock = workspace_->lock();
  workspace_->add_user();
}

XnnpackDelegate::~XnnpackDelegate() {
  const auto lock = workspace_->lock();
  runtime_.reset();
  workspace_->remove_user();
}

// Making ----------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<XnnpackDelegate>> XnnpackDelegate::make(const backend::InitContext& context, PayloadGraph graph,
                                                               const BackendOptions& options,
                                                               std::shared_ptr<Workspace> workspace,
                                                               WeightStores stores, bool watch) {
  std::unique_ptr<XnnpackDelegate> delegate(
      new XnnpackDelegate(std::move(graph), options, std::move(workspace), std::move(stores)));
  PTERUN_ASSIGN(delegate->declared_, xnnpack_payload::infer_declared_shapes(delegate->graph_));
  PTERUN_ASSIGN(delegate->inputs_, make_arguments(delegate->graph_, delegate->graph_.inputs));
  PTERUN_ASSIGN(delegate->outputs_, make_arguments(delegate->graph_, delegate->graph_.outputs));
  const auto is_converted = [](const Argument& argument) { return argument.is_converted || argument.is_index; };
  delegate->has_conversions_ =
      std::ranges::any_of(delegate->inputs_, is_converted) || std::ranges::any_of(delegate->outputs_, is_converted);
  expose_unread_results(delegate->graph_, delegate->outputs_, watch);
  PTERUN_TRY(delegate->constants_.prepare(delegate->graph_));
  delegate->threads_ = context.threads;
  if (context.profile_nodes) delegate->node_profile_.emplace();

  const ConstantStore& constants = delegate->constants_;
  PTERUN_TRY(delegate->make_runtime(delegate->declared_, [&](const void* constant) {
    const Bytes original = constants.original(constant);
    if (context.release_pages && !original.empty()) context.release_pages(original);
  }));
  delegate->weights_.report_unnamed();
  return delegate;
}

bool XnnpackDelegate::is_declared(const std::vector<Shape>& shapes) const {
  return std::ranges::all_of(inputs_, [&](const Argument& i) { return shapes[i.value] == declared_[i.value]; });
}

Result<void> XnnpackDelegate::make_runtime(const std::vector<Shape>& shapes,
                                           const std::function<void(const void*)>& release_constant) {
  pool_ = choose_pool(shapes);
  NodePlan plan = plan_nodes(graph_, shapes, is_declared(shapes));
  PTERUN_ASSIGN(const Subgraph subgraph, SubgraphBuilder(graph_, constants_, plan).build());
  if (weights_.is_empty()) {
    for (const Node& node : plan.nodes) {
      if (!packs_weights(graph_, node)) continue;
      const bool has_bias = node.num_inputs > 2 && node.inputs[2] != xnnpack_payload::kNoValue;
      weights_.expect(constants_.data(node.inputs[1]), has_bias ? constants_.data(node.inputs[2]) : nullptr,
                      weights_.is_shared() ? weight_key(graph_, node) : std::string());
    }
  }
  const std::uint32_t flags = kNoOperatorFusion | (node_profile_ ? XNN_FLAG_BASIC_PROFILING : 0);
  const auto lock = workspace_->lock();
  runtime_.reset();
  is_set_up_ = false;
  weights_.begin(release_constant);
  xnn_runtime_t made = nullptr;
  const xnn_status status =
      xnn_create_runtime_v4(subgraph.get(), weights_.provider(), workspace_->handle(), pool_, flags, &made);
  weights_.end();
  if (status != xnn_status_success) return fail(diagnose(status, graph_, constants_, plan));
  runtime_.reset(made);
  if (node_profile_) node_profile_->begin(made);
  plan_ = std::move(plan);
  built_for_ = shapes;
  return {};
}

// Executing -------------------------------------------------------------------------------------------------------

Result<bool> XnnpackDelegate::inputs_changed_shape(std::span<pterun::Value* const> args) {
  bool changed = false;
  for (Argument& input : inputs_) {
    PTERUN_ASSIGN(const Tensor* tensor, tensor_of(args, input));
    if (input.shape == tensor->shape() && input.order == tensor->dim_order()) continue;
    input.shape = tensor->shape();
    input.order = tensor->dim_order();
    changed = true;
  }
  return changed;
}

pthreadpool* XnnpackDelegate::choose_pool(const std::vector<Shape>& shapes) const {
  return threads_->handle() != nullptr && is_worth_threads(graph_, shapes) ? threads_->handle() : nullptr;
}

bool XnnpackDelegate::needs_other_runtime(const std::vector<Shape>& shapes) const {
  if (choose_pool(shapes) != pool_) return true;
  if (plan_.is_specialised) return !is_declared(shapes);
  for (const Node& node : plan_.nodes) {
    if (node.kind != NodeKind::kStaticSlice) continue;
    const auto& params = std::get<xnnpack_payload::SliceParams>(node.params);
    const Shape& built_input = built_for_[node.inputs[0]];
    const Shape& built_output = built_for_[node.outputs[0]];
    const Shape& input = shapes[node.inputs[0]];
    const Shape& output = shapes[node.outputs[0]];
    for (std::size_t i = 0; i < output.rank(); ++i) {
      const bool built_as_all = params.offsets[i] == 0 && built_output[i] == built_input[i];
      if (built_as_all ? output[i] != input[i] : output[i] != built_output[i]) return true;
    }
  }
  return false;
}

// The shape that XNNPACK knows an input or output by.
const Shape& XnnpackDelegate::inner_shape(ValueIndex index) const {
  return plan_.is_specialised ? plan_.shapes[index] : shapes_[index];
}

// New shapes of all values from those of the inputs; another runtime where a slice's size depends on them.
Result<void> XnnpackDelegate::infer(std::span<pterun::Value* const> args) {
  std::vector<Shape> shapes;
  shapes.reserve(inputs_.size());
  for (const Argument& input : inputs_) {
    PTERUN_ASSIGN(const Tensor* tensor, tensor_of(args, input));
    shapes.push_back(physical_shape(*tensor, graph_.values[input.value].dims));
    if (shapes.back().rank() > XNN_MAX_TENSOR_DIMS) {
      return fail(program_error(ErrorCode::kInvalidArgument,
                                fmt::format("XNNPACK delegate argument {} has {} dims; XNNPACK takes at most {}",
                                            input.position, shapes.back().rank(), XNN_MAX_TENSOR_DIMS)));
    }
  }
  PTERUN_ASSIGN(shapes_, xnnpack_payload::infer_shapes(graph_, shapes));
  outputs_empty_ = std::ranges::all_of(outputs_, [&](const Argument& o) { return shapes_[o.value].numel() == 0; });
  if (!outputs_empty_ && needs_other_runtime(shapes_)) PTERUN_TRY(make_runtime(shapes_, {}));
  return {};
}

Result<void> XnnpackDelegate::resize_outputs(std::span<pterun::Value* const> args) {
  for (Argument& output : outputs_) {
    if (output.is_hidden) continue;
    PTERUN_ASSIGN(Tensor * tensor, tensor_of(args, output));
    const Shape& physical = shapes_[output.value];
    if (output.shape == tensor->shape() && output.order == tensor->dim_order() && is_set_up_) continue;
    const bool is_scalar = tensor->rank() == 0 && physical == Shape{1};
    if (tensor->rank() != physical.rank() && !is_scalar) {
      return fail(program_error(ErrorCode::kInternal,
                                fmt::format("XNNPACK delegate argument {} is {}, its result has the shape {}",
                                            output.position, tensor->describe(), physical.to_string())));
    }
    const Shape wanted = logical_shape(physical, *tensor);
    if (!(tensor->shape() == wanted)) {
      if (auto resized = tensor->resize(wanted); !resized) {
        return fail(std::move(resized).error().at("output", fmt::format("delegate argument {}", output.position)));
      }
    }
    output.shape = wanted;
    output.order = tensor->dim_order();
  }
  return {};
}

Result<bool> XnnpackDelegate::update_pointers(std::span<pterun::Value* const> args) {
  bool changed = false;
  std::size_t external = 0;
  for (std::vector<Argument>* list : {&inputs_, &outputs_}) {
    for (Argument& argument : *list) {
      void* data = nullptr;
      if (argument.is_converted || argument.is_hidden) {
        const std::size_t bytes = static_cast<std::size_t>(shapes_[argument.value].numel()) * sizeof(float);
        if (argument.scratch.data() == nullptr || argument.scratch.size() < bytes) {
          PTERUN_ASSIGN(argument.scratch, AlignedBuffer::allocate(bytes));
        }
        data = argument.scratch.data();
      } else {
        Tensor& tensor = *args[argument.position]->tensor();
        data = tensor.mutable_raw_data();
        if (data == nullptr && tensor.numel() != 0) {
          return fail(program_error(ErrorCode::kInvalidArgument,
                                    fmt::format("XNNPACK delegate argument {} has no memory", argument.position)));
        }
      }
      changed = changed || data != argument.data;
      argument.data = data;
      externals_[external++] = {argument.position, data};
    }
  }
  return changed;
}

// With new shapes everything is planned anew: xnn_reshape_runtime (2024-11) keeps a memory plan that was made for
// smaller shapes when a value grows again to a size it had before, and then writes past it. xnn_setup_runtime always
// plans. The same for copies whose input and output once had one address: they stay skipped until reshaped.
Result<void> XnnpackDelegate::set_up(bool reshape) {
  for (const Argument& input : inputs_) {
    for (const Argument& output : outputs_)
      met_alias_ |= input.data != nullptr && input.data == output.data;
  }
  if (!reshape && !met_alias_) {
    const xnn_status status = xnn_setup_runtime_v2(runtime_.get(), externals_.size(), externals_.data());
    if (status == xnn_status_success) return {};
    return fail(xnnpack::status_error(status, "setting up the delegate"));
  }
  for (const Argument& input : inputs_) {
    const Shape& shape = inner_shape(input.value);
    std::array<std::size_t, XNN_MAX_TENSOR_DIMS> dims{};
    for (std::size_t i = 0; i < shape.rank(); ++i)
      dims[i] = static_cast<std::size_t>(shape[i]);
    const xnn_status status = xnn_reshape_external_value(runtime_.get(), input.position, shape.rank(), dims.data());
    if (status != xnn_status_success) return fail(xnnpack::status_error(status, "reshaping a delegate's input"));
  }
  PlanWatch watch(*workspace_);
  const xnn_status status = xnn_setup_runtime(runtime_.get(), externals_.size(), externals_.data());
  PTERUN_TRY(watch.finish());
  if (status != xnn_status_success) return fail(xnnpack::status_error(status, "reshaping and setting up the delegate"));
  return check_output_shapes();
}

// XNNPACK must agree with the shapes that the outputs' memory was checked for.
Result<void> XnnpackDelegate::check_output_shapes() const {
  for (const Argument& output : outputs_) {
    std::size_t rank = 0;
    std::array<std::size_t, XNN_MAX_TENSOR_DIMS> dims{};
    if (xnn_get_external_value_shape(runtime_.get(), output.position, &rank, dims.data()) != xnn_status_success)
      continue;
    const Shape& expected = inner_shape(output.value);
    bool same = rank == expected.rank();
    for (std::size_t i = 0; same && i < rank; ++i)
      same = dims[i] == static_cast<std::size_t>(expected[i]);
    if (same) continue;
    Shape found;
    for (std::size_t i = 0; i < rank; ++i)
      found.push_back(static_cast<std::int64_t>(dims[i]));
    return fail(make_error(ErrorCode::kInternal,
                           fmt::format("XNNPACK delegate argument {}: XNNPACK would write {}, {} was inferred",
                                       output.position, found.to_string(), expected.to_string())));
  }
  return {};
}

Result<void> XnnpackDelegate::execute(std::span<pterun::Value* const> args) {
  PTERUN_ASSIGN(const bool changed, inputs_changed_shape(args));
  const bool reshape = changed || !is_set_up_;
  if (reshape) {
    is_set_up_ = false;  // until all of it has worked
    PTERUN_TRY(infer(args));
  }
  PTERUN_TRY(resize_outputs(args));
  if (outputs_empty_) {
    is_set_up_ = false;
    return {};
  }
  externals_.resize(inputs_.size() + outputs_.size());
  PTERUN_ASSIGN(const bool moved, update_pointers(args));

  const auto lock = workspace_->lock();
  if (reshape || moved) {
    is_set_up_ = false;
    PTERUN_TRY(set_up(reshape));
    is_set_up_ = true;
  }
  if (has_conversions_) convert_inputs(inputs_, args);
  if (const xnn_status status = xnn_invoke_runtime(runtime_.get()); status != xnn_status_success) {
    return fail(xnnpack::status_error(status, "running the delegate"));
  }
  if (node_profile_) node_profile_->add(runtime_.get());
  if (has_conversions_) convert_outputs(outputs_, args);
  return {};
}

}  // namespace pterun::backends::xnn
