// Broadcasting and strided walks.
#include "operators/broadcast.h"

namespace pterun::operators {

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.rank() - shorter.rank();
  for (std::size_t i = 0; i < shorter.rank(); ++i) {
    std::int64_t& size = result[offset + i];
    if (shorter[i] == size || shorter[i] == 1) continue;
    if (size != 1) return std::nullopt;
    size = shorter[i];
  }
  return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.rank() > to.rank()) return false;
  const std::size_t offset = to.rank() - from.rank();
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (from[i] != 1 && from[i] != to[offset + i]) return false;
  }
  return true;
}

StridedSpan::StridedSpan(const Shape& sizes, const Strides& strides) {
  for (std::size_t i = 0; i < sizes.rank(); ++i) {
    count_ *= sizes[i];
    if (sizes[i] == 1) continue;
    const std::size_t last = sizes_.rank();
    if (last != 0 && strides_[last - 1] == strides[i] * sizes[i]) {
      sizes_[last - 1] *= sizes[i];
      strides_[last - 1] = strides[i];
    } else {
      sizes_.push_back(sizes[i]);
      strides_.push_back(strides[i]);
    }
  }
}

StridedSpan StridedSpan::of_operand(const Tensor& operand, const Shape& shape, const DimOrder& order) {
  const Strides own = operand.strides();
  const std::size_t offset = shape.rank() - operand.rank();
  Shape sizes;
  Strides strides;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const std::size_t dim = order[i];
    const bool repeats = dim < offset || (operand.size(dim - offset) == 1 && shape[dim] != 1);
    sizes.push_back(shape[dim]);
    strides.push_back(repeats ? 0 : own[dim - offset]);
  }
  return StridedSpan(sizes, strides);
}

StridedCursor::StridedCursor(const StridedSpan& span, std::int64_t position)
    : span_(&span), inner_(span.rank() == 0 ? 0 : span.rank() - 1) {
  for (std::size_t loop = span.rank(); loop-- > 0;) {
    index_[loop] = loop == 0 ? position : position % span.size(loop);
    position /= span.size(loop);
    offset_ += index_[loop] * span.stride(loop);
  }
}

void StridedCursor::advance(std::int64_t count) {
  index_[inner_] += count;
  if (span_->rank() == 0) return;
  offset_ += count * span_->stride(inner_);
  for (std::size_t loop = inner_; loop != 0 && index_[loop] == span_->size(loop); --loop) {
    offset_ += span_->stride(loop - 1) - index_[loop] * span_->stride(loop);
    index_[loop] = 0;
    ++index_[loop - 1];
  }
}

}  // namespace pterun::operators
