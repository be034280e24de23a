// A copy of a fuzzer's input of exactly its size and of a mapping's alignment, so that a read past the end is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "base/bytes.h"

class ExactCopy {
 public:
  ExactCopy(const std::uint8_t* data, std::size_t size)
      : copy_(static_cast<std::byte*>(::operator new[](size, kAlignment))), size_(size) {
    if (size != 0) std::memcpy(copy_.get(), data, size);
  }
  pterun::Bytes bytes() const { return {copy_.get(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, kAlignment); }
  };
  std::unique_ptr<std::byte[], Free> copy_;
  std::size_t size_;
};
