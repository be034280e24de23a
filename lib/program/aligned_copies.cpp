// Copies on demand, once per range.
#include "program/aligned_copies.h"

#include <cstdint>
#include <cstring>

namespace pterun::program {

Result<Bytes> AlignedCopies::aligned(Bytes bytes, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0) return bytes;
  const auto key = std::pair(bytes.data(), bytes.size());
  auto found = copies_.find(key);
  if (found == copies_.end()) {
    if (bytes.size() > budget_bytes_) {
      return fail(
          program_error(ErrorCode::kInvalidProgram,
                        "its unaligned constants overlap so much that they need more memory than the file has"));
    }
    PTERUN_ASSIGN(AlignedBuffer copy, AlignedBuffer::allocate(bytes.size()));
    std::memcpy(copy.data(), bytes.data(), bytes.size());
    budget_bytes_ -= bytes.size();
    found = copies_.emplace(key, std::move(copy)).first;
  }
  return Bytes(found->second.data(), bytes.size());
}

}  // namespace pterun::program
