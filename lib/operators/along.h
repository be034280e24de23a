// A tensor's row-major memory as [outer, count, inner] around one dimension, for operators that work along it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/shape.h"

namespace pterun::operators {

struct Along {
  std::int64_t outer = 1;
  std::int64_t count = 1;
  std::int64_t inner = 1;

  Along() = default;
  // Rank 0 counts as one element along its only dimension.
  Along(const Shape& shape, std::size_t dim) {
    for (std::size_t i = 0; i < shape.rank(); ++i)
      (i < dim ? outer : i == dim ? count : inner) *= shape[i];
  }

  // Lines along the dimension, and where the n-th begins.
  std::int64_t lines() const { return outer * inner; }
  std::int64_t start_of(std::int64_t line) const { return line / inner * count * inner + line % inner; }
};

}  // namespace pterun::operators
