// Scaled dot-product attention of several heads over keys and values in any layout whose last dimension is contiguous.
#pragma once

#include <cstdint>

#include "operators/operator.h"

namespace pterun::operators {

// Rows of `dim` elements; strides in elements.
struct HeadRows {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t row_stride = 0;
};

struct Attention {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // divides heads: neighbouring query heads share keys and values
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t dim = 0;
  HeadRows query, key, value;
  float scale = 1.0f;
  const float* mask = nullptr;  // [queries, keys], added to the scores; null: none
  bool causal = false;          // query i sees keys up to first_position + i
  std::int64_t first_position = 0;
  // Row-major floats, with the strides of a HeadRows.
  float* out = nullptr;
  std::int64_t out_batch_stride = 0;
  std::int64_t out_head_stride = 0;
  std::int64_t out_row_stride = 0;
};

// out = softmax(scale * query key^T + mask) value, in float. A query that sees no key gives NaN.
Result<void> attend(ExecuteContext& context, const Attention& attention);

}  // namespace pterun::operators
