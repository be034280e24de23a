// Tiles of C are computed independently. A tile packs blocks of A and B into panels on its stack, so that the inner
// kernel reads both with unit stride, and adds 6 x 64-byte register blocks.
#include "operators/gemm.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "operators/dtype_dispatch.h"
#include "operators/vector_target.h"

namespace pterun::operators {
namespace {

constexpr std::int64_t kPanelRows = 6;
constexpr std::int64_t kTileRows = 48;
constexpr std::int64_t kTileColumns = 96;
constexpr std::int64_t kDepthBlock = 128;
constexpr std::size_t kVectorBytes = 64;
template <typename T>
inline constexpr std::int64_t kPanelColumns = kVectorBytes / sizeof(T);

// 64 bytes of T; the compiler splits them into what the target has.
template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
// Integers wrap: unsigned arithmetic on the same bits.
template <>
struct VectorOf<std::int64_t> {
  typedef std::uint64_t type __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
};

// c[Rows][one vector] += sum over k of a[k][r] * b[k][one vector]; c has `c_stride` elements a row.
template <typename T, int Rows>
[[gnu::always_inline]] inline void panel_body(std::int64_t depth, const T* a, const T* b, T* c, std::int64_t c_stride) {
  using Vector = typename VectorOf<T>::type;
  Vector sums[Rows];
  for (int r = 0; r < Rows; ++r)
    sums[r] = Vector{};
  for (std::int64_t k = 0; k < depth; ++k) {
    const Vector column = *reinterpret_cast<const Vector*>(b + k * kPanelColumns<T>);
    for (int r = 0; r < Rows; ++r)
      sums[r] += column * a[k * kPanelRows + r];
  }
  for (int r = 0; r < Rows; ++r)
    *reinterpret_cast<Vector*>(c + r * c_stride) += sums[r];
}

// One row of A makes a product with a vector of its own: no panel rows are wasted on it.
template <typename T>
[[gnu::always_inline]] inline void panel_rows(std::int64_t rows, std::int64_t depth, const T* a, const T* b, T* c,
                                              std::int64_t c_stride) {
  if (rows == 1) {
    panel_body<T, 1>(depth, a, b, c, c_stride);
  } else if (rows <= 3) {
    panel_body<T, 3>(depth, a, b, c, c_stride);
  } else {
    panel_body<T, kPanelRows>(depth, a, b, c, c_stride);
  }
}

template <typename T>
using Panel = void (*)(std::int64_t rows, std::int64_t depth, const T* a, const T* b, T* c, std::int64_t c_stride);

template <typename T>
void panel_base(std::int64_t rows, std::int64_t depth, const T* a, const T* b, T* c, std::int64_t c_stride) {
  panel_rows<T>(rows, depth, a, b, c, c_stride);
}
template <typename T>
PTERUN_TARGET_AVX2 void panel_avx2(std::int64_t rows, std::int64_t depth, const T* a, const T* b, T* c,
                                   std::int64_t c_stride) {
  panel_rows<T>(rows, depth, a, b, c, c_stride);
}
template <typename T>
PTERUN_TARGET_AVX512 void panel_avx512(std::int64_t rows, std::int64_t depth, const T* a, const T* b, T* c,
                                       std::int64_t c_stride) {
  panel_rows<T>(rows, depth, a, b, c, c_stride);
}

template <typename T>
Panel<T> best_panel() {
  switch (vector_target()) {
    case VectorTarget::kAvx512: return panel_avx512<T>;
    case VectorTarget::kAvx2: return panel_avx2<T>;
    case VectorTarget::kBase: break;
  }
  return panel_base<T>;
}

// Packs `lines` x `depth` elements into panels of `width` lines: panel p, depth k, line l. Missing lines of the last
// panel become 0. Reads along whichever direction is nearer to contiguous.
template <typename T>
void pack_panels(const MatrixView& view, std::int64_t line_stride, std::int64_t depth_stride, std::int64_t first_line,
                 std::int64_t lines, std::int64_t first_depth, std::int64_t depth, std::int64_t width, T* packed) {
  const LoadBlock load = load_block(view.dtype, kComputeOf<T>);
  const auto element_size = static_cast<std::int64_t>(dtype_size(view.dtype));
  const std::byte* origin =
      static_cast<const std::byte*>(view.data) + (first_line * line_stride + first_depth * depth_stride) * element_size;
  alignas(64) T line[std::max(kDepthBlock, kTileColumns)];
  for (std::int64_t start = 0; start < lines; start += width, packed += width * depth) {
    const std::int64_t used = std::min(width, lines - start);
    const std::byte* panel = origin + start * line_stride * element_size;
    if (used < width) std::fill_n(packed, width * depth, T{});
    if (std::abs(line_stride) <= std::abs(depth_stride)) {
      for (std::int64_t k = 0; k < depth; ++k) {
        load(panel + k * depth_stride * element_size, line_stride, packed + k * width, static_cast<std::size_t>(used));
      }
      continue;
    }
    for (std::int64_t l = 0; l < used; ++l) {
      load(panel + l * line_stride * element_size, depth_stride, line, static_cast<std::size_t>(depth));
      for (std::int64_t k = 0; k < depth; ++k)
        packed[k * width + l] = line[k];
    }
  }
}

struct Tile {
  std::int64_t row, rows, column, columns;
};

// C's tile += A's rows * B's columns, one depth block after the other.
template <typename T>
void multiply_tile(const Tile& tile, std::int64_t depth, const MatrixView& a, const MatrixView& b, T* c,
                   std::int64_t c_row_stride, Panel<T> panel) {
  alignas(64) T packed_a[kTileRows * kDepthBlock];
  alignas(64) T packed_b[kTileColumns * kDepthBlock];
  alignas(64) T block[kPanelRows * kPanelColumns<T>];
  for (std::int64_t k = 0; k < depth; k += kDepthBlock) {
    const std::int64_t block_depth = std::min(kDepthBlock, depth - k);
    pack_panels(a, a.row_stride, a.column_stride, tile.row, tile.rows, k, block_depth, kPanelRows, packed_a);
    pack_panels(b, b.column_stride, b.row_stride, tile.column, tile.columns, k, block_depth, kPanelColumns<T>,
                packed_b);
    for (std::int64_t column = 0; column < tile.columns; column += kPanelColumns<T>) {
      const std::int64_t columns = std::min(kPanelColumns<T>, tile.columns - column);
      const T* b_panel = packed_b + column * block_depth;
      for (std::int64_t row = 0; row < tile.rows; row += kPanelRows) {
        const std::int64_t rows = std::min(kPanelRows, tile.rows - row);
        const T* a_panel = packed_a + row * block_depth;
        T* target = c + (tile.row + row) * c_row_stride + tile.column + column;
        if (columns == kPanelColumns<T> && (rows == kPanelRows || rows == 1 || rows == 3)) {
          panel(rows, block_depth, a_panel, b_panel, target, c_row_stride);
          continue;
        }
        std::fill_n(block, kPanelRows * kPanelColumns<T>, T{});
        panel(rows, block_depth, a_panel, b_panel, block, kPanelColumns<T>);
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t n = 0; n < columns; ++n) {
            T& element = target[r * c_row_stride + n];
            element = wrap_add(element, block[r * kPanelColumns<T> + n]);
          }
        }
      }
    }
  }
}

}  // namespace

template <typename T>
void gemm_accumulate(ThreadPool& threads, const GemmSize& size, const MatrixView& a, const MatrixView& b, T* c,
                     std::int64_t c_row_stride) {
  if (size.rows == 0 || size.columns == 0 || size.depth == 0) return;
  const Panel<T> panel = best_panel<T>();
  const std::int64_t row_tiles = (size.rows + kTileRows - 1) / kTileRows;
  const std::int64_t column_tiles = (size.columns + kTileColumns - 1) / kTileColumns;
  const auto work = [&](std::size_t begin, std::size_t end) {
    for (auto index = static_cast<std::int64_t>(begin); index < static_cast<std::int64_t>(end); ++index) {
      const std::int64_t row = index % row_tiles * kTileRows;
      const std::int64_t column = index / row_tiles * kTileColumns;
      const Tile tile{row, std::min(kTileRows, size.rows - row), column, std::min(kTileColumns, size.columns - column)};
      multiply_tile(tile, size.depth, a, b, c, c_row_stride, panel);
    }
  };
  // Below some 100,000 multiplications waking the other threads costs more than it brings.
  const std::int64_t tiles = row_tiles * column_tiles;
  const bool small = size.rows * size.columns < 100000 / std::max<std::int64_t>(size.depth, 1);
  threads.parallel_for(static_cast<std::size_t>(tiles), small ? static_cast<std::size_t>(tiles) : 1, work);
}

template void gemm_accumulate<float>(ThreadPool&, const GemmSize&, const MatrixView&, const MatrixView&, float*,
                                     std::int64_t);
template void gemm_accumulate<double>(ThreadPool&, const GemmSize&, const MatrixView&, const MatrixView&, double*,
                                      std::int64_t);
template void gemm_accumulate<std::int64_t>(ThreadPool&, const GemmSize&, const MatrixView&, const MatrixView&,
                                            std::int64_t*, std::int64_t);

}  // namespace pterun::operators
