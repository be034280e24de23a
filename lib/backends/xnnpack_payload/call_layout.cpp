// Shapes in order of memory and in logical order.
#include "backends/xnnpack_payload/call_layout.h"

namespace pterun::xnnpack_payload {

Shape physical_shape(const Tensor& tensor, const Shape& declared) {
  const Shape& logical = tensor.shape();
  if (logical.rank() == 0 && declared.rank() == 1) return Shape{1};
  Shape physical = logical;
  for (std::size_t i = 0; i < logical.rank(); ++i)
    physical[i] = logical[tensor.dim_order()[i]];
  return !(physical == declared) && logical == declared && tensor.is_row_major() ? logical : physical;
}

Shape logical_shape(const Shape& physical, const Tensor& tensor) {
  if (tensor.rank() == 0 && physical == Shape{1}) return Shape{};
  Shape logical = physical;
  for (std::size_t i = 0; i < physical.rank(); ++i)
    logical[tensor.dim_order()[i]] = physical[i];
  return !(logical == tensor.shape()) && physical == tensor.shape() && tensor.is_row_major() ? physical : logical;
}

}  // namespace pterun::xnnpack_payload
