// Top-1 accuracy of a classifier's output against labels.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::compare {

struct Accuracy {
  std::int64_t correct = 0;
  std::int64_t total = 0;
};

// scores: floating or integer [..., classes]; labels: integers, one for each row of scores, in row-major order. The
// first maximum of a row is its class; NaN counts as the maximum. Errors: kReference naming both shapes and dtypes.
Result<Accuracy> top1_accuracy(const Tensor& scores, const Tensor& labels);

}  // namespace pterun::compare
