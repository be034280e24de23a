// Loops of a copy are sorted by the destination's steps and merged where both sides are contiguous; what is left runs
// as memcpy, as a blocked transpose, or as a plain strided loop, whichever the innermost two loops allow.
#include "operators/block_copy.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace pterun::operators {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::int64_t kParallelBytes = 1 << 20;  // below, waking threads costs more than it gains
constexpr std::int64_t kChunkBytes = 1 << 17;

// Loops in bytes, outermost first.
struct Loops {
  std::array<CopyDim, 2 * kMaxRank> dims;
  std::size_t rank = 0;

  void push(const CopyDim& dim) { dims[rank++] = dim; }
  CopyDim& inner() { return dims[rank - 1]; }
  CopyDim take(std::size_t i) {
    const CopyDim dim = dims[i];
    std::copy(dims.begin() + i + 1, dims.begin() + rank, dims.begin() + i);
    --rank;
    return dim;
  }
};

// The innermost two loops: `rows` around `columns`, each copying `width` bytes.
using Kernel = void (*)(const CopyDim& rows, const CopyDim& columns, std::size_t width, const std::byte* from,
                        std::byte* to);

void copy_runs(const CopyDim& rows, const CopyDim&, std::size_t width, const std::byte* from, std::byte* to) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::memcpy(to, from, width);
    from += rows.from_step;
    to += rows.to_step;
  }
}

template <std::size_t kWidth>
void copy_words(const CopyDim& rows, const CopyDim& columns, std::size_t, const std::byte* from, std::byte* to) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::byte* source = from + i * rows.from_step;
    std::byte* target = to + i * rows.to_step;
    for (std::int64_t j = 0; j < columns.count; ++j) {
      std::memcpy(target, source, kWidth);
      source += columns.from_step;
      target += columns.to_step;
    }
  }
}

// Words from anywhere to contiguous columns.
template <std::size_t kWidth>
void gather_words(const CopyDim& rows, const CopyDim& columns, std::size_t, const std::byte* from, std::byte* to) {
  const std::int64_t step = columns.from_step;
  const std::int64_t count = columns.count;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::byte* source = from + i * rows.from_step;
    std::byte* target = to + i * rows.to_step;
    for (std::int64_t j = 0; j < count; ++j)
      std::memcpy(target + j * static_cast<std::int64_t>(kWidth), source + j * step, kWidth);
  }
}

// One element repeated over contiguous columns.
template <std::size_t kWidth>
void fill_words(const CopyDim& rows, const CopyDim& columns, std::size_t, const std::byte* from, std::byte* to) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::byte* word = from + i * rows.from_step;
    std::byte* target = to + i * rows.to_step;
    std::size_t left = static_cast<std::size_t>(columns.count) * kWidth;
    if (left >= 2 * kLineBytes) {
      std::byte line[kLineBytes];
      for (std::size_t j = 0; j < kLineBytes; j += kWidth)
        std::memcpy(line + j, word, kWidth);
      for (; left >= kLineBytes; left -= kLineBytes, target += kLineBytes)
        std::memcpy(target, line, kLineBytes);
    }
    for (; left > 0; left -= kWidth, target += kWidth)
      std::memcpy(target, word, kWidth);
  }
}

// Turns a full tile of kLineBytes / kWidth squared words around: one cache line of each source row becomes one column.
template <std::size_t kWidth>
void turn_tile(const std::byte* from, std::int64_t from_step, std::byte* to) {
  constexpr std::size_t kTile = kLineBytes / kWidth;
  for (std::size_t j = 0; j < kTile; ++j) {
    const std::byte* row = from + static_cast<std::int64_t>(j) * from_step;
    for (std::size_t i = 0; i < kTile; ++i)
      std::memcpy(to + (i * kTile + j) * kWidth, row + i * kWidth, kWidth);
  }
}

template <>
void turn_tile<4>(const std::byte* from, std::int64_t from_step, std::byte* to) {
  typedef std::uint32_t Lanes __attribute__((vector_size(16)));
  for (std::size_t j = 0; j < 16; j += 4) {
    const std::byte* row = from + static_cast<std::int64_t>(j) * from_step;
    for (std::size_t i = 0; i < 16; i += 4) {
      Lanes a, b, c, d;
      std::memcpy(&a, row + i * 4, 16);
      std::memcpy(&b, row + from_step + i * 4, 16);
      std::memcpy(&c, row + 2 * from_step + i * 4, 16);
      std::memcpy(&d, row + 3 * from_step + i * 4, 16);
      const Lanes ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      const Lanes ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      const Lanes cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      const Lanes cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      const std::array<Lanes, 4> turned = {
          __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
          __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
      for (std::size_t k = 0; k < 4; ++k)
        std::memcpy(to + ((i + k) * 16 + j) * 4, &turned[k], 16);
    }
  }
}

// Rows are contiguous in the source, columns in the destination. Full tiles go through a line-sized buffer, so that
// every cache line is touched once on either side whatever the strides.
template <std::size_t kWidth>
void transpose(const CopyDim& rows, const CopyDim& columns, std::size_t width, const std::byte* from, std::byte* to) {
  constexpr std::int64_t kTile = kLineBytes / kWidth;
  alignas(kLineBytes) std::byte tile[kTile * kLineBytes];
  const std::int64_t full_rows = rows.count / kTile * kTile;
  const std::int64_t full_columns = columns.count / kTile * kTile;
  for (std::int64_t i = 0; i < full_rows; i += kTile) {
    const std::byte* source = from + i * static_cast<std::int64_t>(kWidth);
    std::byte* target = to + i * rows.to_step;
    for (std::int64_t j = 0; j < full_columns; j += kTile) {
      turn_tile<kWidth>(source + j * columns.from_step, columns.from_step, tile);
      for (std::int64_t k = 0; k < kTile; ++k) {
        std::memcpy(target + k * rows.to_step + j * static_cast<std::int64_t>(kWidth), tile + k * kLineBytes,
                    kLineBytes);
      }
    }
  }
  CopyDim rest = columns;
  rest.count -= full_columns;
  if (full_rows > 0 && rest.count > 0) {
    CopyDim above = rows;
    above.count = full_rows;
    copy_words<kWidth>(above, rest, width, from + full_columns * columns.from_step,
                       to + full_columns * columns.to_step);
  }
  CopyDim below = rows;
  below.count -= full_rows;
  if (below.count > 0) {
    copy_words<kWidth>(below, columns, width, from + full_rows * rows.from_step, to + full_rows * rows.to_step);
  }
}

struct Kernels {
  Kernel words, gather, fill, transpose;
};

template <std::size_t kWidth>
constexpr Kernels kKernels = {copy_words<kWidth>, gather_words<kWidth>, fill_words<kWidth>, transpose<kWidth>};

const Kernels& kernels_of(std::size_t width) {
  switch (width) {
    case 1: return kKernels<1>;
    case 2: return kKernels<2>;
    case 4: return kKernels<4>;
    case 8: return kKernels<8>;
    default: return kKernels<16>;
  }
}

// Drops loops of one, sorts by the destination's step, merges. False when there is nothing to copy.
bool normalise(std::span<const CopyDim> dims, std::size_t element_size, Loops& loops) {
  const auto size = static_cast<std::int64_t>(element_size);
  Loops sorted;
  for (const CopyDim& dim : dims) {
    if (dim.count <= 0) return false;
    if (dim.count == 1) continue;
    const CopyDim bytes = {dim.count, dim.from_step * size, dim.to_step * size};
    std::size_t i = sorted.rank++;
    while (i > 0 && std::abs(sorted.dims[i - 1].to_step) < std::abs(bytes.to_step)) {
      sorted.dims[i] = sorted.dims[i - 1];
      --i;
    }
    sorted.dims[i] = bytes;
  }
  for (std::size_t i = 0; i < sorted.rank; ++i) {
    const CopyDim& dim = sorted.dims[i];
    if (loops.rank > 0) {
      CopyDim& outer = loops.inner();
      if (outer.from_step == dim.from_step * dim.count && outer.to_step == dim.to_step * dim.count) {
        outer = {outer.count * dim.count, dim.from_step, dim.to_step};
        continue;
      }
    }
    loops.push(dim);
  }
  return true;
}

struct Inner {
  Kernel kernel = copy_runs;
  std::size_t width = 0;
  CopyDim rows = {1, 0, 0};
  CopyDim columns = {1, 0, 0};
};

// Takes the innermost one or two loops out of `loops` and chooses how to run them.
Inner choose_inner(Loops& loops, std::size_t element_size) {
  Inner inner;
  std::int64_t width = static_cast<std::int64_t>(element_size);
  if (loops.rank > 0 && loops.inner().from_step == width && loops.inner().to_step == width) {
    width *= loops.take(loops.rank - 1).count;
  }
  inner.width = static_cast<std::size_t>(width);
  if (loops.rank == 0) return inner;
  if (width > 16 || (width & (width - 1)) != 0) {  // no word: memcpy of this width
    inner.rows = loops.take(loops.rank - 1);
    return inner;
  }
  const Kernels& kernels = kernels_of(inner.width);
  inner.kernel = kernels.words;
  inner.columns = loops.take(loops.rank - 1);
  if (loops.rank == 0) {
    if (inner.columns.from_step == 0 && inner.columns.to_step == width) inner.kernel = kernels.fill;
    return inner;
  }
  if (inner.columns.to_step == width) {
    if (inner.columns.from_step == 0 && inner.columns.count >= 4) {
      inner.kernel = kernels.fill;
      inner.rows = loops.take(loops.rank - 1);
      return inner;
    }
    for (std::size_t i = loops.rank; i-- > 0;) {
      if (loops.dims[i].from_step != width || loops.dims[i].count < 4 || inner.columns.count < 4) continue;
      inner.rows = loops.take(i);
      inner.kernel = kernels.transpose;
      return inner;
    }
    if (inner.columns.count >= 8) inner.kernel = kernels.gather;
  }
  inner.rows = loops.take(loops.rank - 1);
  if (inner.rows.count > inner.columns.count && inner.columns.count < 8) std::swap(inner.rows, inner.columns);
  return inner;
}

// Runs items [begin, end) of the outer loops' row-major index space.
void run_items(const Loops& loops, const Inner& inner, std::int64_t begin, std::int64_t end, const std::byte* from,
               std::byte* to) {
  std::array<std::int64_t, 2 * kMaxRank> index;
  std::int64_t rest = begin;
  for (std::size_t i = loops.rank; i-- > 0;) {
    index[i] = rest % loops.dims[i].count;
    rest /= loops.dims[i].count;
    from += index[i] * loops.dims[i].from_step;
    to += index[i] * loops.dims[i].to_step;
  }
  for (std::int64_t item = begin; item < end; ++item) {
    inner.kernel(inner.rows, inner.columns, inner.width, from, to);
    for (std::size_t i = loops.rank; i-- > 0;) {
      from += loops.dims[i].from_step;
      to += loops.dims[i].to_step;
      if (++index[i] < loops.dims[i].count) break;
      from -= loops.dims[i].from_step * index[i];
      to -= loops.dims[i].to_step * index[i];
      index[i] = 0;
    }
  }
}

void copy_bytes(ThreadPool& threads, std::size_t bytes, const std::byte* from, std::byte* to) {
  threads.parallel_for(bytes, bytes < kParallelBytes ? bytes : static_cast<std::size_t>(kChunkBytes),
                       [&](std::size_t begin, std::size_t end) { std::memcpy(to + begin, from + begin, end - begin); });
}

}  // namespace

void copy_strided(ThreadPool& threads, std::size_t element_size, std::span<const CopyDim> dims, const void* from,
                  void* to) {
  Loops loops;
  if (!normalise(dims, element_size, loops)) return;
  Inner inner = choose_inner(loops, element_size);
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  if (loops.rank == 0 && inner.kernel == copy_runs && inner.rows.count == 1) {
    copy_bytes(threads, inner.width, source, target);
    return;
  }
  std::int64_t items = 1;
  for (std::size_t i = 0; i < loops.rank; ++i)
    items *= loops.dims[i].count;
  const std::int64_t row_bytes = inner.columns.count * static_cast<std::int64_t>(inner.width);
  const std::int64_t item_bytes = inner.rows.count * row_bytes;
  if (threads.threads() == 1 || items * item_bytes < kParallelBytes) {
    run_items(loops, inner, 0, items, source, target);
    return;
  }
  if (item_bytes >= kParallelBytes) {
    const std::int64_t grain = std::max<std::int64_t>(16, kChunkBytes / row_bytes / 16 * 16);
    for (std::int64_t item = 0; item < items; ++item) {
      threads.parallel_for(inner.rows.count, grain, [&](std::size_t begin, std::size_t end) {
        Inner part = inner;
        part.rows.count = static_cast<std::int64_t>(end - begin);
        const auto row = static_cast<std::int64_t>(begin);
        run_items(loops, part, item, item + 1, source + row * inner.rows.from_step, target + row * inner.rows.to_step);
      });
    }
    return;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, kChunkBytes / item_bytes);
  threads.parallel_for(items, grain, [&](std::size_t begin, std::size_t end) {
    run_items(loops, inner, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), source, target);
  });
}

void copy_block(ThreadPool& threads, std::size_t element_size, const Shape& sizes, const void* from,
                const Strides& from_strides, void* to, const Strides& to_strides) {
  std::array<CopyDim, kMaxRank> dims;
  for (std::size_t i = 0; i < sizes.rank(); ++i)
    dims[i] = {sizes[i], from_strides[i], to_strides[i]};
  copy_strided(threads, element_size, {dims.data(), sizes.rank()}, from, to);
}

void copy_broadcast(ThreadPool& threads, const Tensor& source, Tensor& destination) {
  if (destination.numel() == 0) return;
  const Strides from = source.strides();
  const Strides to = destination.strides();
  const bool in_place = source.raw_data() == destination.raw_data();
  if (in_place && source.shape() == destination.shape() && from == to) return;
  std::array<CopyDim, kMaxRank> dims;
  const std::size_t added = destination.rank() - source.rank();
  for (std::size_t i = 0; i < destination.rank(); ++i) {
    const bool repeats = i < added || source.size(i - added) == 1;
    dims[i] = {destination.size(i), repeats ? 0 : from[i - added], to[i]};
  }
  copy_strided(threads, dtype_size(source.dtype()), {dims.data(), destination.rank()}, source.raw_data(),
               destination.mutable_raw_data());
}

void fill_block(ThreadPool& threads, std::size_t element_size, const Shape& sizes, const void* value, void* to,
                const Strides& to_strides) {
  copy_block(threads, element_size, sizes, value, Shape::filled(sizes.rank(), 0), to, to_strides);
}

}  // namespace pterun::operators
