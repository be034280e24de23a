// index and index_put: PyTorch's advanced indexing. Index tensors are checked and turned into one memory offset for
// each index position first; then runs of elements move between the indexed tensor and a dense array of the result's
// shape.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/checked.h"
#include "operators/block_copy.h"
#include "operators/broadcast.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/families/slices.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

// An index tensor, or one dimension of a mask, as plain int64 values of some shape.
struct IndexTensor {
  std::size_t dim = 0;  // of the indexed tensor
  Shape shape;
  const std::int64_t* values = nullptr;
};

struct IndexList {
  std::array<IndexTensor, kMaxRank> items;
  std::size_t count = 0;
  bool adjacent = true;  // no dimension without index between two with one
  Shape shape;           // all items broadcast
};

// The indexed tensor, row-major, seen by position. Memory of a result is [kept before, positions, kept after]
// (positions first when the indexed dimensions are not adjacent).
struct Selection {
  Shape shape;  // of the result
  std::int64_t positions = 1;
  std::int64_t position_step = 1;         // elements of the result between positions
  const std::int64_t* offsets = nullptr;  // of each position, in the indexed tensor
  std::int64_t run = 1;                   // contiguous elements at the end, in both
  std::array<CopyDim, kMaxRank> outer{};  // other kept dimensions: from the indexed tensor to the result
  std::size_t outer_count = 0;
};

// The places where a mask is true, one index vector a dimension.
Result<void> add_mask(ExecuteContext& context, const Arguments& arguments, const Tensor& self, const Tensor& mask,
                      std::size_t dim, IndexList& list) {
  for (std::size_t i = 0; i < mask.rank(); ++i) {
    if (dim + i < self.rank() && self.size(dim + i) == mask.size(i)) continue;
    return fail(arguments.error(ErrorCode::kInvalidArgument, "the mask " + mask.describe() +
                                                                 " does not fit dimension " + std::to_string(dim) +
                                                                 " on of " + self.describe()));
  }
  PTERUN_ASSIGN(const std::byte* bytes, row_major_elements(context, mask));
  const auto is_set = [](std::byte byte) { return byte != std::byte{0}; };
  const std::int64_t count = std::count_if(bytes, bytes + mask.numel(), is_set);
  PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(static_cast<std::size_t>(count) * mask.rank() * 8));
  auto* indices = reinterpret_cast<std::int64_t*>(memory);
  std::int64_t found = 0;
  for (std::int64_t n = 0; n < mask.numel(); ++n) {
    if (!is_set(bytes[n])) continue;
    std::int64_t rest = n;
    for (std::size_t i = mask.rank(); i-- > 0;) {
      indices[static_cast<std::int64_t>(i) * count + found] = rest % mask.size(i);
      rest /= mask.size(i);
    }
    ++found;
  }
  for (std::size_t i = 0; i < mask.rank(); ++i) {
    list.items[list.count++] = {dim + i, {count}, indices + static_cast<std::int64_t>(i) * count};
  }
  return {};
}

Result<void> add_index(ExecuteContext& context, const Arguments& arguments, const Tensor& self, const Tensor& index,
                       std::size_t dim, IndexList& list) {
  if (index.dtype() == DType::kBool || index.dtype() == DType::kUInt8) {
    return add_mask(context, arguments, self, index, dim, list);
  }
  if (index.dtype() != DType::kInt64 && index.dtype() != DType::kInt32) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "indices have to be int64, int32, bool or uint8, not " +
                                                                 std::string(dtype_name(index.dtype()))));
  }
  PTERUN_ASSIGN(const std::byte* values, row_major_elements_as(context, index, DType::kInt64));
  list.items[list.count++] = {dim, index.shape(), reinterpret_cast<const std::int64_t*>(values)};
  return {};
}

// Collects the index tensors in argument 1 for the dimensions of `self`.
Result<void> collect(ExecuteContext& context, const Arguments& arguments, const Tensor& self, IndexList& list) {
  PTERUN_ASSIGN(const std::span<Value* const> items, list_items(arguments, 1));
  std::size_t dim = 0;
  for (Value* item : items) {
    const Tensor* index = item == nullptr ? nullptr : item->tensor();
    if (index == nullptr) {
      ++dim;
      continue;
    }
    if (index->raw_data() == nullptr && index->numel() != 0) {
      return fail(arguments.error(ErrorCode::kInvalidState, "an index tensor has no memory"));
    }
    const bool mask = index->dtype() == DType::kBool || index->dtype() == DType::kUInt8;
    const std::size_t taken = mask ? index->rank() : 1;
    if (dim + taken > self.rank()) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "more indices than dimensions of " + self.describe()));
    }
    if (list.count > 0 && list.items[list.count - 1].dim + 1 != dim) list.adjacent = false;
    PTERUN_TRY(add_index(context, arguments, self, *index, dim, list));
    dim += taken;
  }
  if (dim > self.rank()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "more indices than dimensions of " + self.describe()));
  }
  for (std::size_t i = 0; i < list.count; ++i) {
    const auto shape = broadcast_shapes(list.shape, list.items[i].shape);
    if (!shape) {
      return fail(arguments.error(
          ErrorCode::kInvalidArgument,
          "index shapes " + list.shape.to_string() + " and " + list.items[i].shape.to_string() + " do not broadcast"));
    }
    list.shape = *shape;
  }
  return {};
}

// Adds index * stride to the offset of every position. Errors: kInvalidArgument for an index out of range.
Result<void> add_offsets(const Arguments& arguments, const IndexTensor& item, const Shape& shape, std::int64_t size,
                         std::int64_t stride, std::int64_t* offsets) {
  const std::int64_t positions = shape.numel();
  const bool flat = item.shape == shape;
  Strides steps = Shape::filled(shape.rank(), 0);
  std::int64_t step = 1;
  for (std::size_t i = item.shape.rank(); i-- > 0;) {
    steps[shape.rank() - item.shape.rank() + i] = item.shape[i] == 1 ? 0 : step;
    step *= item.shape[i];
  }
  for (std::int64_t n = 0; n < positions; ++n) {
    std::int64_t place = n;
    if (!flat) {
      place = 0;
      std::int64_t rest = n;
      for (std::size_t i = shape.rank(); i-- > 0;) {
        place += rest % shape[i] * steps[i];
        rest /= shape[i];
      }
    }
    const std::int64_t index = item.values[place];
    if (index < -size || index >= size) [[unlikely]]
      return fail(wrap_index(arguments, index, item.dim, size).error());
    offsets[n] += (index < 0 ? index + size : index) * stride;
  }
  return {};
}

// Kept dimensions [begin, end) of self become result dimensions from `to` on.
void append_kept(const Tensor& self, std::size_t begin, std::size_t end, Shape& shape) {
  for (std::size_t i = begin; i < end; ++i)
    shape.push_back(self.size(i));
}

// What is selected from row-major memory of self's shape. `offsets` come from scratch, or from `small` when few.
Result<void> select(ExecuteContext& context, const Arguments& arguments, const Tensor& self,
                    std::span<std::int64_t> small, Selection& selection) {
  IndexList list;
  PTERUN_TRY(collect(context, arguments, self, list));
  std::array<bool, kMaxRank> indexed{};
  for (std::size_t i = 0; i < list.count; ++i)
    indexed[list.items[i].dim] = true;
  const std::size_t kept = self.rank() - list.count;
  if (kept + list.shape.rank() > kMaxRank) {
    return fail(arguments.error(ErrorCode::kNotSupported, "a result of more than 16 dimensions"));
  }
  const std::size_t place = list.count > 0 && list.adjacent ? list.items[0].dim : 0;  // of the positions
  append_kept(self, 0, place, selection.shape);
  for (const std::int64_t size : list.shape)
    selection.shape.push_back(size);
  for (std::size_t i = place; i < self.rank(); ++i) {
    if (!indexed[i]) selection.shape.push_back(self.size(i));
  }
  selection.positions = list.shape.numel();

  const Strides strides = strides_of(self.shape(), DimOrder::contiguous(self.rank()));
  const Strides result_strides = strides_of(selection.shape, DimOrder::contiguous(selection.shape.rank()));
  std::size_t trailing = self.rank();  // dimensions behind the last indexed one are one run
  while (trailing > place && !indexed[trailing - 1])
    selection.run *= self.size(--trailing);
  for (std::size_t i = 0, dim = 0; i < trailing; ++i) {
    if (dim == place) dim += list.shape.rank();
    if (indexed[i]) continue;
    selection.outer[selection.outer_count++] = {self.size(i), strides[i], result_strides[dim++]};
  }
  selection.position_step = 1;
  for (std::size_t i = place + list.shape.rank(); i < selection.shape.rank(); ++i)
    selection.position_step *= selection.shape[i];

  std::int64_t* offsets = small.data();
  const auto positions = static_cast<std::size_t>(selection.positions);
  if (positions > small.size()) {
    PTERUN_ASSIGN(std::byte * memory, context.scratch->allocate(positions * sizeof(std::int64_t)));
    offsets = reinterpret_cast<std::int64_t*>(memory);
  }
  std::fill_n(offsets, positions, std::int64_t{0});
  selection.offsets = offsets;
  if (selection.shape.numel() == 0) return {};  // eager does not look at the indices then
  for (std::size_t i = 0; i < list.count; ++i) {
    const std::size_t dim = list.items[i].dim;
    PTERUN_TRY(add_offsets(arguments, list.items[i], list.shape, self.size(dim), strides[dim], offsets));
  }
  return {};
}

// Calls body(offset in self, offset in the result) for every combination of outer kept dimensions.
template <typename Body>
void for_each_outer(const Selection& selection, const Body& body) {
  std::array<std::int64_t, kMaxRank> index{};
  std::int64_t count = 1;
  for (std::size_t i = 0; i < selection.outer_count; ++i)
    count *= selection.outer[i].count;
  std::int64_t self = 0;
  std::int64_t result = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    body(self, result);
    for (std::size_t i = selection.outer_count; i-- > 0;) {
      const CopyDim& dim = selection.outer[i];
      self += dim.from_step;
      result += dim.to_step;
      if (++index[i] < dim.count) break;
      self -= dim.from_step * dim.count;
      result -= dim.to_step * dim.count;
      index[i] = 0;
    }
  }
}

// Moves every run between self and result; kGather from self to the result, else back.
template <typename Word, bool kGather>
void move_words(const Selection& selection, std::byte* self, std::byte* result) {
  for_each_outer(selection, [&](std::int64_t self_offset, std::int64_t result_offset) {
    Word* of_self = reinterpret_cast<Word*>(self) + self_offset;
    Word* of_result = reinterpret_cast<Word*>(result) + result_offset;
    const auto bytes = static_cast<std::size_t>(selection.run) * sizeof(Word);
    for (std::int64_t n = 0; n < selection.positions; ++n) {
      Word* a = of_self + selection.offsets[n];
      Word* b = of_result + n * selection.position_step;
      if (selection.run == 1) {
        if constexpr (kGather)
          *b = *a;
        else
          *a = *b;
      } else {
        if constexpr (kGather)
          std::memcpy(b, a, bytes);
        else
          std::memcpy(a, b, bytes);
      }
    }
  });
}

template <bool kGather>
void move_runs(const Selection& selection, std::size_t size, std::byte* self, std::byte* result) {
  visit_word(size, [&]<typename Word>() { move_words<Word, kGather>(selection, self, result); });
}

// self += values at every position, rounded to the dtype after each addition.
void add_runs(const Selection& selection, DType dtype, std::byte* self, const std::byte* values) {
  const Parts parts = parts_of(dtype);
  const std::int64_t size = parts.size;
  visit_compute(parts.dtype, [&]<typename T>() {
    const LoadBlock load = load_block(parts.dtype, kComputeOf<T>);
    const StoreBlock store = store_block(kComputeOf<T>, parts.dtype);
    std::array<T, 64> a;
    std::array<T, 64> b;
    for_each_outer(selection, [&](std::int64_t self_offset, std::int64_t result_offset) {
      for (std::int64_t n = 0; n < selection.positions; ++n) {
        std::byte* to = self + (self_offset + selection.offsets[n]) * parts.count * size;
        const std::byte* from = values + (result_offset + n * selection.position_step) * parts.count * size;
        const std::int64_t run = selection.run * parts.count;
        for (std::int64_t start = 0; start < run; start += 64) {
          const auto count = static_cast<std::size_t>(std::min<std::int64_t>(64, run - start));
          load(to + start * size, 1, a.data(), count);
          load(from + start * size, 1, b.data(), count);
          for (std::size_t i = 0; i < count; ++i)
            a[i] = wrap_add(a[i], b[i]);
          store(a.data(), to + start * size, 1, count);
        }
      }
    });
  });
}

Result<void> index(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *self, *output));
  std::array<std::int64_t, 64> small;
  Selection selection;
  PTERUN_TRY(select(context, arguments, *self, small, selection));
  PTERUN_TRY(resize_output(arguments, *output, selection.shape));
  if (output->numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* from, row_major_elements(context, *self));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, *output));
  // Gathering does not write to self.
  move_runs<true>(selection, dtype_size(self->dtype()), const_cast<std::byte*>(from), target.data());
  target.finish(context);
  return {};
}

// `values` as a dense array of the selection's shape.
Result<const std::byte*> expand_values(ExecuteContext& context, const Arguments& arguments, const Tensor& values,
                                       const Shape& shape) {
  if (!broadcasts_to(values.shape(), shape)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "values of shape " + values.shape().to_string() +
                                                                 " do not broadcast to the indexed shape " +
                                                                 shape.to_string()));
  }
  return broadcast_elements(context, values, shape);
}

// Writes values into `output`, which gets self's elements first unless it is self.
Result<void> put(ExecuteContext& context, const Arguments& arguments, const Tensor& self, Tensor& output) {
  PTERUN_ASSIGN(const Tensor* values, arguments.tensor(2));
  PTERUN_ASSIGN(const bool accumulate, arguments.boolean(3));
  PTERUN_TRY(check_dtype(arguments, 0, self, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, self, output));
  PTERUN_TRY(check_same_dtype(arguments, *values, self));
  std::array<std::int64_t, 64> small;
  Selection selection;
  PTERUN_TRY(select(context, arguments, self, small, selection));
  PTERUN_ASSIGN(const std::byte* from, expand_values(context, arguments, *values, selection.shape));
  PTERUN_TRY(resize_output(arguments, output, self.shape()));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, output));
  if (target.data() != self.data<std::byte>()) {
    copy_block(*context.threads, dtype_size(self.dtype()), self.shape(), self.raw_data(), self.strides(), target.data(),
               strides_of(self.shape(), DimOrder::contiguous(self.rank())));
  }
  if (selection.shape.numel() > 0) {
    if (accumulate)
      add_runs(selection, self.dtype(), target.data(), from);
    else
      move_runs<false>(selection, dtype_size(self.dtype()), target.data(), const_cast<std::byte*>(from));
  }
  target.finish(context);
  return {};
}

Result<void> index_put(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  return put(context, arguments, *self, *output);
}

Result<void> index_put_in_place(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(Tensor * self, arguments.tensor(0));
  return put(context, arguments, *self, *self);
}

constexpr OperatorRow kRows[] = {
    {"aten::index.Tensor_out", kAnyDType, index},
    {"aten::index_put.out", kAnyDType, index_put},
    {"aten::index_put_", kAnyDType, index_put_in_place},
};

}  // namespace

std::span<const OperatorRow> indexing_family() {
  return kRows;
}

}  // namespace pterun::operators
