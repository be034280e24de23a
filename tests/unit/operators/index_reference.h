// A slow reference for operators that move elements: says for each output index which input index it comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "support/operator_call.h"

namespace pterun::test {

using Index = std::vector<std::int64_t>;

// The index of the n-th element in row-major order, and back.
inline Index index_of(const Shape& shape, std::int64_t n) {
  Index index(shape.rank());
  for (std::size_t i = shape.rank(); i-- > 0;) {
    index[i] = n % shape[i];
    n /= shape[i];
  }
  return index;
}

inline std::int64_t position_of(const Shape& shape, const Index& index) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    position = position * shape[i] + index[i];
  return position;
}

// 0, 1, 2, … modulo 100, which every dtype can hold.
inline std::vector<double> counting(const Shape& shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i % 100);
  return values;
}

// Values of an output of `shape` whose element at an index is the input's element at `source(index)`; an empty index
// stands for `fill` (where the input has dimensions).
inline std::vector<double> moved(const Shape& shape, const Shape& input_shape, const std::vector<double>& input,
                                 const std::function<Index(const Index&)>& source, double fill = 0) {
  std::vector<double> values;
  for (std::int64_t n = 0; n < shape.numel(); ++n) {
    const Index index = source(index_of(shape, n));
    const bool outside = index.empty() && input_shape.rank() != 0;
    values.push_back(outside ? fill : input.at(static_cast<std::size_t>(position_of(input_shape, index))));
  }
  return values;
}

// Row-major, reversed, and rotated by one: every operator has to read and write any of them.
inline std::vector<DimOrder> some_orders(std::size_t rank) {
  std::vector<std::uint8_t> dims(rank);
  std::iota(dims.begin(), dims.end(), std::uint8_t{0});
  std::vector<DimOrder> orders = {DimOrder::contiguous(rank)};
  if (rank < 2) return orders;
  orders.push_back(*DimOrder::from(std::vector<std::uint8_t>(dims.rbegin(), dims.rend())));
  std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  orders.push_back(*DimOrder::from(dims));
  return orders;
}

}  // namespace pterun::test
