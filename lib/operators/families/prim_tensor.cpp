// executorch_prim operators on tensors: et_view, which shares memory instead of copying, and et_copy_index, with which
// a loop collects its results.
#include <cstring>

#include "base/checked.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

Result<Tensor*> tensor_without_memory(const Arguments& arguments, std::size_t argument) {
  Tensor* tensor = argument < arguments.size() ? arguments.slot(argument).tensor() : nullptr;
  if (tensor != nullptr) return tensor;
  return arguments.tensor(argument);  // says what is wrong
}

// The size list with its one -1, if any, worked out.
Result<Shape> view_shape(const Arguments& arguments, const Tensor& self, Shape sizes) {
  std::size_t inferred = sizes.rank();
  std::int64_t known = 1;
  for (std::size_t i = 0; i < sizes.rank(); ++i) {
    const auto product = sizes[i] < 0 ? std::optional(known) : checked_mul(known, sizes[i]);
    if (!product || sizes[i] < -1 || (sizes[i] == -1 && inferred != sizes.rank())) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "no view has the sizes " + sizes.to_string()));
    }
    if (sizes[i] == -1) inferred = i;
    known = *product;
  }
  if (inferred != sizes.rank() && known != 0) sizes[inferred] = self.numel() / known;
  const auto numel = checked_numel(sizes.span());
  if (numel && *numel == self.numel()) return sizes;
  return fail(arguments.error(ErrorCode::kInvalidArgument,
                              self.describe() + " cannot be viewed with the sizes " + sizes.to_string()));
}

// (self, size, out): out gets self's memory.
Result<void> et_view(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(Tensor * self, arguments.tensor(0));
  PTERUN_ASSIGN(const Shape sizes, arguments.int_list(1));
  PTERUN_ASSIGN(Tensor * out, tensor_without_memory(arguments, 2));
  PTERUN_ASSIGN(const Shape shape, view_shape(arguments, *self, sizes));
  if (out->dtype() != self->dtype()) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "a view of " + self->describe() + " cannot be " + out->describe()));
  }
  if (auto resized = out->resize(shape); !resized) {
    return fail(arguments.error(resized.error().code, resized.error().message));
  }
  out->set_data(self->mutable_raw_data());
  if (self->is_constant()) out->mark_constant();  // so that nothing writes to the file's mapping through the view
  return {};
}

// (copy_to, copy_from, index): copy_to[index] = copy_from; copy_to grows along dimension 0.
Result<void> et_copy_index(ExecuteContext&, const Arguments& arguments) {
  PTERUN_ASSIGN(Tensor * to, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* from, arguments.tensor(1));
  PTERUN_ASSIGN(const std::int64_t index, arguments.integer(2));
  if (to->is_constant() || to->dtype() != from->dtype() || to->rank() != from->rank() + 1 || index < 0 ||
      index == INT64_MAX) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, from->describe() + " does not go to index " +
                                                                 std::to_string(index) + " of " + to->describe()));
  }
  Shape shape{index + 1};
  for (const std::int64_t size : from->shape())
    shape.push_back(size);
  if (to->is_dynamic() || to->size(0) <= index) PTERUN_TRY(resize_output(arguments, *to, shape));
  if (!std::equal(from->shape().begin(), from->shape().end(), to->shape().begin() + 1)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, from->describe() + " is no item of " + to->describe()));
  }
  if (from->nbytes() == 0) return {};
  std::memmove(to->mutable_data<std::byte>() + static_cast<std::size_t>(index) * from->nbytes(), from->raw_data(),
               from->nbytes());
  return {};
}

const OperatorRow kRows[] = {
    {.name = "executorch_prim::et_view.default", .dtypes = kAllDTypes, .function = et_view},
    {.name = "executorch_prim::et_copy_index.tensor", .dtypes = kAllDTypes, .function = et_copy_index},
};

}  // namespace

std::span<const OperatorRow> prim_tensor_family() {
  return kRows;
}

}  // namespace pterun::operators
