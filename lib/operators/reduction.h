// Folding a tensor over any set of dimensions, in any dim order: loops, blocks, threads. What is folded is a
// ReductionKernel: plain functions over arrays of a compute type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "operators/arguments.h"
#include "operators/dtype_dispatch.h"
#include "operators/operator.h"
#include "tensor/tensor.h"

namespace pterun::operators {

// A state is what one output element keeps while its inputs go by.
struct ReductionKernel {
  static constexpr std::size_t kMaxStateSize = 24;
  Compute load = Compute::kFloat;    // input is converted to this before it is folded
  Compute result = Compute::kFloat;  // what finish() gives
  std::size_t state_size = 0;        // bytes, a multiple of 8 or at most 8
  void (*start)(void* states, std::size_t count) = nullptr;
  // Folds an array into one state. The array is short enough to be read twice from the cache.
  void (*fold_row)(void* state, const void* values, std::size_t count) = nullptr;
  // Folds values[i] into states[i].
  void (*fold_columns)(void* states, const void* values, std::size_t count) = nullptr;
  // `folded`: inputs of each state. `parameter` is the caller's.
  void (*finish)(const void* states, std::size_t count, std::int64_t folded, double parameter, void* results) = nullptr;
};

// A bit for each dimension to reduce: those listed, or all when the list is empty and `empty_is_all`.
// Errors: kInvalidArgument for a dimension outside the rank or given twice.
Result<std::uint32_t> reduced_dims(const Arguments& arguments, const Shape& dims, std::size_t rank, bool empty_is_all);
// The same for an optional list in an argument; None is all.
Result<std::uint32_t> reduced_dims_argument(const Arguments& arguments, std::size_t argument, std::size_t rank,
                                            bool empty_is_all = true);

// The input's shape without the dimensions, or with size 1 in their place.
Shape reduced_shape(const Shape& shape, std::uint32_t dims, bool keepdim);

// Resizes `output` to reduced_shape and reduces. The output's dtype may be any that the result converts to.
Result<void> reduce(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::uint32_t dims,
                    bool keepdim, const ReductionKernel& kernel, double parameter, Tensor& output);

}  // namespace pterun::operators
