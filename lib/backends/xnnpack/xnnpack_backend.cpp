// The backend object: process-wide options, workspaces and weight cache, and delegates made from payloads.
#include "backends/xnnpack/xnnpack_backend.h"

#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "backends/xnnpack/backend_options.h"
#include "backends/xnnpack/disk_cache.h"
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
    for (const options::Option& option : options) {
      if (option.key != xnn::kSaveCacheKey || option.value != options::OptionValue(true)) continue;
      for (const auto& [path, known] : disk_caches_) {
        if (const auto cache = known.lock()) cache->save_on_demand();
      }
    }
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
    xnn::WeightStores stores;
    stores.cache = options.weight_cache ? weight_cache_ : program_cache(context.program_id);
    if (!options.packed_cache_path.empty()) stores.disk = disk_cache(options.packed_cache_path, context);
    stores.method = context.method;
    auto delegate =
        xnn::XnnpackDelegate::make(context, std::move(graph), options, std::move(workspace), std::move(stores));
    if (!delegate) return fail(std::move(delegate).error());
    return *std::move(delegate);
  }

  void method_loaded(std::uint64_t program_id, std::string_view method, LogSink& log) override {
    const auto known = disk_cache_of_program_.find(program_id);
    if (known == disk_cache_of_program_.end()) return;
    if (const auto cache = known->second.lock()) cache->finish_method(std::string(method), log);
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

  // The cache file at that path, opened once for all delegates. Null, with a warning, when it serves another program
  // that is still loaded: each would take the other's weights out of it.
  std::shared_ptr<xnn::DiskCache> disk_cache(const std::string& path, const backend::InitContext& context) {
    std::erase_if(disk_cache_of_program_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<xnn::DiskCache>& mine = disk_cache_of_program_[context.program_id];
    if (auto cache = mine.lock(); cache != nullptr && cache->path() == path) return cache;
    xnn::CacheIdentity identity = xnn::cache_identity(*context.named_data);
    std::weak_ptr<xnn::DiskCache>& known = disk_caches_[path];
    std::shared_ptr<xnn::DiskCache> cache = known.lock();
    if (cache != nullptr && cache->identity().program != identity.program) {
      if (context.delegate_index > 0) return nullptr;  // said once for the method
      context.log->warn({"weight_cache_taken",
                         fmt::format("{} is the weight cache of another program that is loaded: method '{}' does "
                                     "without it",
                                     path, context.method),
                         "use one file for each program"});
      return nullptr;
    }
    if (cache == nullptr) {
      cache = std::make_shared<xnn::DiskCache>(path, std::move(identity), context.verify_caches, *context.log);
    }
    known = mine = cache;
    return cache;
  }

  xnn::BackendOptions process_wide_;
  xnn::Workspaces workspaces_;
  std::shared_ptr<xnn::WeightCache> weight_cache_ = std::make_shared<xnn::WeightCache>();
  // Alive as long as a delegate of theirs:
  std::map<std::uint64_t, std::weak_ptr<xnn::WeightCache>> program_caches_;
  std::map<std::uint64_t, std::weak_ptr<xnn::DiskCache>> disk_cache_of_program_;
  std::map<std::string, std::weak_ptr<xnn::DiskCache>> disk_caches_;  // by path
};

}  // namespace

std::unique_ptr<backend::Backend> make_xnnpack_backend() {
  return std::make_unique<XnnpackBackend>();
}

}  // namespace pterun::backends
