// A delegate around a delegate: inputs are copied before the call, since outputs may lie in their memory.
#include "backends/xnnpack/watching_backend.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "backends/xnnpack/xnnpack_delegate.h"
#include "backends/xnnpack_payload/payload_reader.h"
#include "xnnpack/library.h"

namespace pterun::backends {
namespace {

using xnnpack_payload::ValueIndex;

class WatchingDelegate final : public backend::Delegate {
 public:
  WatchingDelegate(std::unique_ptr<xnn::XnnpackDelegate> delegate, std::string method, std::size_t index,
                   const DelegateWatcher& watcher)
      : delegate_(std::move(delegate)), method_(std::move(method)), index_(index), watcher_(watcher) {}

  Result<void> execute(std::span<pterun::Value* const> args) override {
    const xnnpack_payload::PayloadGraph& graph = delegate_->graph();
    std::vector<AlignedBuffer> inputs(graph.values.size());
    for (const ValueIndex value : graph.inputs) {
      const Tensor* tensor = tensor_of(args, value);
      if (tensor == nullptr) continue;  // the delegate says so
      PTERUN_ASSIGN(inputs[value], AlignedBuffer::allocate(tensor->nbytes()));
      if (tensor->nbytes() != 0) std::memcpy(inputs[value].data(), tensor->raw_data(), tensor->nbytes());
    }
    PTERUN_TRY(delegate_->execute(args));

    const std::span<const Shape> shapes = delegate_->shapes();
    std::vector<std::optional<Tensor>> values(graph.values.size());
    for (ValueIndex value = 0; value < values.size(); ++value) {
      values[value] = delegate_->watched(value);
      const Tensor* tensor = graph.values[value].is_external() ? tensor_of(args, value) : nullptr;
      if (tensor == nullptr || tensor->numel() != shapes[value].numel()) continue;
      void* data = graph.values[value].is_input ? inputs[value].data() : const_cast<void*>(tensor->raw_data());
      values[value] = Tensor(tensor->dtype(), shapes[value], data);
    }
    return watcher_({method_, index_, shapes, values});
  }

  std::optional<double> output_scale(std::size_t argument) const override { return delegate_->output_scale(argument); }

 private:
  const Tensor* tensor_of(std::span<pterun::Value* const> args, ValueIndex value) const {
    const std::uint32_t position = delegate_->graph().values[value].external_id;
    return position < args.size() ? args[position]->tensor() : nullptr;
  }

  std::unique_ptr<xnn::XnnpackDelegate> delegate_;
  std::string method_;
  std::size_t index_;
  const DelegateWatcher& watcher_;  // the backend's, which outlives its delegates
};

class WatchingBackend final : public backend::Backend {
 public:
  explicit WatchingBackend(DelegateWatcher watcher) : watcher_(std::move(watcher)) {}

  const options::OptionTable& option_table() const override { return xnn::option_table(); }
  bool is_available() const override { return xnnpack::initialize().has_value(); }
  Result<void> set_option(std::span<const options::Option> options) override {
    if (options.empty()) return {};
    return fail(ErrorCode::kNotFound, fmt::format("watching takes no option '{}'", options.front().key));
  }
  Result<options::OptionValue> get_option(std::string_view key) const override {
    return fail(ErrorCode::kNotFound, fmt::format("watching has no option '{}'", key));
  }
  Result<std::unique_ptr<backend::Delegate>> init(const backend::InitContext& context, Bytes payload,
                                                  std::span<const backend::CompileSpec>) override {
    PTERUN_TRY(xnnpack::initialize());
    PTERUN_ASSIGN(auto graph, xnnpack_payload::read_payload(
                                  payload, [&](std::string_view key) { return context.named_data->find(key); }));
    const xnn::BackendOptions options;
    PTERUN_ASSIGN(auto workspace, workspaces_.get(options.workspace_sharing, context.program_id));
    PTERUN_ASSIGN(auto delegate,
                  xnn::XnnpackDelegate::make(context, std::move(graph), options, std::move(workspace), {}, true));
    return std::make_unique<WatchingDelegate>(std::move(delegate), std::string(context.method), context.delegate_index,
                                              watcher_);
  }

 private:
  DelegateWatcher watcher_;
  xnn::Workspaces workspaces_;
};

}  // namespace

std::unique_ptr<backend::Backend> make_watching_xnnpack_backend(DelegateWatcher watcher) {
  return std::make_unique<WatchingBackend>(std::move(watcher));
}

}  // namespace pterun::backends
