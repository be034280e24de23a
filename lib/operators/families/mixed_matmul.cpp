// quantized_decomposed::mixed_mm and mixed_linear: float inputs times int8 weights, which are dequantized block-wise
// into a float matrix first.
#include <algorithm>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/gemm.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

constexpr DTypeSet kInputDTypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

// Scales (and zero points) of each row of the weight: one, or one for each group of columns.
struct Weight {
  const Tensor* tensor = nullptr;
  const Tensor* scales = nullptr;
  const Tensor* zeros = nullptr;
  std::int64_t group_columns = 0;
};

Result<Weight> read_weight(const Arguments& arguments, bool grouped) {
  Weight weight;
  PTERUN_ASSIGN(weight.tensor, arguments.tensor(1));
  PTERUN_ASSIGN(weight.scales, arguments.tensor(2));
  PTERUN_ASSIGN(weight.zeros, arguments.optional_tensor(3));
  PTERUN_TRY(check_dtype(arguments, *weight.tensor, {DType::kInt8}, "weight"));
  PTERUN_TRY(check_rank(arguments, *weight.tensor, 2, "weight"));
  const Tensor& scales = *weight.scales;
  PTERUN_TRY(check_dtype(arguments, scales, kInputDTypes, "weight_scales"));
  const std::int64_t columns = weight.tensor->size(1);
  const bool has_groups = grouped && scales.rank() == 2;
  const std::int64_t groups = has_groups ? scales.size(1) : 1;
  if ((!has_groups && scales.rank() != 1) || scales.size(0) != weight.tensor->size(0) || groups < 1) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "weight_scales " + scales.describe() +
                                                                 " does not fit weight " + weight.tensor->describe()));
  }
  weight.group_columns = std::max<std::int64_t>(1, (columns + groups - 1) / groups);
  if (weight.zeros != nullptr) {
    PTERUN_TRY(check_shape(arguments, *weight.zeros, scales.shape(), "weight_zero_points"));
    PTERUN_TRY(check_dtype(arguments, *weight.zeros, kInputDTypes | kIntegers, "weight_zero_points"));
  }
  return weight;
}

Result<const float*> dequantize(ExecuteContext& context, const Weight& weight) {
  const std::int64_t rows = weight.tensor->size(0);
  const std::int64_t columns = weight.tensor->size(1);
  const std::int64_t groups = weight.scales->rank() == 2 ? weight.scales->size(1) : 1;
  PTERUN_ASSIGN(const float* elements, compute_input<float>(context, *weight.tensor));
  PTERUN_ASSIGN(const float* scales, compute_input<float>(context, *weight.scales));
  PTERUN_ASSIGN(const float* zeros, optional_compute_input<float>(context, weight.zeros));
  PTERUN_ASSIGN(std::byte * memory,
                context.scratch->allocate(static_cast<std::size_t>(rows * columns) * sizeof(float)));
  auto* matrix = reinterpret_cast<float*>(memory);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t start = 0; start < columns; start += weight.group_columns) {
      const std::int64_t parameter = row * groups + start / weight.group_columns;
      const float zero = zeros == nullptr ? 0.0f : zeros[parameter];
      const std::int64_t end = std::min(start + weight.group_columns, columns);
      for (std::int64_t i = row * columns + start; i < row * columns + end; ++i) {
        matrix[i] = (elements[i] - zero) * scales[parameter];
      }
    }
  }
  return matrix;
}

// out = input * weight, with the weight as [depth, columns], or as [columns, depth] when `transposed`.
Result<void> multiply(ExecuteContext& context, const Arguments& arguments, const Weight& weight, bool transposed,
                      Tensor& out) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_TRY(check_dtype(arguments, *input, kInputDTypes, "input"));
  PTERUN_TRY(check_rank(arguments, *input, 2, "input"));
  const Tensor& matrix = *weight.tensor;
  const GemmSize size{input->size(0), matrix.size(transposed ? 0 : 1), input->size(1)};
  if (matrix.size(transposed ? 1 : 0) != size.depth) {
    return fail(arguments.error(ErrorCode::kInvalidArgument,
                                "cannot multiply " + input->describe() + " and " + matrix.describe()));
  }
  PTERUN_TRY(resize_output(arguments, out, {size.rows, size.columns}));
  if (out.numel() == 0) return {};
  PTERUN_ASSIGN(const float* a, compute_input<float>(context, *input));
  PTERUN_ASSIGN(const float* b, dequantize(context, weight));
  PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, out, Compute::kFloat));
  std::fill_n(results.data<float>(), out.numel(), 0.0f);
  const std::int64_t stride = matrix.size(1);
  const MatrixView left{a, DType::kFloat32, size.depth, 1};
  const MatrixView right{b, DType::kFloat32, transposed ? 1 : stride, transposed ? stride : 1};
  gemm_accumulate<float>(*context.threads, size, left, right, results.data<float>(), size.columns);
  return results.store(context);
}

Result<void> mixed_mm(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Weight weight, read_weight(arguments, false));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(4));
  PTERUN_TRY(check_dtype(arguments, *out, kInputDTypes, "out"));
  return multiply(context, arguments, weight, false, *out);
}

Result<void> mixed_linear(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Weight weight, read_weight(arguments, true));
  PTERUN_ASSIGN(const std::optional<DType> dtype, arguments.optional_dtype(4));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(5));
  PTERUN_TRY(check_dtype(arguments, *out, kInputDTypes, "out"));
  if (dtype) PTERUN_TRY(check_dtype_is(arguments, *out, *dtype, "out"));
  return multiply(context, arguments, weight, true, *out);
}

constexpr OperatorRow kRows[] = {
    {"quantized_decomposed::mixed_mm.out", kInputDTypes, mixed_mm},
    {"quantized_decomposed::mixed_linear.out", kInputDTypes, mixed_linear},
};

}  // namespace

std::span<const OperatorRow> mixed_matmul_family() {
  return kRows;
}

}  // namespace pterun::operators
