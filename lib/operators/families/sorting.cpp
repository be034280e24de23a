// Sort, topk and bucketize. Elements become unsigned keys whose order is eager's (NaN above everything, -0 equal to 0)
// with their index behind the key, so that a plain sort of integers is stable. Values are then gathered as they were.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "operators/along.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

// A key of 32 bits above an index of 32 bits.
using Packed = std::uint64_t;

struct Pair {
  std::uint64_t key;
  std::uint64_t index;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

std::uint64_t index_of(Packed entry) {
  return entry & 0xFFFFFFFFu;
}
std::uint64_t index_of(const Pair& entry) {
  return entry.index;
}

// The order of floats as the order of unsigned integers.
std::uint32_t ordered(float value) {
  if (value != value) return 0xFFFFFFFFu;
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);  // -0 becomes 0
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
std::uint64_t ordered(double value) {
  if (value != value) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}
std::uint64_t ordered(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}

// The entry of an element; integers of at most 32 bits differ from the smallest by less than 2^32.
Packed make_entry(float value, std::size_t index, bool descending, Packed*) {
  const std::uint32_t key = ordered(value);
  return (static_cast<Packed>(descending ? ~key : key) << 32) | index;
}
Packed make_entry(std::int64_t value, std::size_t index, bool descending, Packed*) {
  const auto key = static_cast<std::uint32_t>(value + 0x80000000LL);
  return (static_cast<Packed>(descending ? ~key : key) << 32) | index;
}
template <typename T>
Pair make_entry(T value, std::size_t index, bool descending, Pair*) {
  const std::uint64_t key = ordered(value);
  return {descending ? ~key : key, index};
}

// Sorts by the upper 32 bits, a byte at a time from the lowest, skipping bytes that are all alike.
void radix_sort(Packed* entries, Packed* spare, std::size_t count) {
  std::array<std::array<std::uint32_t, 256>, 4> counts{};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t byte = 0; byte < 4; ++byte)
      ++counts[byte][entries[i] >> (32 + 8 * byte) & 0xFF];
  }
  Packed* from = entries;
  Packed* to = spare;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    const std::size_t shift = 32 + 8 * byte;
    if (counts[byte][from[0] >> shift & 0xFF] == count) continue;
    std::uint32_t position = 0;
    for (std::uint32_t& slot : counts[byte])
      position += std::exchange(slot, position);
    for (std::size_t i = 0; i < count; ++i)
      to[counts[byte][from[i] >> shift & 0xFF]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::copy_n(from, count, entries);
}

void sort_all(Packed* entries, Packed* spare, std::size_t count) {
  if (count < 128)
    std::sort(entries, entries + count);
  else
    radix_sort(entries, spare, count);
}
void sort_all(Pair* entries, Pair*, std::size_t count) {
  std::sort(entries, entries + count);
}

bool key_less(Packed a, Packed b) {
  return a >> 32 < b >> 32;
}
bool key_less(const Pair& a, const Pair& b) {
  return a.key < b.key;
}

// Brings the first `kept` entries to the front, in order. Which of equal elements are kept, and in which order, is
// not defined; these are the standard library's algorithms in the way that eager uses them, so that they agree.
template <typename Entry>
void select_first(Entry* entries, std::size_t count, std::size_t kept) {
  const auto less = [](const Entry& a, const Entry& b) { return key_less(a, b); };
  if (kept * 64 <= count) {
    std::partial_sort(entries, entries + kept, entries + count, less);
  } else {
    std::nth_element(entries, entries + kept - 1, entries + count, less);
    std::sort(entries, entries + kept - 1, less);
  }
}

// Where lines are read and the first `kept` of each in order are written.
struct Lines {
  const std::byte* in = nullptr;
  DType dtype = DType::kFloat32;
  Along from;
  std::int64_t kept = 0;
  bool descending = false;
  bool whole = true;            // a stable sort; else only the first ones matter
  std::byte* values = nullptr;  // [outer, kept, inner], as `in`
  std::int64_t* indices = nullptr;
};

template <typename T, typename Entry>
void sort_line(const Lines& lines, std::int64_t line, T* row, Entry* entries, Entry* spare) {
  const std::int64_t inner = lines.from.inner;
  const auto count = static_cast<std::size_t>(lines.from.count);
  const std::size_t size = dtype_size(lines.dtype);
  const std::byte* from = lines.in + lines.from.start_of(line) * static_cast<std::int64_t>(size);
  load_as<T>(lines.dtype, from, inner, row, count);
  for (std::size_t i = 0; i < count; ++i)
    entries[i] = make_entry(row[i], i, lines.descending, entries);
  if (lines.whole)
    sort_all(entries, spare, count);
  else
    select_first(entries, count, static_cast<std::size_t>(lines.kept));
  Along to = lines.from;
  to.count = lines.kept;
  const std::int64_t start = to.start_of(line);
  for (std::int64_t i = 0; i < lines.kept; ++i) {
    const std::uint64_t index = index_of(entries[i]);
    lines.indices[start + i * inner] = static_cast<std::int64_t>(index);
  }
  visit_word(size, [&]<typename Word>() {
    const Word* source = reinterpret_cast<const Word*>(from);
    Word* target = reinterpret_cast<Word*>(lines.values) + start;
    for (std::int64_t i = 0; i < lines.kept; ++i)
      target[i * inner] = source[static_cast<std::int64_t>(index_of(entries[i])) * inner];
  });
}

template <typename T, typename Entry>
Result<void> sort_lines(ExecuteContext& context, const Lines& lines) {
  constexpr std::size_t kGrainElements = 1 << 13;
  const auto count = static_cast<std::size_t>(lines.from.count);
  const auto items = static_cast<std::size_t>(lines.from.lines());
  const std::size_t parts = context.threads->threads() * 4;
  const std::size_t grain = std::max({std::size_t{1}, kGrainElements / count, (items + parts - 1) / parts});
  const std::size_t row_bytes = count * (sizeof(T) + 2 * sizeof(Entry));
  PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate((items + grain - 1) / grain * row_bytes));
  context.threads->parallel_for(items, grain, [&](std::size_t begin, std::size_t end) {
    auto* entries = reinterpret_cast<Entry*>(memory + begin / grain * row_bytes);
    T* row = reinterpret_cast<T*>(entries + 2 * count);
    for (std::size_t line = begin; line < end; ++line)
      sort_line(lines, static_cast<std::int64_t>(line), row, entries, entries + count);
  });
  return {};
}

// Sorts along `dim`, or keeps the first `kept` of each line; outputs have their shape already.
Result<void> sort_along(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::size_t dim,
                        std::int64_t kept, bool whole, bool descending, Tensor& values, Tensor& indices) {
  if (values.numel() == 0) return {};
  Lines lines;
  lines.from = Along(input.shape(), dim);
  lines.dtype = input.dtype();
  lines.kept = kept;
  lines.descending = descending;
  lines.whole = whole;
  if (lines.from.count > std::int64_t{0xFFFFFFFF}) {
    return fail(arguments.error(ErrorCode::kNotSupported, "more than 2^32 elements in a line"));
  }
  PTERUN_ASSIGN(lines.in, row_major_elements(context, input));
  PTERUN_ASSIGN(RowMajorOutput value_target, RowMajorOutput::open(context, values));
  PTERUN_ASSIGN(RowMajorOutput index_target, RowMajorOutput::open(context, indices));
  lines.values = value_target.data();
  lines.indices = reinterpret_cast<std::int64_t*>(index_target.data());
  if (input.dtype() == DType::kFloat64) {
    PTERUN_TRY((sort_lines<double, Pair>(context, lines)));
  } else if (is_floating(input.dtype())) {
    PTERUN_TRY((sort_lines<float, Packed>(context, lines)));
  } else if (dtype_size(input.dtype()) == 8 || input.dtype() == DType::kUInt32) {
    PTERUN_TRY((sort_lines<std::int64_t, Pair>(context, lines)));
  } else {
    PTERUN_TRY((sort_lines<std::int64_t, Packed>(context, lines)));
  }
  value_target.finish(context);
  index_target.finish(context);
  return {};
}

// Checks dtypes and gives both outputs the input's shape with `kept` elements along `dim`.
Result<void> prepare_outputs(const Arguments& arguments, const Tensor& input, std::size_t dim, std::int64_t kept,
                             Tensor& values, Tensor& indices) {
  PTERUN_TRY(check_dtype(arguments, 0, input, kAllDTypes));
  PTERUN_TRY(check_same_dtype(arguments, input, values));
  if (indices.dtype() != DType::kInt64) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "indices have to be int64, not " + std::string(dtype_name(indices.dtype()))));
  }
  Shape shape = input.shape();
  if (shape.rank() > 0) shape[dim] = kept;
  PTERUN_TRY(resize_output(arguments, values, shape));
  return resize_output(arguments, indices, shape);
}

Result<void> sort_with(ExecuteContext& context, const Arguments& arguments, std::size_t dim_argument) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(dim_argument));
  PTERUN_ASSIGN(const bool descending, arguments.boolean(dim_argument + 1));
  PTERUN_ASSIGN(Tensor * values, arguments.tensor(dim_argument + 2));
  PTERUN_ASSIGN(Tensor * indices, arguments.tensor(dim_argument + 3));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  const std::int64_t count = input->rank() == 0 ? 1 : input->size(dim);
  PTERUN_TRY(prepare_outputs(arguments, *input, dim, count, *values, *indices));
  return sort_along(context, arguments, *input, dim, count, true, descending, *values, *indices);
}

Result<void> sort(ExecuteContext& context, const Arguments& arguments) {
  return sort_with(context, arguments, 1);
}
Result<void> sort_stable(ExecuteContext& context, const Arguments& arguments) {
  return sort_with(context, arguments, 2);
}

Result<void> topk(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t kept, arguments.integer(1));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(2));
  PTERUN_ASSIGN(const bool largest, arguments.boolean(3));
  PTERUN_ASSIGN(Tensor * values, arguments.tensor(5));
  PTERUN_ASSIGN(Tensor * indices, arguments.tensor(6));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, input->rank()));
  const std::int64_t count = input->rank() == 0 ? 1 : input->size(dim);
  if (kept < 0 || kept > count) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "cannot take " + std::to_string(kept) + " of " + std::to_string(count) + " elements"));
  }
  PTERUN_TRY(prepare_outputs(arguments, *input, dim, kept, *values, *indices));
  const std::int64_t found = input->rank() == 0 ? 1 : kept;  // a number is its own result even for k = 0
  // Whether or not `sorted` is asked for, they come sorted.
  return sort_along(context, arguments, *input, dim, found, false, largest, *values, *indices);
}

// The number of boundaries below x (right: not above x). NaN lies behind all of them.
template <typename T>
std::int64_t bucket_of(T x, const T* boundaries, std::int64_t count, bool right) {
  std::int64_t low = 0;
  std::int64_t high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool stop = right ? boundaries[middle] > x : boundaries[middle] >= x;
    if (stop)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Buckets of `count` row-major values of dtype `common`, to which the boundaries are converted as well.
Result<void> bucketize_values(ExecuteContext& context, const std::byte* values, std::size_t count,
                              const Tensor& boundaries, DType common, bool right, Tensor& output) {
  const auto edge_count = static_cast<std::size_t>(boundaries.numel());
  PTERUN_ASSIGN(const std::byte* edge_elements, row_major_elements_as(context, boundaries, common));
  PTERUN_ASSIGN(std::byte * edge_memory, context.scratch->allocate(edge_count * 8));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, output));
  visit_compute(common, [&]<typename T>() {
    T* const edges = reinterpret_cast<T*>(edge_memory);
    load_as<T>(common, edge_elements, 1, edges, edge_count);
    std::array<T, kBlock> x;
    for (std::size_t start = 0; start < count; start += kBlock) {
      const std::size_t block = std::min(kBlock, count - start);
      load_as<T>(common, values + start * dtype_size(common), 1, x.data(), block);
      for (std::size_t i = 0; i < block; ++i) {
        const std::int64_t bucket = bucket_of(x[i], edges, boundaries.numel(), right);
        if (output.dtype() == DType::kInt64)
          reinterpret_cast<std::int64_t*>(target.data())[start + i] = bucket;
        else
          reinterpret_cast<std::int32_t*>(target.data())[start + i] = static_cast<std::int32_t>(bucket);
      }
    }
  });
  target.finish(context);
  return {};
}

Result<void> check_bucketize(const Arguments& arguments, const Tensor& boundaries, bool narrow, const Tensor& output) {
  PTERUN_TRY(check_dtype(arguments, 1, boundaries, kAllDTypes));
  if (boundaries.rank() != 1) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "boundaries need one dimension, these are " + boundaries.describe()));
  }
  const DType wanted = narrow ? DType::kInt32 : DType::kInt64;
  if (output.dtype() == wanted) return {};
  return fail(arguments.error(ErrorCode::kInvalidArgument, "the output has to be " + std::string(dtype_name(wanted)) +
                                                               ", not " + std::string(dtype_name(output.dtype()))));
}

Result<void> bucketize(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* boundaries, arguments.tensor(1));
  PTERUN_ASSIGN(const bool narrow, arguments.boolean(2));
  PTERUN_ASSIGN(const bool right, arguments.boolean(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_TRY(check_dtype(arguments, 0, *input, kAllDTypes));
  PTERUN_TRY(check_bucketize(arguments, *boundaries, narrow, *output));
  PTERUN_TRY(resize_output(arguments, *output, input->shape()));
  Promotion promotion;
  promotion.add(*boundaries);
  promotion.add(*input);
  const DType common = promotion.result();
  PTERUN_ASSIGN(const std::byte* values, row_major_elements_as(context, *input, common));
  return bucketize_values(context, values, static_cast<std::size_t>(input->numel()), *boundaries, common, right,
                          *output);
}

Result<void> bucketize_number(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar number, arguments.scalar(0));
  PTERUN_ASSIGN(const Tensor* boundaries, arguments.tensor(1));
  PTERUN_ASSIGN(const bool narrow, arguments.boolean(2));
  PTERUN_ASSIGN(const bool right, arguments.boolean(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_TRY(check_bucketize(arguments, *boundaries, narrow, *output));
  PTERUN_TRY(resize_output(arguments, *output, {}));
  Promotion promotion;
  promotion.add(*boundaries);
  promotion.add(number);
  const DType common = promotion.result();
  const Element value = element_of(number, common);
  return bucketize_values(context, value.bytes.data(), 1, *boundaries, common, right, *output);
}

constexpr OperatorRow kRows[] = {
    {"aten::sort.values", kRealAndBool, sort},
    {"aten::sort.values_stable", kRealAndBool, sort_stable},
    {"aten::topk.values", kRealAndBool, topk},
    {"aten::bucketize.Tensor_out", kRealAndBool, bucketize},
    {"aten::bucketize.Scalar_out", kRealAndBool, bucketize_number},
};

}  // namespace

std::span<const OperatorRow> sorting_family() {
  return kRows;
}

}  // namespace pterun::operators
