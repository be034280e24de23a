// Copies a strided sequence of elements into a dense array: permutes, dim order conversions, expands, slices.
#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "operators/broadcast.h"

namespace pterun::operators {

// to[i] = the i-th element of `span` over `from`, for all span.count() elements of `element_size` bytes (1, 2, 4, 8).
// Strides may be 0 or negative. Large copies run on several threads; transposes go tile by tile.
void copy_strided(ThreadPool& threads, const void* from, const StridedSpan& span, void* to, std::size_t element_size);

// Copies `source`, broadcast to the shape of `destination`, into `destination` in its own dim order. Same dtype;
// broadcasts_to(source.shape(), destination.shape()) must hold.
void copy_broadcast(ThreadPool& threads, const Tensor& source, Tensor& destination);

}  // namespace pterun::operators
