// The backend object: process-wide options, workspaces and weight cache, and delegates made from payloads.
#include "backends/xnnpack/xnnpack_backend.h"

#include <utility>

#include "backends/xnnpack/backend_options.h"
#include "backends/xnnpack/xnnpack_delegate.h"
#include "backends/xnnpack_payload/payload_reader.h"
#include "xnnpack/library.h"

namespace pterun::backends {
namespace {

class XnnpackBackend final : public backend::Backend {
 public:
  const options::OptionTable& option_table() const override { return xnn::option_table(); }

  bool is_available() const override { return xnnpack::initialize().has_value(); }

  Result<void> set_option(std::span<const options::Option> options) override {
    PTERUN_ASSIGN(process_wide_, xnn::with_process_wide(process_wide_, options));
    return {};
  }

  Result<options::OptionValue> get_option(std::string_view key) const override {
    return xnn::process_wide_value(process_wide_, key);
  }

  Result<std::unique_ptr<backend::Delegate>> init(const backend::InitContext& context, Bytes payload,
                                                  std::span<const backend::CompileSpec>) override {
    PTERUN_TRY(xnnpack::initialize());
    PTERUN_ASSIGN(const xnn::BackendOptions options, xnn::with_load_options(process_wide_, context.load_options));
    PTERUN_ASSIGN(auto graph, xnnpack_payload::read_payload(
                                  payload, [&](std::string_view key) { return context.named_data->find(key); }));
    PTERUN_ASSIGN(auto workspace, workspaces_.get(options.workspace_sharing, context.program_id));
    auto delegate = xnn::XnnpackDelegate::make(context, std::move(graph), options, std::move(workspace),
                                               options.weight_cache ? weight_cache_ : nullptr);
    if (!delegate) return fail(std::move(delegate).error());
    return *std::move(delegate);
  }

 private:
  xnn::BackendOptions process_wide_;
  xnn::Workspaces workspaces_;
  std::shared_ptr<xnn::WeightCache> weight_cache_ = std::make_shared<xnn::WeightCache>();
};

}  // namespace

std::unique_ptr<backend::Backend> make_xnnpack_backend() {
  return std::make_unique<XnnpackBackend>();
}

}  // namespace pterun::backends
