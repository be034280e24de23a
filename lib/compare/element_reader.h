// Reads any tensor's elements in row-major order as doubles, and differences of them exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace pterun::compare {

class ElementReader {
 public:
  // Borrows the tensor.
  explicit ElementReader(const Tensor& tensor);

  // Element number `index` in row-major order; 64-bit integers are rounded to double.
  double at(std::int64_t index) const;
  // |this - other| at `index`; for integers computed exactly before rounding.
  double exact_difference(std::int64_t index, const ElementReader& other) const;
  // Number of representable values of the dtype between the two elements; 0 for other than floating dtypes.
  double ulp_distance(std::int64_t index, const ElementReader& other) const;

 private:
  const std::byte* address(std::int64_t index) const;

  const Tensor& tensor_;
  std::size_t element_bytes_;
  bool row_major_;
  Strides strides_;
};

// All elements in row-major order, as ElementReader::at.
std::vector<double> read_elements(const Tensor& tensor);

// |got - want|; 0 for equal infinities and for two NaN, infinite where only one is not finite or signs differ.
double element_error(double got, double want);

}  // namespace pterun::compare
