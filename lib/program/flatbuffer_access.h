// Verified access to a flatbuffer: once verify_flatbuffer has walked it, the generated accessors are safe. Included
// by the readers of this room only.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include <flatbuffers/flatbuffers.h>

#include "base/bytes.h"

namespace pterun::program {

// A reader copies what it reads into plain structs, and a flatbuffer may refer to one table or list many times, so
// that a small file could ask for much memory. No writer shares tables or lists: each item then has bytes of its own
// in the file, and the budget is one item for each byte.
class ReadBudget {
 public:
  explicit ReadBudget(std::uint64_t items) : left_(items) {}
  bool take(std::uint64_t items) {
    if (items > left_) return false;
    left_ -= items;
    return true;
  }

 private:
  std::uint64_t left_;
};

// The root table, or null when some part of it lies outside `bytes`, is misaligned, is nested deeper than any program
// is, or is used so often that the tables together need more than the bytes there are (8 for each: its reference and
// its own first word). `bytes` are at most 2^31 - 1 and aligned to 16.
template <typename Root>
const Root* verify_flatbuffer(Bytes bytes, const char* identifier) {
  constexpr flatbuffers::uoffset_t kMaxDepth = 32;
  const auto max_tables = static_cast<flatbuffers::uoffset_t>(std::min<std::size_t>(bytes.size() / 8 + 16, UINT32_MAX));
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), kMaxDepth, max_tables);
  if (!verifier.VerifyBuffer<Root>(identifier)) return nullptr;
  return flatbuffers::GetRoot<Root>(data);
}

// Absent strings and lists read as empty.
inline std::string_view text_of(const flatbuffers::String* string) {
  return string == nullptr ? std::string_view() : std::string_view(string->c_str(), string->size());
}

template <typename T>
std::span<const T> items_of(const flatbuffers::Vector<T>* vector) {
  static_assert(sizeof(T) <= sizeof(flatbuffers::uoffset_t), "wider items may be misaligned: see WideItems");
  return vector == nullptr ? std::span<const T>() : std::span<const T>(vector->data(), vector->size());
}

// A list of 8-byte numbers that may be absent. The verifier checks the alignment of a list's length only, so that in a
// damaged file the items may lie at any multiple of 4.
template <typename T>
class WideItems {
 public:
  explicit WideItems(const flatbuffers::Vector<T>* vector) : vector_(vector) {}
  std::size_t size() const { return vector_ == nullptr ? 0 : vector_->size(); }
  T operator[](std::size_t i) const {
    T item;
    std::memcpy(&item, vector_->Data() + i * sizeof(T), sizeof(T));
    return item;
  }

 private:
  const flatbuffers::Vector<T>* vector_;
};
template <typename T>
WideItems(const flatbuffers::Vector<T>*) -> WideItems<T>;

inline Bytes bytes_of(const flatbuffers::Vector<std::uint8_t>* vector) {
  return std::as_bytes(items_of(vector));
}

// Whether every byte is a bool's.
inline bool holds_bools(Bytes data) {
  return std::all_of(data.begin(), data.end(), [](std::byte b) { return std::to_integer<int>(b) <= 1; });
}

// A list of tables that may be absent, for range-for. Its elements are never null.
template <typename T>
class TableList {
 public:
  using Vector = flatbuffers::Vector<flatbuffers::Offset<T>>;
  explicit TableList(const Vector* vector) : vector_(vector) {}
  std::size_t size() const { return vector_ == nullptr ? 0 : vector_->size(); }
  const T& operator[](std::size_t i) const { return *vector_->Get(static_cast<flatbuffers::uoffset_t>(i)); }

 private:
  const Vector* vector_;
};
template <typename T>
TableList(const flatbuffers::Vector<flatbuffers::Offset<T>>*) -> TableList<T>;

}  // namespace pterun::program
