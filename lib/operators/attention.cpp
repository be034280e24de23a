// Attention in blocks of queries: scores of a block are computed, normalised and multiplied by the values while they
// are in the cache. Heads and blocks are spread over the threads.
#include "operators/attention.h"

#include <algorithm>

#include "operators/gemm.h"
#include "operators/row_softmax.h"

namespace pterun::operators {
namespace {

constexpr std::int64_t kBlockRows = 32;

struct Block {
  std::int64_t batch, head, first, rows;
  std::int64_t keys;  // that at least one row sees
};

MatrixView view_of(const HeadRows& rows, std::int64_t batch, std::int64_t head, std::int64_t first) {
  const std::int64_t offset = batch * rows.batch_stride + head * rows.head_stride + first * rows.row_stride;
  const auto* data =
      static_cast<const std::byte*>(rows.data) + offset * static_cast<std::int64_t>(dtype_size(rows.dtype));
  return {data, rows.dtype, rows.row_stride, 1};
}

// One query against float keys: neither keys nor values are repacked.
struct SingleQueryLoop {
  [[gnu::always_inline]] static inline void run(const float* query, const float* keys, std::int64_t key_stride,
                                                std::int64_t count, std::int64_t dim, float* scores) {
    for (std::int64_t k = 0; k < count; ++k) {
      const float* key = keys + k * key_stride;
      Vector<float> sums{};
      std::int64_t i = 0;
      for (; i + kWidth<float> <= dim; i += kWidth<float>)
        sums += vector_at(query + i) * vector_at(key + i);
      float sum = lane_sum<float>(sums);
      for (; i < dim; ++i)
        sum += query[i] * key[i];
      scores[k] = sum;
    }
  }
};

struct WeightedSumLoop {
  [[gnu::always_inline]] static inline void run(const float* weights, const float* values, std::int64_t value_stride,
                                                std::int64_t count, std::int64_t dim, float* out) {
    std::fill_n(out, dim, 0.0f);
    for (std::int64_t k = 0; k < count; ++k) {
      const float* value = values + k * value_stride;
      std::int64_t i = 0;
      for (; i + kWidth<float> <= dim; i += kWidth<float>)
        vector_at(out + i) += vector_at(value + i) * weights[k];
      for (; i < dim; ++i)
        out[i] += value[i] * weights[k];
    }
  }
};

// scores = softmax(scores * scale + mask) over the first `count` numbers; the others become 0.
struct ScoreRowLoop {
  [[gnu::always_inline]] static inline void run(float* scores, std::int64_t count, std::int64_t all, float scale,
                                                const float* mask) {
    for (std::int64_t i = 0; i < count; ++i)
      scores[i] *= scale;
    if (mask != nullptr) {
      for (std::int64_t i = 0; i < count; ++i)
        scores[i] += mask[i];
    }
    const float sum = row_exp(scores, count, row_maximum(scores, count), scores);
    const float inverse = 1.0f / sum;
    for (std::int64_t i = 0; i < count; ++i)
      scores[i] *= inverse;
    std::fill(scores + count, scores + all, 0.0f);
  }
};

void attend_block(const Attention& a, const Block& block, float* scores) {
  const std::int64_t kv_head = block.head / (a.heads / a.kv_heads);
  const MatrixView query = view_of(a.query, block.batch, block.head, block.first);
  const MatrixView key = view_of(a.key, block.batch, kv_head, 0);
  const MatrixView value = view_of(a.value, block.batch, kv_head, 0);
  float* out =
      a.out + block.batch * a.out_batch_stride + block.head * a.out_head_stride + block.first * a.out_row_stride;
  const bool floats = query.dtype == DType::kFloat32 && key.dtype == DType::kFloat32 && value.dtype == DType::kFloat32;
  const bool single = block.rows == 1 && floats;
  ThreadPool serial(1);
  if (single) {
    call_vectorised<SingleQueryLoop>(static_cast<const float*>(query.data), static_cast<const float*>(key.data),
                                     key.row_stride, block.keys, a.dim, scores);
  } else {
    std::fill_n(scores, block.rows * block.keys, 0.0f);
    const MatrixView key_columns{key.data, key.dtype, 1, key.row_stride};
    gemm_accumulate<float>(serial, {block.rows, block.keys, a.dim}, query, key_columns, scores, block.keys);
  }
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::int64_t position = block.first + row;
    const std::int64_t seen = a.causal ? std::min(block.keys, a.first_position + position + 1) : block.keys;
    const float* mask = a.mask == nullptr ? nullptr : a.mask + position * a.keys;
    call_vectorised<ScoreRowLoop>(scores + row * block.keys, seen, block.keys, a.scale, mask);
  }
  if (single) {
    call_vectorised<WeightedSumLoop>(static_cast<const float*>(scores), static_cast<const float*>(value.data),
                                     value.row_stride, block.keys, a.dim, out);
    return;
  }
  for (std::int64_t row = 0; row < block.rows; ++row)
    std::fill_n(out + row * a.out_row_stride, a.dim, 0.0f);
  const MatrixView weights{scores, DType::kFloat32, block.keys, 1};
  gemm_accumulate<float>(serial, {block.rows, a.dim, block.keys}, weights, value, out, a.out_row_stride);
}

}  // namespace

Result<void> attend(ExecuteContext& context, const Attention& a) {
  const std::int64_t row_blocks = (a.queries + kBlockRows - 1) / kBlockRows;
  const std::int64_t blocks = a.batch * a.heads * row_blocks;
  if (blocks == 0 || a.dim == 0) return {};
  // Each worker has scores of its own and takes every workers-th block, since causal blocks grow.
  const auto workers = std::min(static_cast<std::int64_t>(context.threads->threads()), blocks);
  const std::int64_t score_count = std::min(kBlockRows, a.queries) * a.keys;
  PTERUN_ASSIGN(std::byte * memory,
                context.scratch->allocate(static_cast<std::size_t>(workers * score_count) * sizeof(float)));
  auto* scores = reinterpret_cast<float*>(memory);
  context.threads->parallel_for(static_cast<std::size_t>(workers), 1, [&](std::size_t begin, std::size_t end) {
    for (auto worker = static_cast<std::int64_t>(begin); worker < static_cast<std::int64_t>(end); ++worker) {
      for (std::int64_t i = worker; i < blocks; i += workers) {
        Block block{i / (row_blocks * a.heads), i / row_blocks % a.heads, i % row_blocks * kBlockRows, 0, a.keys};
        block.rows = std::min(kBlockRows, a.queries - block.first);
        if (a.causal) block.keys = std::min(a.keys, a.first_position + block.first + block.rows);
        attend_block(a, block, scores + worker * score_count);
      }
    }
  });
  return {};
}

}  // namespace pterun::operators
