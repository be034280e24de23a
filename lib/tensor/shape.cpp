// Shape and DimOrder out of line: text, products, strides.
#include "tensor/shape.h"

#include "base/checked.h"

namespace pterun {
namespace {

template <typename Sequence>
std::string list_text(const Sequence& values, std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + "]";
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> sizes) {
  for (const std::int64_t size : sizes)
    push_back(size);
}

Shape Shape::filled(std::size_t rank, std::int64_t value) {
  Shape shape;
  shape.resize(rank, value);
  return shape;
}

void Shape::resize(std::size_t rank, std::int64_t fill) {
  rank = std::min(rank, kMaxRank);
  for (std::size_t i = rank_; i < rank; ++i)
    values_[i] = fill;
  rank_ = static_cast<std::uint8_t>(rank);
}

std::int64_t Shape::numel() const {
  std::int64_t product = 1;
  for (const std::int64_t size : *this)
    product *= size;
  return product;
}

std::string Shape::to_string() const {
  return list_text(values_, rank_);
}

std::optional<std::int64_t> checked_numel(std::span<const std::int64_t> sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    const auto next = checked_mul(product, size);
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

DimOrder DimOrder::contiguous(std::size_t rank) {
  DimOrder order;
  order.rank_ = static_cast<std::uint8_t>(std::min(rank, kMaxRank));
  for (std::uint8_t i = 0; i < order.rank_; ++i)
    order.order_[i] = i;
  return order;
}

DimOrder DimOrder::channels_last() {
  DimOrder order;
  order.rank_ = 4;
  order.order_ = {0, 2, 3, 1};
  return order;
}

std::optional<DimOrder> DimOrder::from(std::span<const std::uint8_t> order) {
  if (order.size() > kMaxRank) return std::nullopt;
  DimOrder result;
  std::array<bool, kMaxRank> seen{};
  for (const std::uint8_t dim : order) {
    if (dim >= order.size() || seen[dim]) return std::nullopt;
    seen[dim] = true;
    result.order_[result.rank_++] = dim;
  }
  return result;
}

bool DimOrder::is_contiguous() const {
  for (std::size_t i = 0; i < rank_; ++i) {
    if (order_[i] != i) return false;
  }
  return true;
}

std::string DimOrder::to_string() const {
  return list_text(order_, rank_);
}

Strides strides_of(const Shape& sizes, const DimOrder& order) {
  Strides strides = Shape::filled(sizes.rank(), 1);
  std::int64_t stride = 1;
  for (std::size_t i = sizes.rank(); i-- > 0;) {
    const std::size_t dim = order[i];
    strides[dim] = stride;
    stride *= std::max<std::int64_t>(sizes[dim], 1);
  }
  return strides;
}

bool same_layout(const Shape& sizes, const DimOrder& a, const DimOrder& b) {
  const Strides strides_a = strides_of(sizes, a);
  const Strides strides_b = strides_of(sizes, b);
  for (std::size_t i = 0; i < sizes.rank(); ++i) {
    if (sizes[i] > 1 && strides_a[i] != strides_b[i]) return false;
  }
  return true;
}

}  // namespace pterun
