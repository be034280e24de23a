// FullyConnected, BatchMatrixMultiply and the convolutions, as their definitions.
#include <algorithm>
#include <cmath>

#include "backends/interpreter/kernels.h"
#include "backends/interpreter/window.h"

namespace pterun::backends::interpreter {
namespace {

using xnnpack_payload::ConvolutionParams;
using xnnpack_payload::Node;
using xnnpack_payload::NodeKind;

double bias_at(const NodeCall& call, std::size_t channel) {
  return call.inputs[2] == nullptr ? 0.0 : (*call.inputs[2])[channel];
}

Padding convolution_padding(const NodeCall& call, const ConvolutionParams& p) {
  return padding_of(call, {p.pad_top, p.pad_left}, {p.kernel_height, p.stride_height, p.dilation_height},
                    {p.kernel_width, p.stride_width, p.dilation_width});
}

}  // namespace

// input [..., in], filter [out, in], or [in, out] with the transpose flag.
void run_fully_connected(const NodeCall& call) {
  const Shape& filter = call.input_shapes[1];
  const bool transposed = (call.node->flags & xnnpack_payload::kFlagTransposeWeights) != 0;
  const auto in = static_cast<std::size_t>(filter[transposed ? 0 : 1]);
  const auto out = static_cast<std::size_t>(filter[transposed ? 1 : 0]);
  const std::size_t rows = in == 0 ? 0 : call.inputs[0]->size() / in;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = bias_at(call, o);
      for (std::size_t i = 0; i < in; ++i) {
        sum += (*call.inputs[0])[row * in + i] * (*call.inputs[1])[transposed ? i * out + o : o * in + i];
      }
      call.outputs[0]->push_back(clamp_to(*call.node, sum));
    }
  }
}

// a [..., m, k] times b [..., k, n] ([..., n, k] with the transpose flag), batch dimensions broadcast.
void run_batch_matmul(const NodeCall& call) {
  const Shape& a = call.input_shapes[0];
  const Shape& b = call.input_shapes[1];
  const Shape& out = call.output_shapes[0];
  const bool transposed = (call.node->flags & xnnpack_payload::kFlagTransposeWeights) != 0;
  const std::int64_t m = out[out.rank() - 2];
  const std::int64_t n = out[out.rank() - 1];
  const std::int64_t k = a[a.rank() - 1];
  const std::int64_t batches = m * n == 0 ? 0 : out.numel() / (m * n);
  const auto batch_of = [&](std::int64_t batch, const Shape& shape) {
    std::int64_t index = 0;
    std::int64_t stride = 1;
    for (std::size_t i = 2; i < out.rank(); ++i) {
      const std::int64_t size = out[out.rank() - 1 - i];
      const std::int64_t coordinate = batch % size;
      batch /= size;
      if (i >= shape.rank()) continue;
      const std::int64_t own = shape[shape.rank() - 1 - i];
      if (own > 1) index += coordinate * stride;
      stride *= own;
    }
    return index;
  };
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const double* left = call.inputs[0]->data() + batch_of(batch, a) * m * k;
    const double* right = call.inputs[1]->data() + batch_of(batch, b) * k * n;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += left[i * k + l] * right[transposed ? j * k + l : l * n + j];
        call.outputs[0]->push_back(sum);
      }
    }
  }
}

// Conv2d and DepthwiseConv2d, NHWC. A depthwise filter is [1, kh, kw, channels]: one input channel per group.
void run_convolution(const NodeCall& call) {
  const auto& p = std::get<ConvolutionParams>(call.node->params);
  const bool depthwise = call.node->kind == NodeKind::kDepthwiseConv2d;
  const Shape& in = call.input_shapes[0];
  const Shape& out = call.output_shapes[0];
  const Padding padding = convolution_padding(call, p);
  const std::int64_t group_in = p.group_input_channels;
  const std::int64_t group_out = p.group_output_channels;
  const auto filter_index = [&](std::int64_t channel, std::int64_t y, std::int64_t x, std::int64_t i) {
    return depthwise ? (y * p.kernel_width + x) * out[3] + channel
                     : ((channel * p.kernel_height + y) * p.kernel_width + x) * group_in + i;
  };
  for (std::int64_t n = 0; n < out[0]; ++n) {
    for (std::int64_t oy = 0; oy < out[1]; ++oy) {
      for (std::int64_t ox = 0; ox < out[2]; ++ox) {
        for (std::int64_t channel = 0; channel < out[3]; ++channel) {
          double sum = bias_at(call, static_cast<std::size_t>(channel));
          const std::int64_t group = channel / group_out;
          for (std::int64_t ky = 0; ky < p.kernel_height; ++ky) {
            const std::int64_t iy = oy * p.stride_height + ky * p.dilation_height - padding.top;
            if (iy < 0 || iy >= in[1]) continue;
            for (std::int64_t kx = 0; kx < p.kernel_width; ++kx) {
              const std::int64_t ix = ox * p.stride_width + kx * p.dilation_width - padding.left;
              if (ix < 0 || ix >= in[2]) continue;
              const std::int64_t pixel = ((n * in[1] + iy) * in[2] + ix) * in[3] + group * group_in;
              for (std::int64_t i = 0; i < group_in; ++i) {
                sum += (*call.inputs[0])[static_cast<std::size_t>(pixel + i)] *
                       (*call.inputs[1])[static_cast<std::size_t>(filter_index(channel, ky, kx, i))];
              }
            }
          }
          call.outputs[0]->push_back(clamp_to(*call.node, sum));
        }
      }
    }
  }
}

// ConvTranspose2d, NHWC: every input pixel adds its filter to the output at stride * position - padding.
void run_transposed_convolution(const NodeCall& call) {
  const auto& p = std::get<ConvolutionParams>(call.node->params);
  const Shape& in = call.input_shapes[0];
  const Shape& out = call.output_shapes[0];
  const std::int64_t group_in = p.group_input_channels;
  const std::int64_t group_out = p.group_output_channels;
  Reals& result = *call.outputs[0];
  result.resize(static_cast<std::size_t>(out.numel()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = bias_at(call, i % static_cast<std::size_t>(out[3]));
  for (std::int64_t n = 0; n < in[0]; ++n) {
    for (std::int64_t iy = 0; iy < in[1]; ++iy) {
      for (std::int64_t ix = 0; ix < in[2]; ++ix) {
        for (std::int64_t ky = 0; ky < p.kernel_height; ++ky) {
          const std::int64_t oy = iy * p.stride_height + ky * p.dilation_height - p.pad_top;
          for (std::int64_t kx = 0; kx < p.kernel_width && oy >= 0 && oy < out[1]; ++kx) {
            const std::int64_t ox = ix * p.stride_width + kx * p.dilation_width - p.pad_left;
            if (ox < 0 || ox >= out[2]) continue;
            for (std::int64_t channel = 0; channel < out[3]; ++channel) {
              const std::int64_t group = channel / group_out;
              double sum = 0;
              for (std::int64_t i = 0; i < group_in; ++i) {
                const std::int64_t pixel = ((n * in[1] + iy) * in[2] + ix) * in[3] + group * group_in + i;
                const std::int64_t weight = ((channel * p.kernel_height + ky) * p.kernel_width + kx) * group_in + i;
                sum += (*call.inputs[0])[static_cast<std::size_t>(pixel)] *
                       (*call.inputs[1])[static_cast<std::size_t>(weight)];
              }
              result[static_cast<std::size_t>(((n * out[1] + oy) * out[2] + ox) * out[3] + channel)] += sum;
            }
          }
        }
      }
    }
  }
  for (double& value : result)
    value = clamp_to(*call.node, value);
}

}  // namespace pterun::backends::interpreter
