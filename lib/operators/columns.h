// Convolutions as matrix products: an image unrolled into columns, one column a kernel position, and back.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "operators/convolution_geometry.h"
#include "operators/operator.h"

namespace pterun::operators {

// The geometry seen from the side of the unrolled image: the input of a convolution, the output of a transposed one.
// Row (channel, kernel position), column (position); both in row-major order.
struct ColumnMap {
  std::int64_t channels = 0;
  Spatial image{1, 1, 1};
  Spatial positions{1, 1, 1};
  Spatial kernel{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial padding{0, 0, 0};
  Spatial dilation{1, 1, 1};

  static ColumnMap of_group(const ConvolutionGeometry& geometry);
  std::int64_t rows() const { return channels * volume(kernel); }
  // Positions that are unrolled at a time, so that the columns stay in the cache.
  std::int64_t chunk() const;
};

// columns[row][p - begin] = the image's element under row `row` of position p, 0 in the padding.
template <typename T>
void image_to_columns(ThreadPool& threads, const ColumnMap& map, const T* image, std::int64_t begin, std::int64_t end,
                      T* columns);
// Adds every columns[row][p - begin] to the image's element.
template <typename T>
void add_columns_to_image(ThreadPool& threads, const ColumnMap& map, const T* columns, std::int64_t begin,
                          std::int64_t end, T* image);

// out = convolution(input, weight) + bias, or the transposed one, on row-major arrays of T: float, double, int64.
// bias may be null.
template <typename T>
Result<void> convolve(ExecuteContext& context, const ConvolutionGeometry& geometry, const T* input, const T* weight,
                      const T* bias, T* out);
// grad_input of such a convolution, from grad_out.
template <typename T>
Result<void> convolve_backward_input(ExecuteContext& context, const ConvolutionGeometry& geometry, const T* grad_out,
                                     const T* weight, T* grad_input);
// grad_weight of such a convolution, from its input and grad_out.
template <typename T>
Result<void> convolve_backward_weight(ExecuteContext& context, const ConvolutionGeometry& geometry, const T* input,
                                      const T* grad_out, T* grad_weight);

}  // namespace pterun::operators
