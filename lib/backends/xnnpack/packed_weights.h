// Packed weights: XNNPACK repacks filters and biases for its kernels when a runtime is created, and asks a "weights
// cache provider" for the memory. Every delegate here has such a provider, so that the bytes are known, the pages of
// the originals can be dropped at once, and packed weights can be shared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <xnnpack.h>

#include "base/bytes.h"

namespace pterun::backends::xnn {

// One operator's packed weights. Immutable once packed.
class PackedBlock {
 public:
  // Null when memory is short.
  static std::shared_ptr<PackedBlock> allocate(std::size_t size_bytes);
  ~PackedBlock();
  PackedBlock(const PackedBlock&) = delete;
  PackedBlock& operator=(const PackedBlock&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  PackedBlock(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  std::size_t size_;
};

// The process's packed weights by key, held weakly: they go with the last delegate that uses them. Thread safe.
class WeightCache {
 public:
  std::shared_ptr<PackedBlock> find(const std::string& key);
  // Adds the block, or returns the one that another thread added first.
  std::shared_ptr<PackedBlock> insert(const std::string& key, std::shared_ptr<PackedBlock> block);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<PackedBlock>> blocks_;
  std::size_t sweep_at_ = 64;  // entries at which expired ones are swept out
};

// Counts of one delegate. bytes is what the delegate uses, packed_bytes what it had to pack itself.
struct PackedStats {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t bytes = 0;
  std::int64_t packed_bytes = 0;
};

// One delegate's provider. XNNPACK keeps a pointer to it in every operator: it must outlive the runtime.
class PackedWeights {
 public:
  // With a null cache nothing is shared. `release` is told what was packed and may be empty.
  explicit PackedWeights(std::shared_ptr<WeightCache> cache) : cache_(std::move(cache)) {
    provider_ = {this, look_up, reserve_space, look_up_or_insert, is_finalized, offset_to_addr, delete_cache};
  }
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  bool is_shared() const { return cache_ != nullptr; }
  bool is_empty() const { return expected_.empty(); }  // nothing was announced yet
  xnn_weights_cache_t provider() { return &provider_; }

  // Announces the weights of the next node, in node order, which is the order in which XNNPACK packs. `key` holds
  // everything that packing depends on but XNNPACK's seed; empty: not to be shared.
  void expect(const void* filter, const void* bias, std::string key);
  // Before a runtime is made: `release` is called with the bytes of constants that were packed. Starts from the first
  // announced node; on a second run (the same nodes, another shape) the blocks of the first are found again.
  void begin(std::function<void(const void*)> release);
  void end() { release_ = nullptr; }

  const PackedStats& stats() const { return stats_; }

 private:
  struct Expected {
    const void* filter = nullptr;
    const void* bias = nullptr;
    std::string key;
    std::uint32_t seed = 0;
    std::shared_ptr<PackedBlock> block;  // once packed or found
  };

  static std::size_t look_up(void* context, const xnn_weights_cache_look_up_key* key);
  static void* reserve_space(void* context, std::size_t size);
  static std::size_t look_up_or_insert(void* context, const xnn_weights_cache_look_up_key* key, void* packed,
                                       std::size_t size);
  static bool is_finalized(void*) { return true; }
  static void* offset_to_addr(void*, std::size_t offset) { return reinterpret_cast<void*>(offset); }
  static xnn_status delete_cache(void*) { return xnn_status_success; }

  Expected* current(const xnn_weights_cache_look_up_key& key);
  std::string shared_key(const Expected& expected, std::uint32_t seed) const;
  std::size_t use(Expected& expected, std::uint32_t seed, std::shared_ptr<PackedBlock> block, bool packed_here);

  std::shared_ptr<WeightCache> cache_;
  xnn_weights_cache_provider provider_{};
  std::vector<Expected> expected_;
  std::size_t next_ = 0;
  std::vector<std::shared_ptr<PackedBlock>> unannounced_;  // kept alive; nothing that a graph of ours makes
  std::shared_ptr<PackedBlock> pending_;                   // reserved, not yet inserted
  std::function<void(const void*)> release_;
  PackedStats stats_;
};

}  // namespace pterun::backends::xnn
