// The row numbers of a table lookup, checked.
#pragma once

#include <cstdint>
#include <span>

#include "operators/operator.h"

namespace pterun::operators {

class Lookup {
 public:
  // Indices are int32 or int64, of any shape. Errors: kNotSupported (dtype); kInvalidArgument naming an index outside
  // [0, table_rows), as eager's embedding.
  static Result<Lookup> read(ExecuteContext& context, const Arguments& arguments, const Tensor& indices,
                             std::int64_t table_rows);

  // In row-major order of the indices; valid until the scratch memory is reset.
  std::span<const std::int64_t> rows() const { return rows_; }
  // The indices' shape with a dimension of `columns` behind it.
  Shape out_shape(std::int64_t columns) const;

 private:
  Shape shape_;
  std::span<const std::int64_t> rows_;
};

}  // namespace pterun::operators
