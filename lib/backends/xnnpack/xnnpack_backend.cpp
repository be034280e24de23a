// The backend object: process-wide options, workspaces and weight cache, and delegates made from payloads.
#include "backends/xnnpack/xnnpack_backend.h"

#include <map>
#include <memory>
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
    auto delegate =
        xnn::XnnpackDelegate::make(context, std::move(graph), options, std::move(workspace),
                                   options.weight_cache ? weight_cache_ : program_cache(context.program_id));
    if (!delegate) return fail(std::move(delegate).error());
    return *std::move(delegate);
  }

 private:
  // Weights that one program uses several times (an unrolled recurrence: once per step) are packed once, whatever the
  // option says; the option is about sharing them with other programs of the process.
  std::shared_ptr<xnn::WeightCache> program_cache(std::uint64_t program_id) {
    std::erase_if(program_caches_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<xnn::WeightCache>& known = program_caches_[program_id];
    std::shared_ptr<xnn::WeightCache> cache = known.lock();
    if (cache == nullptr) known = cache = std::make_shared<xnn::WeightCache>();
    return cache;
  }

  xnn::BackendOptions process_wide_;
  xnn::Workspaces workspaces_;
  std::shared_ptr<xnn::WeightCache> weight_cache_ = std::make_shared<xnn::WeightCache>();
  std::map<std::uint64_t, std::weak_ptr<xnn::WeightCache>> program_caches_;  // alive as long as a delegate of theirs
};

}  // namespace

std::unique_ptr<backend::Backend> make_xnnpack_backend() {
  return std::make_unique<XnnpackBackend>();
}

}  // namespace pterun::backends
