// Shapes and orders of dimensions: view, squeeze, unsqueeze, expand, permute, transpose. All are copies of a strided
// view of the input, so that any dim order of input and output gives the right elements.
#include <array>
#include <string>

#include "base/checked.h"
#include "operators/block_copy.h"
#include "operators/dims.h"
#include "operators/families/families.h"

namespace pterun::operators {
namespace {

// Sizes of a view of `numel` elements; one of them may be -1.
Result<Shape> infer_sizes(const Arguments& arguments, const Tensor& input, Shape sizes) {
  const auto mismatch = [&] {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "shape " + sizes.to_string() + " does not hold the elements of " + input.describe()));
  };
  std::optional<std::size_t> open;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < sizes.rank(); ++i) {
    if (sizes[i] == -1 && !open) {
      open = i;
      continue;
    }
    const auto product = sizes[i] < 0 ? std::nullopt : checked_mul(known, sizes[i]);
    if (!product) return mismatch();
    known = *product;
  }
  if (!open) {
    if (known != input.numel()) return mismatch();
    return sizes;
  }
  if (known == 0 || input.numel() % known != 0) return mismatch();
  sizes[*open] = input.numel() / known;
  return sizes;
}

Result<void> view_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape sizes, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_TRY(check_same_dtype(arguments, *input, *output));
  PTERUN_ASSIGN(const Shape shape, infer_sizes(arguments, *input, sizes));
  PTERUN_TRY(resize_output(arguments, *output, shape));
  return copy_reshaped(context, *input, *output);
}

// Leaves out the dimensions of `bits` whose size is 1.
Result<void> squeeze(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::uint32_t bits,
                     Tensor& output) {
  View view(input);
  std::size_t rank = 0;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    if (((bits >> i) & 1u) != 0 && input.size(i) == 1) continue;
    view.sizes[rank] = view.sizes[i];
    view.strides[rank++] = view.strides[i];
  }
  view.sizes.resize(rank);
  view.strides.resize(rank);
  return copy_view(context, arguments, input, view, output);
}

Result<void> squeeze_copy_dims(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape dims, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  PTERUN_ASSIGN(const std::uint32_t bits, wrap_dims(arguments, dims, input->rank()));
  return squeeze(context, arguments, *input, bits, *output);
}

Result<void> squeeze_copy_all(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(1));
  return squeeze(context, arguments, *input, ~0u, *output);
}

Result<void> unsqueeze_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t dim, arguments.integer(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  if (input->rank() == kMaxRank) {
    return fail(arguments.error(ErrorCode::kNotSupported, "an output of rank 17; at most 16 are supported"));
  }
  PTERUN_ASSIGN(const std::size_t place, wrap_dim(arguments, dim, input->rank() + 1));
  View view(*input);
  view.sizes.push_back(1);
  view.strides.push_back(1);
  for (std::size_t i = input->rank(); i > place; --i) {
    std::swap(view.sizes[i], view.sizes[i - 1]);
    std::swap(view.strides[i], view.strides[i - 1]);
  }
  return copy_view(context, arguments, *input, view, *output);
}

Result<void> expand_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape sizes, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  const auto mismatch = [&] {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                input->describe() + " cannot be expanded to " + sizes.to_string()));
  };
  if (sizes.rank() < input->rank()) return mismatch();
  const std::size_t added = sizes.rank() - input->rank();
  View view(*input);
  const Strides strides = view.strides;
  view.sizes = sizes;
  view.strides = Shape::filled(sizes.rank(), 0);
  for (std::size_t i = 0; i < sizes.rank(); ++i) {
    if (i < added) {
      if (sizes[i] < 0) return mismatch();
      continue;
    }
    const std::int64_t size = input->size(i - added);
    if (sizes[i] == -1 || sizes[i] == size) {
      view.sizes[i] = size;
      view.strides[i] = strides[i - added];
    } else if (size != 1 || sizes[i] < 0) {
      return mismatch();
    }
  }
  return copy_view(context, arguments, *input, view, *output);
}

// Dimension i of the output is dimension order[i] of the input.
Result<void> permute(ExecuteContext& context, const Arguments& arguments, const Tensor& input,
                     const std::array<std::size_t, kMaxRank>& order, Tensor& output) {
  View view(input);
  const Strides strides = view.strides;
  for (std::size_t i = 0; i < input.rank(); ++i) {
    view.sizes[i] = input.size(order[i]);
    view.strides[i] = strides[order[i]];
  }
  return copy_view(context, arguments, input, view, output);
}

Result<void> permute_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape dims, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(2));
  if (dims.rank() != input->rank()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "the order " + dims.to_string() + " does not fit " + input->describe()));
  }
  PTERUN_TRY(wrap_dims(arguments, dims, input->rank()));
  std::array<std::size_t, kMaxRank> order{};
  for (std::size_t i = 0; i < dims.rank(); ++i) {
    order[i] = static_cast<std::size_t>(dims[i] < 0 ? dims[i] + static_cast<std::int64_t>(dims.rank()) : dims[i]);
  }
  return permute(context, arguments, *input, order, *output);
}

Result<void> transpose_dims(ExecuteContext& context, const Arguments& arguments, const Tensor& input, std::size_t first,
                            std::size_t second, Tensor& output) {
  std::array<std::size_t, kMaxRank> order{};
  for (std::size_t i = 0; i < kMaxRank; ++i)
    order[i] = i;
  std::swap(order[first], order[second]);
  return permute(context, arguments, input, order, output);
}

Result<void> transpose_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t first, arguments.integer(1));
  PTERUN_ASSIGN(const std::int64_t second, arguments.integer(2));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(3));
  PTERUN_ASSIGN(const std::size_t dim0, wrap_dim(arguments, first, input->rank()));
  PTERUN_ASSIGN(const std::size_t dim1, wrap_dim(arguments, second, input->rank()));
  return transpose_dims(context, arguments, *input, dim0, dim1, *output);
}

Result<void> t_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(1));
  if (input->rank() > 2) {
    return fail(
        arguments.error(ErrorCode::kInvalidArgument, "takes at most 2 dimensions, the input is " + input->describe()));
  }
  return transpose_dims(context, arguments, *input, 0, input->rank() == 2 ? 1 : 0, *output);
}

// Complex numbers as pairs of reals in a new last dimension.
Result<void> view_as_real_copy(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * output, arguments.tensor(1));
  const std::size_t part = dtype_size(output->dtype());
  if (dtype_size(input->dtype()) != 2 * part || input->rank() == kMaxRank) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, input->describe() + " does not split into pairs of " +
                                                                 std::string(dtype_name(output->dtype()))));
  }
  View view(*input);
  for (std::size_t i = 0; i < input->rank(); ++i)
    view.strides[i] *= 2;
  view.sizes.push_back(2);
  view.strides.push_back(1);
  PTERUN_TRY(resize_output(arguments, *output, view.sizes));
  copy_block(*context.threads, part, view.sizes, view.data, view.strides, output->mutable_raw_data(),
             output->strides());
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::view_copy.out", kAnyDType, view_copy},
    {"aten::squeeze_copy.dim_out", kAnyDType, squeeze_copy_dims},  // one Int counts as a list of one
    {"aten::squeeze_copy.dims_out", kAnyDType, squeeze_copy_dims},
    {"aten::squeeze_copy.out", kAnyDType, squeeze_copy_all},
    {"aten::unsqueeze_copy.out", kAnyDType, unsqueeze_copy},
    {"aten::expand_copy.out", kAnyDType, expand_copy},
    {"aten::permute_copy.out", kAnyDType, permute_copy},
    {"aten::transpose_copy.int_out", kAnyDType, transpose_copy},
    {"aten::t_copy.out", kAnyDType, t_copy},
    {"aten::view_as_real_copy.out", kAnyDType, view_as_real_copy},
};

}  // namespace

std::span<const OperatorRow> reshape_family() {
  return kRows;
}

}  // namespace pterun::operators
