// The provider's protocol, as XNNPACK 2024-11 uses it: [look_up, and on a miss] reserve_space, pack, look_up_or_insert.
// Depthwise and 1x1 "vmulcaddc" convolutions and deconvolutions skip the look_up. Offsets are addresses here.
#include "backends/xnnpack/packed_weights.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backends/xnnpack/disk_cache.h"

namespace pterun::backends::xnn {
namespace {

constexpr std::size_t kNotFound = SIZE_MAX;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kReadPadding = 128;  // kernels may read past the last weights

}  // namespace

std::shared_ptr<PackedBlock> PackedBlock::allocate(std::size_t size_bytes) {
  if (size_bytes > SIZE_MAX - kReadPadding) return nullptr;
  void* data = nullptr;
  if (posix_memalign(&data, kAlignment, size_bytes + kReadPadding) != 0) return nullptr;
  return std::shared_ptr<PackedBlock>(new PackedBlock(static_cast<std::byte*>(data), size_bytes, nullptr));
}

std::shared_ptr<PackedBlock> PackedBlock::view(std::shared_ptr<const void> owner, Bytes weights) {
  return std::shared_ptr<PackedBlock>(
      new PackedBlock(const_cast<std::byte*>(weights.data()), weights.size(), std::move(owner)));
}

PackedBlock::~PackedBlock() {
  if (!is_mapped()) std::free(data_);
}

std::shared_ptr<PackedBlock> WeightCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(key);
  return found == blocks_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<PackedBlock> WeightCache::insert(const std::string& key, std::shared_ptr<PackedBlock> block) {
  const std::lock_guard lock(mutex_);
  if (blocks_.size() >= sweep_at_) {
    std::erase_if(blocks_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * blocks_.size() + 64;
  }
  std::weak_ptr<PackedBlock>& slot = blocks_[key];
  if (auto existing = slot.lock()) return existing;
  slot = block;
  return block;
}

void PackedWeights::expect(const void* filter, const void* bias, std::string key) {
  stats_.unnamed += key.empty();
  expected_.push_back({filter, bias, std::move(key), 0, nullptr});
}

void PackedWeights::report_unnamed() const {
  if (stores_.disk != nullptr && stats_.unnamed > 0) {
    stores_.disk->note_unnamed(stores_.method, static_cast<std::size_t>(stats_.unnamed));
  }
}

std::size_t PackedWeights::unasked() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(expected_, [](const Expected& expected) { return expected.block == nullptr; }));
}

void PackedWeights::begin(std::function<void(const void*)> release) {
  next_ = 0;
  pending_ = nullptr;
  for (const auto& block : unannounced_) {  // of the runtime before, which is gone
    stats_.bytes -= static_cast<std::int64_t>(block->size());
    stats_.packed_bytes -= static_cast<std::int64_t>(block->size());
  }
  unannounced_.clear();
  release_ = std::move(release);
}

// XNNPACK names no bias for dynamically quantised inputs, though it packs it with the filter.
bool PackedWeights::is_of(const Expected& expected, const xnn_weights_cache_look_up_key& key) {
  return expected.filter == key.kernel && (expected.bias == key.bias || key.bias == nullptr);
}

PackedWeights::Expected* PackedWeights::current(const xnn_weights_cache_look_up_key& key) {
  for (std::size_t i = next_; i < expected_.size(); ++i) {
    if (!is_of(expected_[i], key)) continue;
    next_ = i;
    return &expected_[i];
  }
  return nullptr;
}

std::string PackedWeights::shared_key(const Expected& expected, std::uint32_t seed) const {
  if (stores_.cache == nullptr || expected.key.empty()) return {};
  std::string key = expected.key;
  key.append(reinterpret_cast<const char*>(&seed), sizeof seed);
  return key;
}

std::shared_ptr<PackedBlock> PackedWeights::find_shared(const std::string& key) {
  auto block = stores_.cache->find(key);
  if (block == nullptr && stores_.disk != nullptr) {
    block = stores_.disk->find(key);
    if (block != nullptr) block = stores_.cache->insert(key, std::move(block));
  }
  if (block != nullptr && stores_.disk != nullptr) stores_.disk->note(stores_.method, key, block);
  return block;
}

std::size_t PackedWeights::use(Expected& expected, std::uint32_t seed, std::shared_ptr<PackedBlock> block,
                               bool packed_here) {
  if (expected.block == nullptr) {
    stats_.bytes += static_cast<std::int64_t>(block->size());
    if (packed_here) {
      stats_.packed_bytes += static_cast<std::int64_t>(block->size());
      ++stats_.misses;
    } else {
      ++stats_.hits;
    }
    if (block->is_mapped()) {
      ++stats_.mapped;
      stats_.mapped_bytes += static_cast<std::int64_t>(block->size());
    }
    if (release_) {
      release_(expected.filter);
      if (expected.bias != nullptr) release_(expected.bias);
    }
  }
  expected.seed = seed;
  expected.block = std::move(block);
  ++next_;
  return reinterpret_cast<std::size_t>(expected.block->data());
}

std::size_t PackedWeights::look_up(void* context, const xnn_weights_cache_look_up_key* key) {
  auto& self = *static_cast<PackedWeights*>(context);
  Expected* expected = self.current(*key);
  if (expected == nullptr) return kNotFound;
  if (expected->block != nullptr) {
    return expected->seed == key->seed ? self.use(*expected, key->seed, expected->block, false) : kNotFound;
  }
  const std::string shared = self.shared_key(*expected, key->seed);
  if (shared.empty()) return kNotFound;
  auto block = self.find_shared(shared);
  return block == nullptr ? kNotFound : self.use(*expected, key->seed, std::move(block), false);
}

void* PackedWeights::reserve_space(void* context, std::size_t size) {
  auto& self = *static_cast<PackedWeights*>(context);
  self.pending_ = PackedBlock::allocate(size);
  return self.pending_ == nullptr ? nullptr : self.pending_->data();
}

std::size_t PackedWeights::look_up_or_insert(void* context, const xnn_weights_cache_look_up_key* key, void* packed,
                                             std::size_t) {
  auto& self = *static_cast<PackedWeights*>(context);
  auto block = std::exchange(self.pending_, nullptr);
  if (block == nullptr) {
    // Convolutions insert even after a look_up that hit.
    const bool is_last = self.next_ > 0 && is_of(self.expected_[self.next_ - 1], *key) &&
                         self.expected_[self.next_ - 1].seed == key->seed;
    return is_last ? reinterpret_cast<std::size_t>(self.expected_[self.next_ - 1].block->data()) : kNotFound;
  }
  if (block->data() != packed) return kNotFound;
  Expected* expected = self.current(*key);
  if (expected == nullptr) {
    self.unannounced_.push_back(block);
    self.stats_.bytes += static_cast<std::int64_t>(block->size());
    self.stats_.packed_bytes += static_cast<std::int64_t>(block->size());
    return reinterpret_cast<std::size_t>(block->data());
  }
  if (expected->block != nullptr && expected->seed == key->seed) {
    return self.use(*expected, key->seed, expected->block, false);
  }
  bool packed_here = true;
  if (const std::string shared = self.shared_key(*expected, key->seed); !shared.empty()) {
    if (auto known = self.find_shared(shared)) {
      ++self.stats_.packed_in_vain;
      packed_here = false;
      block = std::move(known);
    } else {
      auto kept = self.stores_.cache->insert(shared, block);
      packed_here = kept == block;
      block = std::move(kept);
      if (self.stores_.disk != nullptr) self.stores_.disk->note(self.stores_.method, shared, block);
    }
  }
  return self.use(*expected, key->seed, std::move(block), packed_here);
}

}  // namespace pterun::backends::xnn
