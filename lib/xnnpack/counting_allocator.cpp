// malloc with counts. Sizes come from malloc_usable_size, so that no block needs a header of ours.
#include "xnnpack/counting_allocator.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>

namespace pterun::xnnpack {
namespace {

std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};
thread_local AllocationWatch* current_watch = nullptr;

void count(void* block, std::int64_t sign) {
  if (block == nullptr) return;
  const auto size = static_cast<std::int64_t>(malloc_usable_size(block));
  const std::int64_t live = live_bytes.fetch_add(sign * size, std::memory_order_relaxed) + sign * size;
  std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

}  // namespace

struct AllocatorHooks {
  static void* allocate(void*, std::size_t size) {
    void* block = std::malloc(size);
    count(block, 1);
    return block;
  }

  static void* reallocate(void*, void* old_block, std::size_t size) {
    count(old_block, -1);
    void* block = std::realloc(old_block, size);
    count(block == nullptr && size != 0 ? old_block : block, 1);
    return block;
  }

  static void deallocate(void*, void* block) {
    count(block, -1);
    std::free(block);
  }

  static void* aligned_allocate(void*, std::size_t alignment, std::size_t size) {
    void* block = nullptr;
    if (posix_memalign(&block, alignment, size) != 0) {
      if (current_watch != nullptr) current_watch->failed_bytes_ = size;
      return nullptr;
    }
    count(block, 1);
    if (current_watch != nullptr) {
      current_watch->last_block_ = block;
      current_watch->last_bytes_ = size;
    }
    return block;
  }

  static void aligned_deallocate(void*, void* block) {
    if (current_watch != nullptr && block != nullptr && block == current_watch->wanted_) {
      current_watch->saw_freed_ = true;
    }
    deallocate(nullptr, block);
  }
};

AllocationTotals allocation_totals() {
  return {live_bytes.load(std::memory_order_relaxed), peak_bytes.load(std::memory_order_relaxed)};
}

AllocationWatch::AllocationWatch() : outer_(current_watch) {
  current_watch = this;
}
AllocationWatch::~AllocationWatch() {
  current_watch = outer_;
}

const xnn_allocator& counting_allocator() {
  static constexpr xnn_allocator kAllocator = {
      nullptr,
      AllocatorHooks::allocate,
      AllocatorHooks::reallocate,
      AllocatorHooks::deallocate,
      AllocatorHooks::aligned_allocate,
      AllocatorHooks::aligned_deallocate,
  };
  return kAllocator;
}

}  // namespace pterun::xnnpack
