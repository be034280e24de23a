// Strided copies: runs where the source is contiguous, tiles where source and destination run along different loops.
#include "operators/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "operators/dtype_dispatch.h"

namespace pterun::operators {
namespace {

constexpr std::size_t kGrainBytes = 128 * 1024;
constexpr std::int64_t kTile = 32;

template <typename Word>
void copy_run(const Word* from, std::int64_t stride, Word* to, std::int64_t count) {
  if (stride == 1) {
    std::memmove(to, from, static_cast<std::size_t>(count) * sizeof(Word));  // an alias may copy onto itself
  } else if (stride == 0) {
    std::fill_n(to, count, *from);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = from[i * stride];
  }
}

template <typename Word>
void copy_runs(const Word* from, const StridedSpan& span, Word* to, std::size_t begin, std::size_t end) {
  StridedCursor cursor(span, static_cast<std::int64_t>(begin));
  const std::int64_t stride = span.inner_stride();
  Word* write = to + begin;
  auto left = static_cast<std::int64_t>(end - begin);
  while (left > 0) {
    const std::int64_t step = std::min(cursor.run(), left);
    copy_run(from + cursor.offset(), stride, write, step);
    cursor.advance(step);
    write += step;
    left -= step;
  }
}

// A transpose inside a strided copy: `rows` is the loop along which the source is contiguous, the innermost loop is
// the one along which the destination is. The other loops are walked outside.
struct Transpose {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t from_column_stride = 0;  // elements between columns in the source
  std::int64_t to_row_stride = 0;       // elements between rows in the destination
  Shape outer_sizes;                    // the other loops
  Strides outer_from;
  Strides outer_to;
};

// nullopt unless there is such a loop and tiles of it pay.
std::optional<Transpose> find_transpose(const StridedSpan& span) {
  if (span.rank() < 2 || span.inner_stride() == 0 || span.inner_stride() == 1 || span.inner_size() < 4) return {};
  const std::size_t inner = span.rank() - 1;
  std::size_t row_loop = inner;
  for (std::size_t loop = 0; loop < inner; ++loop) {
    if (span.stride(loop) == 1 && span.size(loop) >= 4) row_loop = loop;
  }
  if (row_loop == inner) return {};
  Transpose plan;
  plan.rows = span.size(row_loop);
  plan.columns = span.inner_size();
  plan.from_column_stride = span.inner_stride();
  std::int64_t to_stride = 1;
  for (std::size_t loop = span.rank(); loop-- > 0;) {
    if (loop == row_loop) {
      plan.to_row_stride = to_stride;
    } else if (loop != inner) {
      plan.outer_sizes.push_back(span.size(loop));
      plan.outer_from.push_back(span.stride(loop));
      plan.outer_to.push_back(to_stride);
    }
    to_stride *= span.size(loop);
  }
  return plan;
}

template <typename Word>
void transpose_tile(const Word* from, const Transpose& plan, Word* to, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const Word* read = from + row;
    Word* write = to + row * plan.to_row_stride;
    for (std::int64_t column = 0; column < columns; ++column)
      write[column] = read[column * plan.from_column_stride];
  }
}

// One strip of at most kTile rows; strips are numbered through all outer loops.
template <typename Word>
void transpose_strip(const Word* from, const Transpose& plan, Word* to, std::int64_t strip) {
  const std::int64_t strips = (plan.rows + kTile - 1) / kTile;
  std::int64_t outer = strip / strips;
  for (std::size_t loop = 0; loop < plan.outer_sizes.rank(); ++loop) {
    const std::int64_t index = outer % plan.outer_sizes[loop];
    outer /= plan.outer_sizes[loop];
    from += index * plan.outer_from[loop];
    to += index * plan.outer_to[loop];
  }
  const std::int64_t row = strip % strips * kTile;
  const std::int64_t rows = std::min(kTile, plan.rows - row);
  for (std::int64_t column = 0; column < plan.columns; column += kTile) {
    transpose_tile(from + row + column * plan.from_column_stride, plan, to + row * plan.to_row_stride + column, rows,
                   std::min(kTile, plan.columns - column));
  }
}

template <typename Word>
void copy_words(ThreadPool& threads, const Word* from, const StridedSpan& span, Word* to) {
  const std::size_t grain = kGrainBytes / sizeof(Word);
  if (const auto plan = find_transpose(span)) {
    const std::int64_t strips = (plan->rows + kTile - 1) / kTile * plan->outer_sizes.numel();
    const std::size_t strip_elements = static_cast<std::size_t>(std::min(plan->rows, kTile) * plan->columns);
    threads.parallel_for(static_cast<std::size_t>(strips), std::max<std::size_t>(1, grain / strip_elements),
                         [&](std::size_t begin, std::size_t end) {
                           for (std::size_t strip = begin; strip < end; ++strip) {
                             transpose_strip(from, *plan, to, static_cast<std::int64_t>(strip));
                           }
                         });
    return;
  }
  threads.parallel_for(static_cast<std::size_t>(span.count()), grain,
                       [&](std::size_t begin, std::size_t end) { copy_runs(from, span, to, begin, end); });
}

}  // namespace

void copy_strided(ThreadPool& threads, const void* from, const StridedSpan& span, void* to, std::size_t element_size) {
  if (span.count() == 0) return;
  visit_word(element_size, [&]<typename Word>() {
    copy_words(threads, static_cast<const Word*>(from), span, static_cast<Word*>(to));
  });
}

void copy_broadcast(ThreadPool& threads, const Tensor& source, Tensor& destination) {
  if (destination.numel() == 0) return;
  const StridedSpan span = StridedSpan::of_operand(source, destination.shape(), destination.dim_order());
  copy_strided(threads, source.raw_data(), span, destination.mutable_raw_data(), dtype_size(source.dtype()));
}

}  // namespace pterun::operators
