// quantized_decomposed::embedding_byte, _4bit and _2bit: rows of a quantized table, dequantized in groups.
#include <algorithm>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/dims.h"
#include "operators/families/families.h"
#include "operators/lookup.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kScaleDTypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

struct Table {
  const Tensor* weight = nullptr;
  std::int64_t columns = 0;  // elements of a row, unpacked
  std::int64_t groups = 1;   // scales of a row
  DType scale_dtype = DType::kFloat32;
  const std::byte* bytes = nullptr;
  const float* scales = nullptr;
  const float* zeros = nullptr;  // null: 0
};

// Elements [first, first + count) of a row as numbers. 4 bits: the even element is in the high half, minus 8.
// 2 bits: the first of four elements is in the lowest bits, minus 2.
template <int kBits>
void unpack(const Table& table, const std::byte* row, std::int64_t first, std::int64_t count, float* to) {
  if constexpr (kBits == 8) {
    load_as<float>(table.weight->dtype(), row + first, 1, to, static_cast<std::size_t>(count));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t column = first + i;
      const auto byte = std::to_integer<int>(row[column * kBits / 8]);
      const int shift = static_cast<int>(kBits == 4 ? (1 - column % 2) * 4 : column % 4 * 2);
      to[i] = static_cast<float>(((byte >> shift) & ((1 << kBits) - 1)) - (1 << (kBits - 1)));
    }
  }
}

void round_block(DType dtype, float* block, std::int64_t count) {
  if (dtype == DType::kFloat32) return;
  alignas(8) std::byte rounded[kBlock * 4];
  store_as<float>(dtype, block, rounded, 1, static_cast<std::size_t>(count));
  load_as<float>(dtype, rounded, 1, block, static_cast<std::size_t>(count));
}

// (element - zero) * scale, each step rounded to the scales' dtype as eager does.
template <int kBits>
void dequantize_row(const Table& table, std::int64_t row, DType out_dtype, std::byte* out) {
  const auto out_size = static_cast<std::int64_t>(dtype_size(out_dtype));
  const std::byte* bytes = table.bytes + row * table.weight->size(1);
  const std::int64_t group_columns = table.columns / table.groups;
  for (std::int64_t column = 0; column < table.columns;) {
    const std::int64_t group = column / group_columns;
    const std::int64_t left = (group + 1) * group_columns - column;
    const std::int64_t count = std::min(left, static_cast<std::int64_t>(kBlock));
    const std::int64_t parameter = row * table.groups + group;
    float block[kBlock];
    unpack<kBits>(table, bytes, column, count, block);
    if (table.zeros != nullptr) {
      for (std::int64_t i = 0; i < count; ++i)
        block[i] -= table.zeros[parameter];
      round_block(table.scale_dtype, block, count);
    }
    for (std::int64_t i = 0; i < count; ++i)
      block[i] *= table.scales[parameter];
    round_block(table.scale_dtype, block, count);
    store_as<float>(out_dtype, block, out + column * out_size, 1, static_cast<std::size_t>(count));
    column += count;
  }
}

// Scales, or zero points: one a row, or one a group of a row.
Result<std::int64_t> check_parameters(const Arguments& arguments, const Tensor& tensor, std::int64_t rows,
                                      std::string_view what) {
  PTERUN_TRY(check_dtype(arguments, tensor, kScaleDTypes, what));
  if ((tensor.rank() != 1 && tensor.rank() != 2) || tensor.size(0) != rows) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, std::string(what) + " is " + tensor.describe() +
                                                                 ", expected " + std::to_string(rows) + " rows"));
  }
  return tensor.rank() == 2 ? tensor.size(1) : 1;
}

template <int kBits>
Result<Table> read_table(ExecuteContext& context, const Arguments& arguments) {
  Table table;
  PTERUN_ASSIGN(table.weight, arguments.tensor(0));
  PTERUN_ASSIGN(const Tensor* scales, arguments.tensor(1));
  PTERUN_ASSIGN(const Tensor* zeros, arguments.optional_tensor(2));
  PTERUN_TRY(check_dtype(arguments, *table.weight,
                         kBits == 8 ? DTypeSet{DType::kInt8, DType::kUInt8} : DTypeSet{DType::kUInt8}, "weight"));
  PTERUN_TRY(check_rank(arguments, *table.weight, 2, "weight"));
  PTERUN_ASSIGN(table.groups, check_parameters(arguments, *scales, table.weight->size(0), "weight_scales"));
  table.columns = table.weight->size(1) * (8 / kBits);
  table.scale_dtype = scales->dtype();
  if (table.groups < 1 || table.columns % table.groups != 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, std::to_string(table.columns) + " columns cannot have " +
                                                                 std::to_string(table.groups) + " groups"));
  }
  if (zeros != nullptr) {
    PTERUN_ASSIGN(const std::int64_t groups,
                  check_parameters(arguments, *zeros, table.weight->size(0), "weight_zero_points"));
    if (groups != table.groups) {
      return fail(arguments.error(ErrorCode::kInvalidArgument, "weight_zero_points is " + zeros->describe() +
                                                                   ", weight_scales " + scales->describe()));
    }
  }
  PTERUN_ASSIGN(table.scales, compute_input<float>(context, *scales));
  PTERUN_ASSIGN(table.zeros, optional_compute_input<float>(context, zeros));
  PTERUN_ASSIGN(table.bytes, row_major_elements(context, *table.weight));
  return table;
}

template <int kBits, bool kHasDType>
Result<void> embedding(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Table table, read_table<kBits>(context, arguments));
  PTERUN_ASSIGN(const Tensor* indices, arguments.tensor(5));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(kHasDType ? 7 : 6));
  PTERUN_TRY(check_dtype(arguments, *out, kFloats, "out"));
  if (kHasDType) {
    PTERUN_ASSIGN(const std::optional<DType> dtype, arguments.optional_dtype(6));
    if (dtype) PTERUN_TRY(check_dtype_is(arguments, *out, *dtype, "out"));
  }
  PTERUN_ASSIGN(const Lookup lookup, Lookup::read(context, arguments, *indices, table.weight->size(0)));
  PTERUN_TRY(resize_output(arguments, *out, lookup.out_shape(table.columns)));
  if (out->numel() == 0) return {};
  PTERUN_ASSIGN(RowMajorOutput results, RowMajorOutput::open(context, *out));
  const std::size_t row_bytes = static_cast<std::size_t>(table.columns) * dtype_size(out->dtype());
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 16384 / table.columns));
  context.threads->parallel_for(lookup.rows().size(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      dequantize_row<kBits>(table, lookup.rows()[i], out->dtype(), results.data() + i * row_bytes);
    }
  });
  results.finish(context);
  return {};
}

constexpr DTypeSet kBytes = {DType::kInt8, DType::kUInt8};
constexpr DTypeSet kPacked = {DType::kUInt8};

constexpr OperatorRow kRows[] = {
    {"quantized_decomposed::embedding_byte.out", kBytes, embedding<8, false>},
    {"quantized_decomposed::embedding_byte.dtype_out", kBytes, embedding<8, true>},
    {"quantized_decomposed::embedding_4bit.out", kPacked, embedding<4, false>},
    {"quantized_decomposed::embedding_4bit.dtype_out", kPacked, embedding<4, true>},
    {"quantized_decomposed::embedding_2bit.out", kPacked, embedding<2, false>},
    {"quantized_decomposed::embedding_2bit.dtype_out", kPacked, embedding<2, true>},
};

}  // namespace

std::span<const OperatorRow> quantized_embedding_family() {
  return kRows;
}

}  // namespace pterun::operators
