// quantized_decomposed: choosing scales and zero points, and adding quantized tensors.
#include <algorithm>
#include <cmath>

#include "operators/checks.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

struct Extremes {
  float least = 0.0f, most = 0.0f;
};

// Of at least one element; NaN wins.
Extremes extremes_of(const float* x, std::int64_t count) {
  Extremes extremes{x[0], x[0]};
  for (std::int64_t i = 1; i < count; ++i) {
    if (x[i] < extremes.least || x[i] != x[i]) extremes.least = x[i];
    if (x[i] > extremes.most || x[i] != x[i]) extremes.most = x[i];
  }
  return extremes;
}

Result<void> store_single(ExecuteContext& context, Tensor& tensor, double value) {
  PTERUN_ASSIGN(ComputeOutput output, ComputeOutput::open(context, tensor, Compute::kDouble));
  output.data<double>()[0] = value;
  return output.store(context);
}

Result<void> choose_qparams(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(const std::int64_t quant_min, arguments.integer(1));
  PTERUN_ASSIGN(const std::int64_t quant_max, arguments.integer(2));
  PTERUN_ASSIGN(const double eps, arguments.number(3));
  PTERUN_ASSIGN(Tensor * scale_out, arguments.tensor(5));
  PTERUN_ASSIGN(Tensor * zero_out, arguments.tensor(6));
  PTERUN_TRY(check_dtype(arguments, *input, kFloats, "input"));
  PTERUN_TRY(check_dtype(arguments, *scale_out, kFloats, "scale_out"));
  PTERUN_TRY(check_dtype(arguments, *zero_out, kIntegers, "zero_point_out"));
  if (quant_min >= quant_max || input->numel() == 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "cannot choose a scale for " + input->describe() +
                                                                 " and the range [" + std::to_string(quant_min) + ", " +
                                                                 std::to_string(quant_max) + "]"));
  }
  PTERUN_TRY(resize_output(arguments, *scale_out, {1}));
  PTERUN_TRY(resize_output(arguments, *zero_out, {1}));
  PTERUN_ASSIGN(const float* x, compute_input<float>(context, *input));
  const Extremes extremes = extremes_of(x, input->numel());
  if (!(extremes.least <= extremes.most)) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "input holds NaN"));
  }
  const float least = std::min(extremes.least, 0.0f);
  const float most = std::max(extremes.most, 0.0f);
  const DType dtype = input->dtype();
  // Eager computes the step in the input's dtype; eps is a float32 tensor, and from there on so is the scale.
  const float step = round_to(dtype, round_to(dtype, most - least) / static_cast<float>(quant_max - quant_min));
  const float scale = std::max(step, static_cast<float>(eps));
  const double zero = static_cast<double>(quant_min) - static_cast<double>(std::nearbyint(least / scale));
  PTERUN_TRY(store_single(context, *scale_out, static_cast<double>(scale)));
  return store_single(context, *zero_out,
                      std::clamp(zero, static_cast<double>(quant_min), static_cast<double>(quant_max)));
}

struct TokenParameters {
  float scale = 1.0f, zero = 0.0f;
};

// As XNNPACK chooses them for rows of int8; every step is rounded to the input's dtype, as eager computes in it.
TokenParameters token_parameters(const Extremes& extremes, DType dtype) {
  const auto round = [dtype](float value) { return round_to(dtype, value); };
  constexpr float kLeast = -128.0f;
  constexpr float kMost = 127.0f;
  const float least = std::min(extremes.least, 0.0f);
  const float most = std::max(extremes.most, 0.0f);
  const float scale = std::max(round(round(most - least) / (kMost - kLeast)), round(0x1p-23f));
  const float descaled_least = round(least / scale);
  const float descaled_most = round(most / scale);
  const float error_sum = round(round(kLeast + descaled_least) + round(kMost + descaled_most));
  const float zero = error_sum > 0.0f ? round(kLeast - descaled_least) : round(kMost - descaled_most);
  return {scale, std::nearbyint(std::clamp(zero, kLeast, kMost))};
}

Result<void> choose_qparams_per_token(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const Tensor* input, arguments.tensor(0));
  PTERUN_ASSIGN(Tensor * scale_out, arguments.tensor(2));
  PTERUN_ASSIGN(Tensor * zero_out, arguments.tensor(3));
  PTERUN_TRY(check_dtype(arguments, *input, {DType::kFloat32, DType::kFloat16, DType::kBFloat16}, "input"));
  PTERUN_TRY(check_dtype(arguments, *scale_out, kFloats, "scale_out"));
  PTERUN_TRY(check_dtype(arguments, *zero_out, kIntegers, "zero_point_out"));
  const std::size_t rank = input->rank();
  if (rank == 0 || input->size(rank - 1) == 0) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "input " + input->describe() + " has no rows"));
  }
  Shape shape = input->shape();
  const std::int64_t columns = shape[rank - 1];
  shape[rank - 1] = 1;
  PTERUN_TRY(resize_output(arguments, *scale_out, shape));
  PTERUN_TRY(resize_output(arguments, *zero_out, shape));
  PTERUN_ASSIGN(const float* x, compute_input<float>(context, *input));
  PTERUN_ASSIGN(ComputeOutput scales, ComputeOutput::open(context, *scale_out, Compute::kFloat));
  PTERUN_ASSIGN(ComputeOutput zeros, ComputeOutput::open(context, *zero_out, Compute::kFloat));
  const auto tokens = static_cast<std::size_t>(scale_out->numel());
  const auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, 16384 / columns));
  context.threads->parallel_for(tokens, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Extremes extremes = extremes_of(x + static_cast<std::int64_t>(i) * columns, columns);
      const TokenParameters parameters = token_parameters(extremes, input->dtype());
      scales.data<float>()[i] = parameters.scale;
      zeros.data<float>()[i] = parameters.zero;
    }
  });
  PTERUN_TRY(scales.store(context));
  return zeros.store(context);
}

struct QuantizedOperand {
  const Tensor* tensor = nullptr;
  float scale = 1.0f;
  std::int64_t zero = 0, least = 0, most = 0;
};

// tensor (or the output, which stands elsewhere), scale, zero point, quant_min, quant_max.
Result<QuantizedOperand> read_operand(const Arguments& arguments, std::size_t tensor, std::size_t scale) {
  QuantizedOperand operand;
  PTERUN_ASSIGN(operand.tensor, arguments.tensor(tensor));
  PTERUN_ASSIGN(const double value, arguments.number(scale));
  operand.scale = static_cast<float>(value);
  PTERUN_ASSIGN(operand.zero, arguments.integer(scale + 1));
  PTERUN_ASSIGN(operand.least, arguments.integer(scale + 2));
  PTERUN_ASSIGN(operand.most, arguments.integer(scale + 3));
  PTERUN_TRY(check_dtype(arguments, *operand.tensor, kIntegers, "an operand"));
  return operand;
}

Result<void> quantized_add(ExecuteContext& context, const Arguments& arguments) {
  PTERUN_ASSIGN(const QuantizedOperand a, read_operand(arguments, 0, 1));
  PTERUN_ASSIGN(const QuantizedOperand b, read_operand(arguments, 5, 6));
  PTERUN_ASSIGN(const QuantizedOperand sum, read_operand(arguments, 14, 10));
  PTERUN_ASSIGN(Tensor * out, arguments.tensor(14));
  PTERUN_TRY(check_dtype_is(arguments, *b.tensor, a.tensor->dtype(), "b"));
  PTERUN_TRY(check_dtype_is(arguments, *out, a.tensor->dtype(), "out"));
  PTERUN_TRY(check_shape(arguments, *b.tensor, a.tensor->shape(), "b"));
  if (sum.least > sum.most) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "out_quant_min is above out_quant_max"));
  }
  PTERUN_TRY(resize_output(arguments, *out, a.tensor->shape()));
  PTERUN_ASSIGN(const std::int64_t* left, compute_input<std::int64_t>(context, *a.tensor));
  PTERUN_ASSIGN(const std::int64_t* right, compute_input<std::int64_t>(context, *b.tensor));
  PTERUN_ASSIGN(ComputeOutput results, ComputeOutput::open(context, *out, Compute::kDouble));
  const float inverse = 1.0f / sum.scale;
  const auto real = [](std::int64_t value, const QuantizedOperand& operand) {
    return static_cast<float>(static_cast<double>(value - operand.zero) * static_cast<double>(operand.scale));
  };
  for (std::int64_t i = 0; i < out->numel(); ++i) {
    const float total = real(left[i], a) + real(right[i], b);
    const double quantized = static_cast<double>(sum.zero) + static_cast<double>(std::nearbyint(inverse * total));
    results.data<double>()[i] = std::clamp(quantized, static_cast<double>(sum.least), static_cast<double>(sum.most));
  }
  return results.store(context);
}

constexpr OperatorRow kRows[] = {
    {"quantized_decomposed::choose_qparams.Tensor_out", kFloats, choose_qparams},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric.out",
     {DType::kFloat32, DType::kFloat16, DType::kBFloat16},
     choose_qparams_per_token},
    {"quantized_decomposed::add.out", kIntegers, quantized_add},
};

}  // namespace

std::span<const OperatorRow> choose_qparams_family() {
  return kRows;
}

}  // namespace pterun::operators
