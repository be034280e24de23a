// The provider's protocol, as XNNPACK 2024-11 uses it: [look_up, and on a miss] reserve_space, pack, look_up_or_insert.
// Depthwise and 1x1 "vmulcaddc" convolutions and deconvolutions skip the look_up. Offsets are addresses here.
#include "backends/xnnpack/packed_weights.h"

#include <cstdlib>
#include <utility>

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
  return std::shared_ptr<PackedBlock>(new PackedBlock(static_cast<std::byte*>(data), size_bytes));
}

PackedBlock::~PackedBlock() {
  std::free(data_);
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
  expected_.push_back({filter, bias, std::move(key), 0, nullptr});
}

void PackedWeights::begin(std::function<void(const void*)> release) {
  next_ = 0;
  pending_ = nullptr;
  release_ = std::move(release);
}

PackedWeights::Expected* PackedWeights::current(const xnn_weights_cache_look_up_key& key) {
  for (std::size_t i = next_; i < expected_.size(); ++i) {
    if (expected_[i].filter != key.kernel || expected_[i].bias != key.bias) continue;
    next_ = i;
    return &expected_[i];
  }
  return nullptr;
}

std::string PackedWeights::shared_key(const Expected& expected, std::uint32_t seed) const {
  if (cache_ == nullptr || expected.key.empty()) return {};
  std::string key = expected.key;
  key.append(reinterpret_cast<const char*>(&seed), sizeof seed);
  return key;
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
  auto block = self.cache_->find(shared);
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
    const bool is_last = self.next_ > 0 && self.expected_[self.next_ - 1].filter == key->kernel &&
                         self.expected_[self.next_ - 1].bias == key->bias &&
                         self.expected_[self.next_ - 1].seed == key->seed;
    return is_last ? reinterpret_cast<std::size_t>(self.expected_[self.next_ - 1].block->data()) : kNotFound;
  }
  if (block->data() != packed) return kNotFound;
  Expected* expected = self.current(*key);
  if (expected == nullptr) {
    self.unannounced_.push_back(block);
    return reinterpret_cast<std::size_t>(block->data());
  }
  if (expected->block != nullptr && expected->seed == key->seed) {
    return self.use(*expected, key->seed, expected->block, false);
  }
  bool packed_here = true;
  if (const std::string shared = self.shared_key(*expected, key->seed); !shared.empty()) {
    auto kept = self.cache_->insert(shared, block);
    packed_here = kept == block;
    block = std::move(kept);
  }
  return self.use(*expected, key->seed, std::move(block), packed_here);
}

}  // namespace pterun::backends::xnn
