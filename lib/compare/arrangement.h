// Comparing a result with a reference tensor that may lie in another layout: dimensions of 1 more or less, a plain
// reshape, dimensions in another order (NHWC for NCHW).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::compare {

// An order in which to read a reference tensor: its dimensions' sizes and strides, in elements, outermost first.
struct Arrangement {
  Shape sizes;
  Strides strides;
  bool is_plain = true;  // row-major, as the reference lies in memory
};

// Orders that make the reference's elements those of a tensor with the shape of `result`, the plain one first; none
// when the numbers of elements differ. The reference is row-major.
std::vector<Arrangement> arrangements(const Shape& result, const Shape& reference);

struct Difference {
  double max_abs = 0;  // infinite where NaN or infinity stand at different places
  double rmse = 0;     // of the elements that are finite on both sides
};

// Row-major elements of a result beside a row-major tensor read in an arrangement.
Difference difference(std::span<const double> result, const Tensor& reference, const Arrangement& arrangement);
// The arrangement with the least root mean square error, and the difference then. `choices` is not empty.
struct Closest {
  Arrangement arrangement;
  Difference difference;
};
Closest closest(std::span<const double> result, const Tensor& reference, std::span<const Arrangement> choices);
// The first arrangement in which no element is off by more than `allowed`, and the largest error. Looks at a few
// elements first, so that tensors that are not equal cost next to nothing.
struct Agreement {
  Arrangement arrangement;
  double max_abs = 0;
};
std::optional<Agreement> agreement(std::span<const double> result, const Tensor& reference,
                                   std::span<const Arrangement> choices, double allowed);

// The reference's elements in an arrangement, as a row-major tensor of this shape, which has as many.
// Errors: kMemoryAllocationFailed.
Result<HostTensor> rearranged(const Tensor& reference, const Arrangement& arrangement, const Shape& shape);

}  // namespace pterun::compare
