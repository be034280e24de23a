// Moves elements between two strided layouts, by their size and not their dtype. Every operator that views, slices,
// joins, permutes or expands rests on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace pterun::operators {

// One loop of a copy: how often, and how far source and destination move, in elements. The source's step may be 0
// (repeat) or negative (reverse); the destination's must lead to distinct elements.
// (Without initial values: arrays of it are made for every copy, however small.)
struct CopyDim {
  std::int64_t count;
  std::int64_t from_step;
  std::int64_t to_step;
};

// Copies every element of the block. `dims` come in any order, at most 2 * kMaxRank. `from` and `to` point at the
// block's first elements and must not overlap. `element_size` is 1, 2, 4, 8 or 16. Memory traffic is that of a memcpy
// wherever either side has a contiguous dimension; blocks of a megabyte and more are spread over the threads.
void copy_strided(ThreadPool& threads, std::size_t element_size, std::span<const CopyDim> dims, const void* from,
                  void* to);

// The same for a block of `sizes` whose strides are given per dimension, in elements.
void copy_block(ThreadPool& threads, std::size_t element_size, const Shape& sizes, const void* from,
                const Strides& from_strides, void* to, const Strides& to_strides);

// Copies `source`, broadcast to the shape of `destination`, into `destination` in its own dim order. Same dtype;
// broadcasts_to(source.shape(), destination.shape()) must hold. Both may be the same memory in the same layout.
void copy_broadcast(ThreadPool& threads, const Tensor& source, Tensor& destination);

// Fills a block with one element, whose bytes are at `value`.
void fill_block(ThreadPool& threads, std::size_t element_size, const Shape& sizes, const void* value, void* to,
                const Strides& to_strides);

}  // namespace pterun::operators
