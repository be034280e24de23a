// Broadcasting of shapes, and walking over one tensor in the memory order of another. Tensors are dense, so an output
// in any dim order is one flat array; what has to be followed are the strides of the operands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace pterun::operators {

// The shape that both broadcast to, or nullopt when a dimension differs and neither side is 1.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);
// Whether `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

// A sequence of elements in nested loops, outermost first: sizes, and strides in elements. Neighbouring loops that can
// be one loop are merged and loops of one iteration dropped, so that few and long loops remain (rank 0: one element).
class StridedSpan {
 public:
  StridedSpan() = default;
  // Loops given from the outside in.
  StridedSpan(const Shape& sizes, const Strides& strides);
  // The elements of `operand`, broadcast to `shape`, in the memory order that `order` gives to `shape`.
  // broadcasts_to(operand.shape(), shape) must hold.
  static StridedSpan of_operand(const Tensor& operand, const Shape& shape, const DimOrder& order);

  std::size_t rank() const { return sizes_.rank(); }
  std::int64_t size(std::size_t loop) const { return sizes_[loop]; }
  std::int64_t stride(std::size_t loop) const { return strides_[loop]; }
  std::int64_t count() const { return count_; }
  std::int64_t inner_size() const { return rank() == 0 ? 1 : sizes_[rank() - 1]; }
  std::int64_t inner_stride() const { return rank() == 0 ? 1 : strides_[rank() - 1]; }
  // The elements lie one behind the other.
  bool is_flat() const { return rank() == 0 || (rank() == 1 && strides_[0] == 1); }
  // One and the same element again and again.
  bool is_constant() const { return count_ == 1 || (rank() == 1 && strides_[0] == 0); }

 private:
  Shape sizes_;
  Strides strides_;
  std::int64_t count_ = 1;
};

// A position in a StridedSpan (borrowed), which must not be empty.
class StridedCursor {
 public:
  StridedCursor(const StridedSpan& span, std::int64_t position);
  // Offset in elements of the current element.
  std::int64_t offset() const { return offset_; }
  // Elements left in the innermost loop, the current one included; they are inner_stride() apart.
  std::int64_t run() const { return span_->inner_size() - index_[inner_]; }
  // Moves on by at most run() elements.
  void advance(std::int64_t count);

 private:
  const StridedSpan* span_;
  std::size_t inner_;
  std::array<std::int64_t, kMaxRank> index_{};
  std::int64_t offset_ = 0;
};

}  // namespace pterun::operators
