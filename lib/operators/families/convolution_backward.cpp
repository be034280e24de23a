// aten::convolution_backward: gradients of a convolution by input, weight and bias, as products of unrolled images.
#include <algorithm>

#include "operators/checks.h"
#include "operators/columns.h"
#include "operators/compute_operands.h"
#include "operators/families/families.h"
#include "operators/output.h"

namespace pterun::operators {
namespace {

struct Backward {
  const Tensor* grad = nullptr;
  const Tensor* input = nullptr;
  const Tensor* weight = nullptr;
  Tensor* grad_input = nullptr;  // null: not wanted
  Tensor* grad_weight = nullptr;
  Tensor* grad_bias = nullptr;
  ConvolutionGeometry geometry;
};

template <typename T>
Result<void> bias_gradient(ExecuteContext& context, const Backward& call, const T* grad) {
  PTERUN_ASSIGN(ComputeOutput sums, ComputeOutput::open(context, *call.grad_bias, kComputeOf<T>));
  const std::int64_t positions = volume(call.geometry.out);
  const std::int64_t channels = call.geometry.out_channels;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    T sum{0};
    for (std::int64_t image = 0; image < call.geometry.batch; ++image) {
      const T* plane = grad + (image * channels + channel) * positions;
      for (std::int64_t i = 0; i < positions; ++i)
        sum += plane[i];
    }
    sums.data<T>()[channel] = sum;
  }
  return sums.store(context);
}

template <typename T>
Result<void> run(ExecuteContext& context, const Backward& call) {
  PTERUN_ASSIGN(const T* grad, compute_input<T>(context, *call.grad));
  PTERUN_ASSIGN(const T* input, compute_input<T>(context, *call.input));
  PTERUN_ASSIGN(const T* weight, compute_input<T>(context, *call.weight));
  if (call.grad_input != nullptr && call.grad_input->numel() != 0) {
    PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.grad_input, kComputeOf<T>));
    PTERUN_TRY(convolve_backward_input<T>(context, call.geometry, grad, weight, out.data<T>()));
    PTERUN_TRY(out.store(context));
  }
  if (call.grad_weight != nullptr && call.grad_weight->numel() != 0) {
    PTERUN_ASSIGN(ComputeOutput out, ComputeOutput::open(context, *call.grad_weight, kComputeOf<T>));
    PTERUN_TRY(convolve_backward_weight<T>(context, call.geometry, input, grad, out.data<T>()));
    PTERUN_TRY(out.store(context));
  }
  return call.grad_bias == nullptr ? Result<void>{} : bias_gradient<T>(context, call, grad);
}

Result<Tensor*> gradient(const Arguments& arguments, std::size_t argument, bool wanted, const Shape& shape, DType dtype,
                         std::string_view what) {
  if (!wanted) return nullptr;
  PTERUN_ASSIGN(Tensor * tensor, arguments.tensor(argument));
  PTERUN_TRY(check_dtype_is(arguments, *tensor, dtype, what));
  PTERUN_TRY(resize_output(arguments, *tensor, shape));
  return tensor;
}

Result<void> convolution_backward(ExecuteContext& context, const Arguments& arguments) {
  Backward call;
  PTERUN_ASSIGN(call.grad, arguments.tensor(0));
  PTERUN_ASSIGN(call.input, arguments.tensor(1));
  PTERUN_ASSIGN(call.weight, arguments.tensor(2));
  const DType dtype = call.input->dtype();
  PTERUN_TRY(check_dtype(arguments, *call.input, kFloats, "input"));
  PTERUN_TRY(check_dtype_is(arguments, *call.grad, dtype, "grad_output"));
  PTERUN_TRY(check_dtype_is(arguments, *call.weight, dtype, "weight"));
  PTERUN_ASSIGN(call.geometry, read_convolution(arguments, *call.input, *call.weight, 4));
  PTERUN_TRY(check_shape(arguments, *call.grad, call.geometry.out_shape(), "grad_output"));
  PTERUN_ASSIGN(const std::vector<bool> wanted, arguments.bool_list(10));
  if (wanted.size() != 3) {
    return fail(arguments.error(ErrorCode::kInvalidArgument, "output_mask does not have 3 flags"));
  }
  PTERUN_ASSIGN(call.grad_input,
                gradient(arguments, 11, wanted[0], call.input->shape(), dtype, "the gradient of the input"));
  PTERUN_ASSIGN(call.grad_weight,
                gradient(arguments, 12, wanted[1], call.weight->shape(), dtype, "the gradient of the weight"));
  PTERUN_ASSIGN(call.grad_bias,
                gradient(arguments, 13, wanted[2], {call.geometry.out_channels}, dtype, "the gradient of the bias"));
  return visit_float_compute(dtype, [&]<typename T>() { return run<T>(context, call); });
}

constexpr OperatorRow kRows[] = {
    {"aten::convolution_backward.out", kFloats, convolution_backward},
};

}  // namespace

std::span<const OperatorRow> convolution_backward_family() {
  return kRows;
}

}  // namespace pterun::operators
