// What a delegate says of itself: the options in force for it, what came of them, sizes and counts.
#include <fmt/format.h>

#include "backends/xnnpack/disk_cache.h"
#include "backends/xnnpack/xnnpack_delegate.h"
#include "backends/xnnpack_payload/output_scale.h"

namespace pterun::backends::xnn {

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

std::optional<Tensor> XnnpackDelegate::watched(ValueIndex value) const {
  for (const Argument& output : outputs_) {
    if (!output.is_hidden || output.value != value || output.data == nullptr) continue;
    Value inside = graph_.values[value];
    inside.type = compute_type(inside.type);
    const auto dtype = argument_dtype(inside);
    if (dtype) return Tensor(*dtype, shapes_[value], output.data);
  }
  return std::nullopt;
}

std::optional<double> XnnpackDelegate::output_scale(std::size_t argument) const {
  return xnnpack_payload::output_scale(graph_, static_cast<std::uint32_t>(argument));
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

std::vector<backend::NodeTime> XnnpackDelegate::node_times() const {
  return node_profile_ ? node_profile_->times() : std::vector<backend::NodeTime>();
}

}  // namespace pterun::backends::xnn
