// Copies of the few constants that are not aligned to their element size in the file (deprecated files made without
// alignment): they cannot be used in place. Everything else stays in the mapping.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::program {

class AlignedCopies {
 public:
  // No more than `budget_bytes` are copied: no file needs more than its own size.
  explicit AlignedCopies(std::uint64_t budget_bytes = 0) : budget_bytes_(budget_bytes) {}

  // `bytes` when they are aligned to `alignment` (a power of two), else a copy that lives as long as this object;
  // asked again for the same bytes, the same copy. Errors: kInvalidProgram (budget), kMemoryAllocationFailed.
  Result<Bytes> aligned(Bytes bytes, std::size_t alignment);

 private:
  std::uint64_t budget_bytes_;
  std::map<std::pair<const std::byte*, std::size_t>, AlignedBuffer> copies_;
};

}  // namespace pterun::program
