// Sizes, dim order and strides of a tensor, stored inline; rank at most 16, as in ExecuTorch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace pterun {

inline constexpr std::size_t kMaxRank = 16;

// Up to 16 signed 64-bit numbers, one per dimension: sizes, strides, indices.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  // At most kMaxRank values; further ones are not taken (callers check the rank of what comes from files).
  explicit Shape(std::span<const std::int64_t> sizes);
  static Shape filled(std::size_t rank, std::int64_t value);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  std::span<const std::int64_t> span() const { return {values_.data(), rank_}; }
  void push_back(std::int64_t value) {
    if (rank_ < kMaxRank) values_[rank_++] = value;
  }
  void resize(std::size_t rank, std::int64_t fill = 0);

  // Product of the sizes (1 for rank 0). The caller knows that it fits: see checked_numel.
  std::int64_t numel() const;
  // "[1, 3, 224, 224]", "[]" for rank 0.
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::array<std::int64_t, kMaxRank> values_{};
  std::uint8_t rank_ = 0;
};

using Strides = Shape;  // in elements

// Product of non-negative sizes; nullopt when one is negative or the product overflows.
std::optional<std::int64_t> checked_numel(std::span<const std::int64_t> sizes);

// The order of dimensions in memory, outermost first: [0, 1, 2, 3] is row-major, [0, 2, 3, 1] channels last.
class DimOrder {
 public:
  DimOrder() = default;
  static DimOrder contiguous(std::size_t rank);
  static DimOrder channels_last();  // rank 4: 0, 2, 3, 1
  // nullopt unless `order` is a permutation of 0 … size - 1 with at most kMaxRank entries.
  static std::optional<DimOrder> from(std::span<const std::uint8_t> order);

  std::size_t rank() const { return rank_; }
  std::uint8_t operator[](std::size_t i) const { return order_[i]; }
  bool is_contiguous() const;
  std::string to_string() const;  // "[0, 2, 3, 1]"
  friend bool operator==(const DimOrder& a, const DimOrder& b) {
    return a.rank_ == b.rank_ && std::equal(a.order_.begin(), a.order_.begin() + a.rank_, b.order_.begin());
  }

 private:
  std::array<std::uint8_t, kMaxRank> order_{};
  std::uint8_t rank_ = 0;
};

// Strides in elements of a dense tensor; a size of 0 counts as 1. Same rank.
Strides strides_of(const Shape& sizes, const DimOrder& order);

// Whether two dim orders describe the same bytes for these sizes (dimensions of size 1 may stand anywhere).
bool same_layout(const Shape& sizes, const DimOrder& a, const DimOrder& b);

}  // namespace pterun
