// Elements by index along one dimension: index_select, gather, scatter, scatter_add. All indices are checked before
// anything is written; negative ones are errors, as in eager.
#include <algorithm>
#include <cstring>
#include <string>

#include "operators/along.h"
#include "operators/block_copy.h"
#include "operators/dims.h"
#include "operators/dtype_dispatch.h"
#include "operators/families/families.h"
#include "operators/promotion.h"

namespace pterun::operators {
namespace {

// int64 indices in row-major order, each in [0, size); null when there are none.
Result<const std::int64_t*> checked_indices(ExecuteContext& context, const Arguments& arguments, const Tensor& index,
                                            std::size_t dim, std::int64_t size) {
  if (index.numel() == 0) return nullptr;  // of any dtype
  if (index.dtype() != DType::kInt64 && index.dtype() != DType::kInt32) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "indices have to be int64 or int32, not " + std::string(dtype_name(index.dtype()))));
  }
  PTERUN_ASSIGN(const std::byte* values, row_major_elements_as(context, index, DType::kInt64));
  const auto* indices = reinterpret_cast<const std::int64_t*>(values);
  const auto limit = static_cast<std::uint64_t>(size);
  for (std::int64_t n = 0; n < index.numel(); ++n) {
    if (static_cast<std::uint64_t>(indices[n]) < limit) [[likely]]
      continue;
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "index " + std::to_string(indices[n]) + " is out of range for dimension " +
                                    std::to_string(dim) + " of size " + std::to_string(size)));
  }
  return indices;
}

Result<void> index_select(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(const Tensor* index, arguments.tensor(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *self, *output));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, self->rank()));
  const Along from(self->shape(), dim);
  if (index->rank() > 1 || (self->rank() == 0 && index->numel() != 1)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "indices of shape " + index->shape().to_string() + " for " + self->describe()));
  }
  PTERUN_ASSIGN(const std::int64_t* indices, checked_indices(context, arguments, *index, dim, from.count));
  Shape shape = self->shape();
  if (shape.rank() > 0) shape[dim] = index->numel();
  PTERUN_TRY(resize_output(arguments, *output, shape));
  if (output->numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* source, row_major_elements(context, *self));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, *output));
  const auto count = static_cast<std::size_t>(index->numel());
  const std::size_t grain =
      std::max<std::size_t>(1, (std::size_t{1} << 15) / (count * static_cast<std::size_t>(from.inner)));
  context.threads->parallel_for(static_cast<std::size_t>(from.outer), grain, [&](std::size_t begin, std::size_t end) {
    visit_word(dtype_size(self->dtype()), [&]<typename Word>() {
      const auto inner = static_cast<std::size_t>(from.inner);
      for (std::size_t outer = begin; outer < end; ++outer) {
        const Word* block =
            reinterpret_cast<const Word*>(source) + outer * static_cast<std::size_t>(from.count) * inner;
        Word* to = reinterpret_cast<Word*>(target.data()) + outer * count * inner;
        for (std::size_t i = 0; i < count; ++i) {
          const Word* run = block + static_cast<std::size_t>(indices[i]) * inner;
          if (inner == 1)
            to[i] = *run;
          else
            std::memcpy(to + i * inner, run, inner * sizeof(Word));
        }
      }
    });
  });
  target.finish(context);
  return {};
}

// The n-th element of an index tensor and the elements it stands for: `self` is where it points along `dim` in
// row-major memory of self's shape, `source` the same position in row-major memory of the source's shape.
// Calls body(n, offset in self, offset in source).
template <typename Body>
void for_each_index(const Shape& index_shape, const Shape& self_shape, const Shape& source_shape, std::size_t dim,
                    const std::int64_t* indices, const Body& body) {
  const Strides self_strides = strides_of(self_shape, DimOrder::contiguous(self_shape.rank()));
  const Strides source_strides = strides_of(source_shape, DimOrder::contiguous(source_shape.rank()));
  const std::size_t rank = index_shape.rank();
  const std::int64_t columns = rank == 0 ? 1 : index_shape[rank - 1];
  const std::int64_t rows = columns == 0 ? 0 : index_shape.numel() / columns;
  const std::int64_t along = rank == 0 ? 1 : self_strides[dim];
  const std::int64_t step = rank == 0 || dim + 1 == rank ? 0 : self_strides[rank - 1];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row;
    std::int64_t self = 0;
    std::int64_t source = 0;
    for (std::size_t i = rank - (rank > 0); i-- > 0;) {
      const std::int64_t place = rest % index_shape[i];
      rest /= index_shape[i];
      if (i != dim) self += place * self_strides[i];
      source += place * source_strides[i];
    }
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t n = row * columns + column;
      body(n, self + indices[n] * along + column * step, source + column);
    }
  }
}

// Whether an index tensor lies inside another shape, in every dimension but `dim` (kMaxRank: in every one).
bool fits(const Shape& index, const Shape& shape, std::size_t dim) {
  if (index.rank() != shape.rank()) return false;
  for (std::size_t i = 0; i < index.rank(); ++i) {
    if (i != dim && index[i] > shape[i]) return false;
  }
  return true;
}

Error bad_index_shape(const Arguments& arguments, const Tensor& index, const Tensor& other) {
  return arguments.error(ErrorCode::kInvalidArgument,
                         "indices of shape " + index.shape().to_string() + " do not fit " + other.describe());
}

// Rank 0 as rank 1.
Shape at_least_1d(const Shape& shape) {
  return shape.rank() == 0 ? Shape{1} : shape;
}

Result<void> gather(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(const Tensor* index, arguments.tensor(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *self, *output));
  PTERUN_ASSIGN(const std::size_t dim, wrap_dim(arguments, given, self->rank()));
  const Shape self_shape = at_least_1d(self->shape());
  const Shape index_shape = at_least_1d(index->shape());
  if (index->numel() != 0 && !fits(index_shape, self_shape, dim))
    return fail(bad_index_shape(arguments, *index, *self));
  PTERUN_ASSIGN(const std::int64_t* indices, checked_indices(context, arguments, *index, dim, self_shape[dim]));
  PTERUN_TRY(resize_output(arguments, *output, index->shape()));
  if (output->numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* source, row_major_elements(context, *self));
  PTERUN_ASSIGN(RowMajorOutput target, RowMajorOutput::open(context, *output));
  visit_word(dtype_size(self->dtype()), [&]<typename Word>() {
    const Word* from = reinterpret_cast<const Word*>(source);
    Word* to = reinterpret_cast<Word*>(target.data());
    for_each_index(index_shape, self_shape, index_shape, dim, indices,
                   [&](std::int64_t n, std::int64_t place, std::int64_t) { to[n] = from[place]; });
  });
  target.finish(context);
  return {};
}

// A scatter after its checks: where to write, and the index tensor's values.
struct Scatter {
  Shape self_shape;
  Shape index_shape;
  std::size_t dim = 0;
  const std::int64_t* indices = nullptr;
  RowMajorOutput target;  // holds self's elements
};

// Checks self (0), dim (1) and index (2) against the source (null for a number) and copies self to the output.
Result<Scatter> begin_scatter(ExecuteContext& context, const Arguments& arguments, const Tensor* source,
                              Tensor& output) {
  PTERUN_ASSIGN(const Tensor* self, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t given, arguments.integer(1));
  PTERUN_ASSIGN(const Tensor* index, arguments.tensor(2));
  PTERUN_TRY(check_dtype(arguments, 0, *self, kAnyDType));
  PTERUN_TRY(check_same_dtype(arguments, *self, output));
  Scatter scatter;
  PTERUN_ASSIGN(scatter.dim, wrap_dim(arguments, given, self->rank()));
  scatter.self_shape = at_least_1d(self->shape());
  scatter.index_shape = at_least_1d(index->shape());
  if (index->numel() != 0 && !fits(scatter.index_shape, scatter.self_shape, scatter.dim)) {
    return fail(bad_index_shape(arguments, *index, *self));
  }
  if (source != nullptr) {
    PTERUN_TRY(check_same_dtype(arguments, *source, *self));
    const bool covered = fits(scatter.index_shape, at_least_1d(source->shape()), kMaxRank);
    if (index->numel() != 0 && !covered) return fail(bad_index_shape(arguments, *index, *source));
  }
  PTERUN_ASSIGN(scatter.indices,
                checked_indices(context, arguments, *index, scatter.dim, scatter.self_shape[scatter.dim]));
  PTERUN_TRY(resize_output(arguments, output, self->shape()));
  PTERUN_ASSIGN(scatter.target, RowMajorOutput::open(context, output));
  if (scatter.target.data() != self->data<std::byte>()) {
    copy_block(*context.threads, dtype_size(self->dtype()), self->shape(), self->raw_data(), self->strides(),
               scatter.target.data(), strides_of(self->shape(), DimOrder::contiguous(self->rank())));
  }
  if (index->numel() == 0) scatter.index_shape = {0};
  return scatter;
}

Result<void> scatter_source(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* source, arguments.tensor(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_ASSIGN(Scatter scatter, begin_scatter(context, arguments, source, *output));
  PTERUN_ASSIGN(const std::byte* elements, row_major_elements(context, *source));
  if (scatter.index_shape.numel() > 0) {
    visit_word(dtype_size(source->dtype()), [&]<typename Word>() {
      const Word* from = reinterpret_cast<const Word*>(elements);
      Word* to = reinterpret_cast<Word*>(scatter.target.data());
      for_each_index(scatter.index_shape, scatter.self_shape, at_least_1d(source->shape()), scatter.dim,
                     scatter.indices, [&](std::int64_t, std::int64_t place, std::int64_t n) { to[place] = from[n]; });
    });
  }
  scatter.target.finish(context);
  return {};
}

Result<void> scatter_value(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Scalar value, arguments.scalar(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_ASSIGN(Scatter scatter, begin_scatter(context, arguments, nullptr, *output));
  const Element element = element_of(value, output->dtype());
  if (scatter.index_shape.numel() > 0) {
    visit_word(dtype_size(output->dtype()), [&]<typename Word>() {
      const Word word = *reinterpret_cast<const Word*>(element.bytes.data());
      Word* to = reinterpret_cast<Word*>(scatter.target.data());
      for_each_index(scatter.index_shape, scatter.self_shape, scatter.index_shape, scatter.dim, scatter.indices,
                     [&](std::int64_t, std::int64_t place, std::int64_t) { to[place] = word; });
    });
  }
  scatter.target.finish(context);
  return {};
}

Result<void> scatter_add(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* source, arguments.tensor(3));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(4));
  PTERUN_ASSIGN(Scatter scatter, begin_scatter(context, arguments, source, *output));
  PTERUN_ASSIGN(const std::byte* from, row_major_elements(context, *source));
  if (scatter.index_shape.numel() > 0) {
    std::byte* to = scatter.target.data();
    const Parts parts = parts_of(output->dtype());
    visit_compute(parts.dtype, [&]<typename T>() {
      for_each_index(scatter.index_shape, scatter.self_shape, at_least_1d(source->shape()), scatter.dim,
                     scatter.indices, [&](std::int64_t, std::int64_t place, std::int64_t n) {
                       for (std::int64_t part = 0; part < parts.count; ++part) {
                         std::byte* sum = to + (place * parts.count + part) * parts.size;
                         const std::byte* addend = from + (n * parts.count + part) * parts.size;
                         store_one<T>(parts.dtype,
                                      wrap_add(load_one<T>(parts.dtype, sum), load_one<T>(parts.dtype, addend)), sum);
                       }
                     });
    });
  }
  scatter.target.finish(context);
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::index_select.out", kAnyDType, index_select},  {"aten::gather.out", kAnyDType, gather},
    {"aten::scatter.src_out", kAnyDType, scatter_source}, {"aten::scatter.value_out", kAnyDType, scatter_value},
    {"aten::scatter_add.out", kAnyDType, scatter_add},
};

}  // namespace

std::span<const OperatorRow> gathering_family() {
  return kRows;
}

}  // namespace pterun::operators
