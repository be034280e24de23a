// What a slice or an index of one dimension selects; shared by reading (slice, select) and writing (slice_scatter).
#pragma once

#include <cstddef>
#include <cstdint>

#include "operators/dims.h"

namespace pterun::operators {

struct SliceRange {
  std::int64_t start = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
};

// Python's slice of a dimension of `size` from three arguments from `first` on: start and end, which may be None,
// count from the end when negative and are clamped, and a positive step. Error: kInvalidArgument (step).
Result<SliceRange> resolve_slice(const Arguments& arguments, std::size_t first, std::int64_t size);

// 0 … size - 1 for -size … size - 1. Error: kInvalidArgument naming index, dimension and size.
Result<std::int64_t> wrap_index(const Arguments& arguments, std::int64_t index, std::size_t dim, std::int64_t size);

// Leaves a dimension out of a view.
void remove_dim(View& view, std::size_t dim);

}  // namespace pterun::operators
