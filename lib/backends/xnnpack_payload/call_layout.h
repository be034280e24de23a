// How the tensors of a delegate call lie in memory, as the payload sees them.
#pragma once

#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace pterun::xnnpack_payload {

// The sizes of a dense tensor's dims in their order of memory, as the payload sees them; `declared` are the payload's.
// Dims of size 1 may stand anywhere in memory: where the dim order alone leads elsewhere, a row-major tensor of the
// declared shape is that shape (a channels-last image with one channel, a 0-d tensor).
Shape physical_shape(const Tensor& tensor, const Shape& declared);
// The inverse: the sizes of a result with physical sizes in the tensor that is to hold it.
Shape logical_shape(const Shape& physical, const Tensor& tensor);

}  // namespace pterun::xnnpack_payload
