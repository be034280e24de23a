// The allocator that XNNPACK is given: the C library's, with counts of what is live, so that a report can say how much
// memory workspaces and operators take. XNNPACK takes one allocator per process; hence the process-wide totals.
#pragma once

#include <cstddef>
#include <cstdint>

#include <xnnpack.h>

namespace pterun::xnnpack {

struct AllocationTotals {
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
};

// Of the whole process, by the sizes that the C library really set aside. Thread safe.
AllocationTotals allocation_totals();

// Watches the calling thread's SIMD-aligned allocations from construction to destruction. XNNPACK has no call that
// tells a workspace's size; planning memory allocates the workspace last, and frees the one it replaces after that.
class AllocationWatch {
 public:
  AllocationWatch();
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;

  // The latest aligned block allocated, and its requested size; null when there was none.
  const void* last_block() const { return last_block_; }
  std::size_t last_bytes() const { return last_bytes_; }
  // Whether that block of memory, allocated earlier, was freed.
  void look_out_for(const void* block) { wanted_ = block; }
  bool saw_freed() const { return saw_freed_; }
  // The size of an aligned allocation that failed, or 0.
  std::size_t failed_bytes() const { return failed_bytes_; }

 private:
  friend struct AllocatorHooks;
  AllocationWatch* outer_;
  const void* last_block_ = nullptr;
  std::size_t last_bytes_ = 0;
  const void* wanted_ = nullptr;
  bool saw_freed_ = false;
  std::size_t failed_bytes_ = 0;
};

// What library.cpp hands to xnn_initialize. Lives as long as the process.
const xnn_allocator& counting_allocator();

}  // namespace pterun::xnnpack
