// Reads and checks the indices of a table lookup.
#include "operators/lookup.h"

#include <string>

#include "operators/checks.h"
#include "operators/compute_operands.h"

namespace pterun::operators {

Result<Lookup> Lookup::read(ExecuteContext& context, const Arguments& arguments, const Tensor& indices,
                            std::int64_t table_rows) {
  PTERUN_TRY(check_dtype(arguments, indices, {DType::kInt32, DType::kInt64}, "indices"));
  if (indices.rank() == kMaxRank) {
    return fail(arguments.error(ErrorCode::kNotSupported, "indices of rank 16 make an output of rank 17"));
  }
  PTERUN_ASSIGN(const std::int64_t* rows, compute_input<std::int64_t>(context, indices));
  Lookup lookup;
  lookup.shape_ = indices.shape();
  lookup.rows_ = {rows, static_cast<std::size_t>(indices.numel())};
  for (const std::int64_t row : lookup.rows_) {
    if (row < 0 || row >= table_rows) {
      return fail(arguments.error(
          ErrorCode::kInvalidArgument,
          "index " + std::to_string(row) + " is outside the table of " + std::to_string(table_rows) + " rows"));
    }
  }
  return lookup;
}

Shape Lookup::out_shape(std::int64_t columns) const {
  Shape shape = shape_;
  shape.push_back(columns);
  return shape;
}

}  // namespace pterun::operators
