// Pooling, resizing, and nodes that move elements. Activations are NHWC.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/interpreter/kernels.h"
#include "backends/interpreter/window.h"

namespace pterun::backends::interpreter {
namespace {

using xnnpack_payload::NodeKind;
using xnnpack_payload::PoolingParams;

using Index = std::array<std::int64_t, kMaxRank>;

Index unflatten(std::int64_t flat, const Shape& shape) {
  Index index{};
  for (std::size_t i = shape.rank(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

std::size_t flatten(const Index& index, const Shape& shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    flat = flat * shape[i] + index[i];
  return static_cast<std::size_t>(flat);
}

// Fills output 0 from the source index of every output index; `outside` where the source is none.
template <typename Source>
void gather(const NodeCall& call, const Source& source, double outside = 0) {
  const Shape& out = call.output_shapes[0];
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    Index index = unflatten(i, out);
    const bool inside = source(index);
    call.outputs[0]->push_back(inside ? (*call.inputs[0])[flatten(index, call.input_shapes[0])] : outside);
  }
}

Padding pooling_padding(const NodeCall& call, const PoolingParams& p) {
  return padding_of(call, {p.pad_top, p.pad_left}, {p.window_height, p.stride_height, p.dilation_height},
                    {p.window_width, p.stride_width, p.dilation_width});
}

// Running result over one window.
struct Window {
  double sum = 0;
  double largest = -INFINITY;
  std::int64_t count = 0;
  std::int64_t largest_at = 0;
};

Window pool_window(const NodeCall& call, const PoolingParams& p, const Padding& padding, const Index& out) {
  const Shape& in = call.input_shapes[0];
  Window window;
  for (std::int64_t ky = 0; ky < p.window_height; ++ky) {
    const std::int64_t y = out[1] * p.stride_height + ky * p.dilation_height - padding.top;
    for (std::int64_t kx = 0; kx < p.window_width; ++kx) {
      const std::int64_t x = out[2] * p.stride_width + kx * p.dilation_width - padding.left;
      if (y < 0 || y >= in[1] || x < 0 || x >= in[2]) continue;
      const double value = (*call.inputs[0])[flatten({out[0], y, x, out[3]}, in)];
      window.sum += value;
      ++window.count;
      if (value > window.largest || std::isnan(value) || window.count == 1) {
        window.largest = value;
        window.largest_at = ky * p.window_width + kx;
        if (std::isnan(value)) return window;
      }
    }
  }
  return window;
}

// The source coordinate of an output pixel: half-pixel centres, or aligned corners, or TensorFlow 1's.
double resize_source(std::int64_t out, std::int64_t in_size, std::int64_t out_size, std::uint32_t flags) {
  if ((flags & xnnpack_payload::kFlagAlignCorners) != 0) {
    return out_size > 1
               ? static_cast<double>(out) * static_cast<double>(in_size - 1) / static_cast<double>(out_size - 1)
               : 0;
  }
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  if ((flags & xnnpack_payload::kFlagLegacyResize) != 0) return static_cast<double>(out) * scale;
  return (static_cast<double>(out) + 0.5) * scale - 0.5;
}

}  // namespace

void run_pooling(const NodeCall& call) {
  const auto& p = std::get<PoolingParams>(call.node->params);
  const Padding padding = pooling_padding(call, p);
  const Shape& out = call.output_shapes[0];
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const Window window = pool_window(call, p, padding, unflatten(i, out));
    double value = window.largest;
    if (call.node->kind == NodeKind::kAvgPooling2d)
      value = window.sum / static_cast<double>(std::max<std::int64_t>(window.count, 1));
    call.outputs[0]->push_back(clamp_to(*call.node, value));
    if (call.node->kind == NodeKind::kArgMaxPooling2d)
      call.outputs[1]->push_back(static_cast<double>(window.largest_at));
  }
}

// The mean over height and width.
void run_global_average(const NodeCall& call) {
  const Shape& in = call.input_shapes[0];
  const std::size_t channel_dim = in.rank() - 1;
  const std::int64_t area = in[in.rank() - 3] * in[in.rank() - 2];
  const std::int64_t channels = in[channel_dim];
  const std::int64_t batches = area * channels == 0 ? 0 : in.numel() / (area * channels);
  for (std::int64_t n = 0; n < batches; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < area; ++i)
        sum += (*call.inputs[0])[static_cast<std::size_t>((n * area + i) * channels + c)];
      call.outputs[0]->push_back(clamp_to(*call.node, sum / static_cast<double>(area)));
    }
  }
}

void run_transpose(const NodeCall& call) {
  const auto& permutation = std::get<xnnpack_payload::TransposeParams>(call.node->params).permutation;
  gather(call, [&](Index& index) {
    Index source{};
    for (std::size_t i = 0; i < permutation.size(); ++i)
      source[permutation[i]] = index[i];
    index = source;
    return true;
  });
}

// Copy, Convert and StaticReshape: the numbers stay; what the output's type makes of them is round_to_type's work.
void run_copy(const NodeCall& call) {
  *call.outputs[0] = *call.inputs[0];
}

void run_slice(const NodeCall& call) {
  const auto& offsets = std::get<xnnpack_payload::SliceParams>(call.node->params).offsets;
  gather(call, [&](Index& index) {
    for (std::size_t i = 0; i < offsets.size(); ++i)
      index[i] += offsets[i];
    return true;
  });
}

void run_pad(const NodeCall& call) {
  const auto& params = std::get<xnnpack_payload::PadParams>(call.node->params);
  const Shape& in = call.input_shapes[0];
  gather(
      call,
      [&](Index& index) {
        bool inside = true;
        for (std::size_t i = 0; i < params.before.size(); ++i) {
          index[i] -= params.before[i];
          inside = inside && index[i] >= 0 && index[i] < in[i];
        }
        return inside;
      },
      params.value);
}

void run_concatenate(const NodeCall& call) {
  const Shape& out = call.output_shapes[0];
  const std::int64_t axis = std::get<xnnpack_payload::ConcatenateParams>(call.node->params).axis;
  const auto dim = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(out.rank()) : axis);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    Index index = unflatten(i, out);
    std::size_t part = 0;
    while (index[dim] >= call.input_shapes[part][dim])
      index[dim] -= call.input_shapes[part++][dim];
    call.outputs[0]->push_back((*call.inputs[part])[flatten(index, call.input_shapes[part])]);
  }
}

void run_resize(const NodeCall& call) {
  const Shape& in = call.input_shapes[0];
  const Shape& out = call.output_shapes[0];
  const std::uint32_t flags = call.node->flags;
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const Index index = unflatten(i, out);
    const double y = std::clamp(resize_source(index[1], in[1], out[1], flags), 0.0, static_cast<double>(in[1] - 1));
    const double x = std::clamp(resize_source(index[2], in[2], out[2], flags), 0.0, static_cast<double>(in[2] - 1));
    const auto top = static_cast<std::int64_t>(y);
    const auto left = static_cast<std::int64_t>(x);
    const std::int64_t bottom = std::min(top + 1, in[1] - 1);
    const std::int64_t right = std::min(left + 1, in[2] - 1);
    const auto pixel = [&](std::int64_t py, std::int64_t px) {
      return (*call.inputs[0])[flatten({index[0], py, px, index[3]}, in)];
    };
    const double fy = y - static_cast<double>(top);
    const double fx = x - static_cast<double>(left);
    call.outputs[0]->push_back((1 - fy) * ((1 - fx) * pixel(top, left) + fx * pixel(top, right)) +
                               fy * ((1 - fx) * pixel(bottom, left) + fx * pixel(bottom, right)));
  }
}

}  // namespace pterun::backends::interpreter
