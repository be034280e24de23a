// aten::embedding: rows of a table chosen by indices.
#include <algorithm>
#include <cstring>

#include "operators/checks.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/lookup.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

Result<void> embedding(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* table, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* indices, arguments.tensor(1));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(5));
  PTERUN_TRY(check_rank(arguments, *table, 2, "weight"));
  PTERUN_TRY(check_dtype(arguments, *table, kAnyDType, "weight"));
  PTERUN_TRY(check_dtype_is(arguments, *out, table->dtype(), "out"));
  PTERUN_ASSIGN(const Lookup lookup, Lookup::read(context, arguments, *indices, table->size(0)));
  PTERUN_TRY(resize_output(arguments, *out, lookup.out_shape(table->size(1))));
  if (out->numel() == 0) return {};
  PTERUN_ASSIGN(const std::byte* rows, row_major_elements(context, *table));
  PTERUN_ASSIGN(RowMajorOutput results, RowMajorOutput::open(context, *out));
  const std::size_t row_bytes = static_cast<std::size_t>(table->size(1)) * dtype_size(table->dtype());
  const std::size_t grain = std::max<std::size_t>(1, 65536 / row_bytes);
  context.threads->parallel_for(lookup.rows().size(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::memcpy(results.data() + i * row_bytes, rows + static_cast<std::size_t>(lookup.rows()[i]) * row_bytes,
                  row_bytes);
    }
  });
  results.finish(context);
  return {};
}

constexpr OperatorRow kRows[] = {
    {"aten::embedding.out", kAnyDType, embedding},
};

}  // namespace

std::span<const OperatorRow> embedding_family() {
  return kRows;
}

}  // namespace pterun::operators
