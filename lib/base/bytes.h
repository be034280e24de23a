// Borrowed byte ranges and little-endian reads that never leave them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "base/checked.h"

namespace pterun {

// Bytes owned by somebody else (a mapping, a buffer); whoever hands them out says for how long.
using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "file formats are read in place, little endian");

// Reads a trivially copyable little-endian value at `offset`, aligned or not; nullopt when it does not fit.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::optional<T> read_le(Bytes bytes, std::uint64_t offset) {
  if (!range_fits(offset, sizeof(T), bytes.size())) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The sub-range, or nullopt when it leaves `bytes`.
inline std::optional<Bytes> checked_subspan(Bytes bytes, std::uint64_t offset, std::uint64_t length) {
  if (!range_fits(offset, length, bytes.size())) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
}

}  // namespace pterun
