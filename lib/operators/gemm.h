// Blocked matrix multiplication in the compute types, for what XNNPACK does not do: float64, integers, 16-bit floats,
// and unusual layouts. Operands of any dtype and stride are converted while they are packed into panels.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "tensor/dtype.h"

namespace pterun::operators {

// A matrix in memory; element (r, c) is at data + (r * row_stride + c * column_stride) elements.
struct MatrixView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

struct GemmSize {
  std::int64_t rows = 0;     // of A and C
  std::int64_t columns = 0;  // of B and C
  std::int64_t depth = 0;    // columns of A, rows of B
  friend bool operator==(const GemmSize&, const GemmSize&) = default;
};

// C += A * B; C is an array of T, row r at c + r * c_row_stride. T is float, double or std::int64_t (which wraps).
// Sums along the depth are made in blocks of fixed size, so results do not depend on the number of threads.
template <typename T>
void gemm_accumulate(ThreadPool& threads, const GemmSize& size, const MatrixView& a, const MatrixView& b, T* c,
                     std::int64_t c_row_stride);

extern template void gemm_accumulate<float>(ThreadPool&, const GemmSize&, const MatrixView&, const MatrixView&, float*,
                                            std::int64_t);
extern template void gemm_accumulate<double>(ThreadPool&, const GemmSize&, const MatrixView&, const MatrixView&,
                                             double*, std::int64_t);
extern template void gemm_accumulate<std::int64_t>(ThreadPool&, const GemmSize&, const MatrixView&, const MatrixView&,
                                                   std::int64_t*, std::int64_t);

}  // namespace pterun::operators
