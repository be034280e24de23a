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

class DiskCache;

// One operator's packed weights, in memory of their own or in a mapped file. Immutable once packed.
class PackedBlock {
 public:
  // Null when memory is short.
  static std::shared_ptr<PackedBlock> allocate(std::size_t size_bytes);
  // Weights that `owner` holds: aligned to 64 bytes, with readable memory behind them. Never written to.
  static std::shared_ptr<PackedBlock> view(std::shared_ptr<const void> owner, Bytes weights);
  ~PackedBlock();
  PackedBlock(const PackedBlock&) = delete;
  PackedBlock& operator=(const PackedBlock&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool is_mapped() const { return owner_ != nullptr; }

 private:
  PackedBlock(std::byte* data, std::size_t size, std::shared_ptr<const void> owner)
      : data_(data), size_(size), owner_(std::move(owner)) {}
  std::byte* data_;
  std::size_t size_;
  std::shared_ptr<const void> owner_;  // null: the memory is this object's. Shared with other weights of a file
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
  std::int64_t mapped = 0;  // of the hits: weights in a cache file
  std::int64_t mapped_bytes = 0;
  std::int64_t packed_in_vain = 0;  // of the hits: XNNPACK packs such operators before it asks
  std::int64_t unnamed = 0;         // operators whose weights cannot be shared or kept
};

// Where a delegate's packed weights may come from and go to. A null cache shares nothing; a null disk keeps nothing.
struct WeightStores {
  std::shared_ptr<WeightCache> cache;
  std::shared_ptr<DiskCache> disk;  // shared by the delegates that were given its path
  std::string method;               // whose delegate this is, for the cache file
};

// One delegate's provider. XNNPACK keeps a pointer to it in every operator: it must outlive the runtime.
class PackedWeights {
 public:
  explicit PackedWeights(WeightStores stores) : stores_(std::move(stores)) {
    provider_ = {this, look_up, reserve_space, look_up_or_insert, is_finalized, offset_to_addr, delete_cache};
  }
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  bool is_shared() const { return stores_.cache != nullptr; }
  const DiskCache* disk() const { return stores_.disk.get(); }
  bool is_empty() const { return expected_.empty(); }  // nothing was announced yet
  xnn_weights_cache_t provider() { return &provider_; }

  // Announces the weights of the next node, in node order, which is the order in which XNNPACK packs. `key` holds
  // everything that packing depends on but XNNPACK's seed; empty: not to be shared.
  void expect(const void* filter, const void* bias, std::string key);
  // Before a runtime is made: `release` is called with the bytes of constants that were packed. Starts from the first
  // announced node; on a second run (the same nodes, another shape) the blocks of the first are found again.
  void begin(std::function<void(const void*)> release);
  void end() { release_ = nullptr; }
  // Tells the disk cache of weights that it cannot keep. Once, when all are announced.
  void report_unnamed() const;

  const PackedStats& stats() const { return stats_; }
  std::size_t unannounced() const { return unannounced_.size(); }
  // Announced weights that XNNPACK packed into memory of its own, without asking: it has no cache for depthwise
  // convolutions. Of the last runtime made.
  std::size_t unasked() const;

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

  static bool is_of(const Expected& expected, const xnn_weights_cache_look_up_key& key);
  Expected* current(const xnn_weights_cache_look_up_key& key);
  std::string shared_key(const Expected& expected, std::uint32_t seed) const;
  // Weights under a shared key, in memory or in the cache file; null when there are none.
  std::shared_ptr<PackedBlock> find_shared(const std::string& key);
  std::size_t use(Expected& expected, std::uint32_t seed, std::shared_ptr<PackedBlock> block, bool packed_here);

  WeightStores stores_;
  xnn_weights_cache_provider provider_{};
  std::vector<Expected> expected_;
  std::size_t next_ = 0;
  // What XNNPACK packs of other nodes (a constant operand of a matrix product): kept alive, neither shared nor kept.
  std::vector<std::shared_ptr<PackedBlock>> unannounced_;
  std::shared_ptr<PackedBlock> pending_;  // reserved, not yet inserted
  std::function<void(const void*)> release_;
  PackedStats stats_;
};

}  // namespace pterun::backends::xnn
