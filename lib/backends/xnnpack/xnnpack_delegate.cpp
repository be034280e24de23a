// Execution of a delegate. The common call has the shapes and addresses of the one before: it costs a few comparisons
// and xnn_invoke_runtime.
#include "backends/xnnpack/xnnpack_delegate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack/disk_cache.h"
#include "backends/xnnpack/weight_keys.h"
#include "backends/xnnpack/work_estimate.h"
#include "backends/xnnpack_payload/shape_inference.h"
#include "xnnpack/library.h"

namespace pterun::backends::xnn {
namespace {

using xnnpack_payload::data_type_name;

// The sizes of a dense tensor's dims in their order of memory, as the payload sees them; `declared` are the payload's.
// Dims of size 1 may stand anywhere in memory: where the dim order alone leads elsewhere, a row-major tensor of the
// declared shape is that shape (a channels-last image with one channel, a 0-d tensor).
Shape physical_shape(const Tensor& tensor, const Shape& declared) {
  const Shape& logical = tensor.shape();
  if (logical.rank() == 0 && declared.rank() == 1) return Shape{1};
  Shape physical = logical;
  for (std::size_t i = 0; i < logical.rank(); ++i)
    physical[i] = logical[tensor.dim_order()[i]];
  return !(physical == declared) && logical == declared && tensor.is_row_major() ? logical : physical;
}

// The inverse: the sizes of a result with physical sizes in the tensor that is to hold it.
Shape logical_shape(const Shape& physical, const Tensor& tensor) {
  if (tensor.rank() == 0 && physical == Shape{1}) return Shape{};
  Shape logical = physical;
  for (std::size_t i = 0; i < physical.rank(); ++i)
    logical[tensor.dim_order()[i]] = physical[i];
  return !(logical == tensor.shape()) && physical == tensor.shape() && tensor.is_row_major() ? physical : logical;
}

Result<DType> argument_dtype(const Value& value) {
  switch (value.type) {
    case DataType::kFp32: return DType::kFloat32;
    case DataType::kFp16: return DType::kFloat16;
    case DataType::kBf16: return DType::kBFloat16;
    case DataType::kQint8: return DType::kInt8;
    case DataType::kQuint8: return DType::kUInt8;
    case DataType::kQint32:
    case DataType::kInt32: return DType::kInt32;
    default: break;
  }
  return fail(program_error(
      ErrorCode::kNotSupported,
      fmt::format("XNNPACK value {} is {}, which cannot be passed in or out", value.id, data_type_name(value.type))));
}

bool dtype_matches(DType expected, DType found) {
  if (expected == found) return true;
  return (expected == DType::kInt8 && found == DType::kQInt8) ||
         (expected == DType::kUInt8 && found == DType::kQUInt8) ||
         (expected == DType::kInt32 && found == DType::kQInt32);
}

// 32-bit indices come from ArgMaxPooling2d, perhaps moved about; exporters declare them fp32.
std::vector<bool> find_indices(const PayloadGraph& graph) {
  std::vector<bool> is_index(graph.values.size());
  for (const Node& node : graph.nodes) {
    switch (node.kind) {
      case NodeKind::kArgMaxPooling2d: is_index[node.outputs[1]] = true; break;
      case NodeKind::kStaticTranspose:
      case NodeKind::kStaticReshape:
      case NodeKind::kStaticSlice:
      case NodeKind::kCopy: is_index[node.outputs[0]] = is_index[node.inputs[0]]; break;
      default: break;
    }
  }
  return is_index;
}

void widen_in_place(Tensor& tensor) {
  const auto* from = static_cast<const std::byte*>(tensor.raw_data());
  auto* to = tensor.mutable_data<std::int64_t>();
  for (std::int64_t i = tensor.numel() - 1; i >= 0; --i) {
    std::int32_t index;
    std::memcpy(&index, from + i * static_cast<std::int64_t>(sizeof index), sizeof index);
    to[i] = index;
  }
}

}  // namespace

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
                                                               WeightStores stores) {
  std::unique_ptr<XnnpackDelegate> delegate(
      new XnnpackDelegate(std::move(graph), options, std::move(workspace), std::move(stores)));
  PTERUN_ASSIGN(delegate->declared_, xnnpack_payload::infer_declared_shapes(delegate->graph_));
  PTERUN_TRY(delegate->make_arguments());
  delegate->expose_unread_results();
  PTERUN_TRY(delegate->constants_.prepare(delegate->graph_));

  delegate->threads_ = context.threads;

  const ConstantStore& constants = delegate->constants_;
  PTERUN_TRY(delegate->make_runtime(delegate->declared_, [&](const void* constant) {
    const Bytes original = constants.original(constant);
    if (context.release_pages && !original.empty()) context.release_pages(original);
  }));
  delegate->weights_.report_unnamed();
  return delegate;
}

// XNNPACK 2024-11 drops a value that no node reads even where a node still writes it, and then writes to no address.
// As an output it stays.
void XnnpackDelegate::expose_unread_results() {
  std::vector<bool> is_read(graph_.values.size());
  for (const Node& node : graph_.nodes) {
    for (const ValueIndex input : node.input_ids()) {
      if (input != xnnpack_payload::kNoValue) is_read[input] = true;
    }
  }
  for (const Node& node : graph_.nodes) {
    for (const ValueIndex output : node.output_ids()) {
      Value& value = graph_.values[output];
      if (node.num_outputs < 2 || is_read[output] || value.is_output) continue;
      value.is_output = true;
      value.external_id = graph_.num_externs++;
      graph_.outputs.push_back(output);
      Argument hidden;
      hidden.value = output;
      hidden.position = value.external_id;
      hidden.is_hidden = true;
      outputs_.push_back(std::move(hidden));
    }
  }
}

Result<void> XnnpackDelegate::make_arguments() {
  const std::vector<bool> indices = find_indices(graph_);
  for (const bool is_input : {true, false}) {
    for (const ValueIndex index : is_input ? graph_.inputs : graph_.outputs) {
      const Value& value = graph_.values[index];
      Argument argument;
      argument.value = index;
      argument.position = value.external_id;
      PTERUN_ASSIGN(argument.dtype, argument_dtype(value));
      argument.is_converted = value.type == DataType::kBf16;
      argument.is_index = indices[index];
      if (argument.is_index) argument.dtype = DType::kInt32;
      has_conversions_ |= argument.is_converted || argument.is_index;
      (is_input ? inputs_ : outputs_).push_back(std::move(argument));
    }
  }
  return {};
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
  // XNNPACK's own fusion writes clamp bounds over the parameters of convolutions (a union); pterun's passes fuse.
  constexpr std::uint32_t kNoOperatorFusion = 0x80000000;
  const auto lock = workspace_->lock();
  runtime_.reset();
  is_set_up_ = false;
  weights_.begin(release_constant);
  xnn_runtime_t made = nullptr;
  const xnn_status status =
      xnn_create_runtime_v4(subgraph.get(), weights_.provider(), workspace_->handle(), pool_, kNoOperatorFusion, &made);
  weights_.end();
  if (status != xnn_status_success) return fail(diagnose(status, plan));
  runtime_.reset(made);
  plan_ = std::move(plan);
  built_for_ = shapes;
  return {};
}

Error XnnpackDelegate::diagnose(xnn_status status, const NodePlan& plan) const {
  Error general = xnnpack::status_error(status, "a runtime cannot be made");
  if (status == xnn_status_out_of_memory) return general;
  for (const Node& node : plan.nodes) {
    PayloadGraph alone;
    alone.values = graph_.values;
    alone.values.insert(alone.values.end(), plan.added.begin(), plan.added.end());
    const NodePlan single{{node}, plan.shapes, {}, false};
    for (Value& value : alone.values)
      value.is_input = value.is_output = false;
    for (const ValueIndex input : node.input_ids()) {
      if (input == xnnpack_payload::kNoValue || alone.values[input].is_constant) continue;
      Value& value = alone.values[input];
      if (!value.is_input) value.external_id = alone.num_externs++;
      value.is_input = true;
    }
    for (const ValueIndex output : node.output_ids()) {
      alone.values[output].is_output = true;
      alone.values[output].external_id = alone.num_externs++;
    }
    SubgraphBuilder builder(alone, constants_, single);
    const auto subgraph = builder.build();
    if (!subgraph) return subgraph.error();
    xnn_runtime_t made = nullptr;
    const xnn_status node_status = xnn_create_runtime_v3(subgraph->get(), nullptr, nullptr, 0x80000000, &made);
    const Runtime runtime(made);
    if (node_status != xnn_status_success) return builder.check(node_status, node).error();
  }
  return general;
}

// Executing -------------------------------------------------------------------------------------------------------

Result<Tensor*> XnnpackDelegate::tensor_of(std::span<pterun::Value* const> args, const Argument& argument) const {
  const auto wrong = [&](ErrorCode code, const std::string& what) {
    return fail(program_error(code, fmt::format("XNNPACK delegate argument {}: {}", argument.position, what)));
  };
  if (argument.position >= args.size()) {
    return wrong(ErrorCode::kInvalidProgram, fmt::format("the delegate call has {} arguments", args.size()));
  }
  Tensor* tensor = args[argument.position]->tensor();
  if (tensor == nullptr) {
    return wrong(ErrorCode::kInvalidArgument,
                 fmt::format("expected a tensor, found {}", args[argument.position]->kind_name()));
  }
  const bool is_wide_index = argument.is_index && tensor->dtype() == DType::kInt64;
  if (!dtype_matches(argument.dtype, tensor->dtype()) && !is_wide_index) {
    return wrong(ErrorCode::kInvalidArgument,
                 fmt::format("expected {}, found {}", dtype_name(argument.dtype), dtype_name(tensor->dtype())));
  }
  return tensor;
}

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

void XnnpackDelegate::convert_inputs(std::span<pterun::Value* const> args) const {
  for (const Argument& input : inputs_) {
    if (!input.is_converted) continue;
    const Tensor& tensor = *args[input.position]->tensor();
    const auto* from = tensor.data<BFloat16>();
    auto* to = static_cast<float*>(input.data);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      to[i] = static_cast<float>(from[i]);
  }
}

void XnnpackDelegate::convert_outputs(std::span<pterun::Value* const> args) const {
  for (const Argument& output : outputs_) {
    if (output.is_hidden) continue;
    Tensor& tensor = *args[output.position]->tensor();
    if (output.is_index && tensor.dtype() == DType::kInt64) widen_in_place(tensor);
    if (!output.is_converted) continue;
    const auto* from = static_cast<const float*>(output.data);
    auto* to = tensor.mutable_data<BFloat16>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      to[i] = BFloat16(from[i]);
  }
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
  if (has_conversions_) convert_inputs(args);
  if (const xnn_status status = xnn_invoke_runtime(runtime_.get()); status != xnn_status_success) {
    return fail(xnnpack::status_error(status, "running the delegate"));
  }
  if (has_conversions_) convert_outputs(args);
  return {};
}

// Reporting -------------------------------------------------------------------------------------------------------

std::vector<backend::OptionEffect> XnnpackDelegate::option_effects() const {
  const auto mode = static_cast<std::int32_t>(options_.workspace_sharing);
  const PackedStats& stats = weights_.stats();
  std::string cache =
      fmt::format("off: shared inside this program only, {} hits, {} bytes packed", stats.hits, stats.packed_bytes);
  if (options_.weight_cache) {
    cache = fmt::format("{} hits, {} misses, {} bytes packed, {} bytes in use", stats.hits, stats.misses,
                        stats.packed_bytes, stats.bytes);
  }
  std::vector<backend::OptionEffect> effects = {
      {kWorkspaceSharingKey, options::OptionValue(mode),
       fmt::format("{}: workspace {}, {} bytes, used by {} delegate{}",
                   workspace_sharing_name(options_.workspace_sharing), workspace_->id(), workspace_->bytes(),
                   workspace_->users(), workspace_->users() == 1 ? "" : "s")},
      {kWeightCacheKey, options::OptionValue(options_.weight_cache), cache}};
  if (!options_.packed_cache_path.empty()) add_cache_file_effects(effects);
  return effects;
}

// The path counts as in force only while the file holds what is used; the text says what became of it.
void XnnpackDelegate::add_cache_file_effects(std::vector<backend::OptionEffect>& effects) const {
  const DiskCache* disk = weights_.disk();
  if (disk == nullptr) {
    effects.push_back({kPackedCachePathKey, options::OptionValue(std::string()),
                       fmt::format("not used: {} serves another program of this process", options_.packed_cache_path)});
    return;
  }
  const PackedStats& stats = weights_.stats();
  std::string text = fmt::format("{}; here {} entries, {} bytes reused, {} missed", disk->status(), stats.mapped,
                                 stats.mapped_bytes, stats.misses);
  if (stats.packed_in_vain > 0) {
    text += fmt::format("; {} packed all the same: XNNPACK does not ask for those first", stats.packed_in_vain);
  }
  if (stats.unnamed > 0) text += fmt::format("; {} not kept: their weights have no name", stats.unnamed);
  if (const std::size_t others = weights_.unasked(); others > 0) {
    text += fmt::format("; {} not kept: XNNPACK packs depthwise convolutions without a cache", others);
  }
  if (const std::size_t others = weights_.unannounced(); others > 0) {
    text += fmt::format("; {} not kept: constant operands of matrix products", others);
  }
  effects.push_back({kPackedCachePathKey,
                     options::OptionValue(disk->is_in_force() ? options_.packed_cache_path : std::string()), text});
  if (const auto demand = disk->saved_on_demand()) {
    effects.push_back({kSaveCacheKey, options::OptionValue(demand->succeeded), demand->text});
  }
}

backend::Metrics XnnpackDelegate::metrics() const {
  const PackedStats& stats = weights_.stats();
  return {
      {"nodes", static_cast<std::int64_t>(graph_.nodes.size())},
      {"nodes_run", static_cast<std::int64_t>(plan_.nodes.size())},
      {"packed_bytes", stats.bytes},
      {"packed_here_bytes", stats.packed_bytes},
      {"threads", pool_ == nullptr ? 1 : static_cast<std::int64_t>(pthreadpool_get_threads_count(pool_))},
      {"weight_cache_hits", stats.hits},
      {"weight_cache_misses", stats.misses},
      {"cache_file_hits", stats.mapped},
      {"cache_file_bytes", stats.mapped_bytes},
      {"workspace_bytes", static_cast<std::int64_t>(workspace_->bytes())},
      {"workspace_id", workspace_->id()},
  };
}

}  // namespace pterun::backends::xnn
