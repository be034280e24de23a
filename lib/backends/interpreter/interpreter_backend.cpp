// Reading a payload and running its nodes in order.
#include "backends/interpreter/interpreter_backend.h"

#include <cstring>

#include <fmt/format.h>

#include "backends/interpreter/real_values.h"
#include "backends/interpreter/run_node.h"
#include "backends/xnnpack_payload/call_layout.h"
#include "backends/xnnpack_payload/output_scale.h"
#include "backends/xnnpack_payload/payload_reader.h"
#include "backends/xnnpack_payload/shape_inference.h"

namespace pterun::backends {
namespace {

using interpreter::Reals;
using xnnpack_payload::Node;
using xnnpack_payload::PayloadGraph;
using xnnpack_payload::ValueIndex;

class InterpreterDelegate final : public backend::Delegate {
 public:
  static Result<std::unique_ptr<InterpreterDelegate>> make(PayloadGraph graph) {
    std::unique_ptr<InterpreterDelegate> delegate(new InterpreterDelegate(std::move(graph)));
    PTERUN_TRY(delegate->prepare());
    return delegate;
  }

  Result<void> execute(std::span<pterun::Value* const> args) override {
    PTERUN_TRY(read_inputs(args));
    for (const Node& node : graph_.nodes)
      PTERUN_TRY(interpreter::run_node(graph_, node, shapes_, reals_));
    return write_outputs(args);
  }

  std::optional<double> output_scale(std::size_t argument) const override {
    return xnnpack_payload::output_scale(graph_, static_cast<std::uint32_t>(argument));
  }

 private:
  explicit InterpreterDelegate(PayloadGraph graph) : graph_(std::move(graph)) {}

  Result<void> prepare() {
    PTERUN_ASSIGN(shapes_, xnnpack_payload::infer_declared_shapes(graph_));
    reals_.resize(graph_.values.size());
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (!graph_.values[i].is_constant) continue;
      PTERUN_ASSIGN(reals_[i], interpreter::constant_reals(graph_.values[i]));
    }
    return interpreter::check_kernels(graph_);
  }

  Result<Tensor*> tensor_of(std::span<pterun::Value* const> args, ValueIndex value) const {
    const std::uint32_t position = graph_.values[value].external_id;
    Tensor* tensor = position < args.size() ? args[position]->tensor() : nullptr;
    if (tensor == nullptr) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("argument {} of the delegate call is no tensor", position));
    }
    return tensor;
  }

  // The payload knows tensors by their order in memory.
  Result<void> read_inputs(std::span<pterun::Value* const> args) {
    std::vector<Shape> inputs;
    for (const ValueIndex value : graph_.inputs) {
      PTERUN_ASSIGN(Tensor * tensor, tensor_of(args, value));
      inputs.push_back(xnnpack_payload::physical_shape(*tensor, graph_.values[value].dims));
      const Tensor physical(tensor->dtype(), inputs.back(), tensor->mutable_raw_data());
      PTERUN_ASSIGN(reals_[value], interpreter::read_tensor(graph_.values[value], physical));
    }
    PTERUN_ASSIGN(shapes_, xnnpack_payload::infer_shapes(graph_, inputs));
    return {};
  }

  Result<void> write_outputs(std::span<pterun::Value* const> args) {
    for (const ValueIndex value : graph_.outputs) {
      PTERUN_ASSIGN(Tensor * tensor, tensor_of(args, value));
      const bool same_rank = shapes_[value].rank() == tensor->rank();
      PTERUN_TRY(tensor->resize(same_rank ? xnnpack_payload::logical_shape(shapes_[value], *tensor) : tensor->shape()));
      if (static_cast<std::size_t>(tensor->numel()) != reals_[value].size()) {
        return fail(ErrorCode::kInternal,
                    fmt::format("output {} has {} elements, {} were computed", graph_.values[value].external_id,
                                tensor->numel(), reals_[value].size()));
      }
      Tensor physical(tensor->dtype(), shapes_[value], tensor->mutable_raw_data());
      PTERUN_TRY(interpreter::write_tensor(graph_.values[value], reals_[value], physical));
    }
    return {};
  }

  PayloadGraph graph_;
  std::vector<Shape> shapes_;  // by value, of the last execution
  std::vector<Reals> reals_;   // by value
};

class InterpreterBackend final : public backend::Backend {
 public:
  InterpreterBackend() { table_.backend = "XnnpackBackend"; }
  const options::OptionTable& option_table() const override { return table_; }
  Result<void> set_option(std::span<const options::Option> options) override {
    if (options.empty()) return {};
    return fail(ErrorCode::kNotFound, fmt::format("the interpreter has no option '{}'", options.front().key));
  }
  Result<options::OptionValue> get_option(std::string_view key) const override {
    return fail(ErrorCode::kNotFound, fmt::format("the interpreter has no option '{}'", key));
  }
  Result<std::unique_ptr<backend::Delegate>> init(const backend::InitContext& context, Bytes payload,
                                                  std::span<const backend::CompileSpec>) override {
    const auto lookup = [&](std::string_view key) { return context.named_data->find(key); };
    PTERUN_ASSIGN(PayloadGraph graph, xnnpack_payload::read_payload(payload, lookup));
    return InterpreterDelegate::make(std::move(graph));
  }

 private:
  options::OptionTable table_;
};

}  // namespace

std::unique_ptr<backend::Backend> make_interpreter_backend() {
  return std::make_unique<InterpreterBackend>();
}

}  // namespace pterun::backends
