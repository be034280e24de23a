// One function a family of nodes; loops over every index, no cleverness.
#include "support/graph_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace pterun::test {
namespace {

using namespace xnnpack_payload;

using Numbers = std::vector<double>;

// Row-major indexing of a shape of any rank.
struct Grid {
  explicit Grid(const Shape& shape) : shape(shape) {}
  std::int64_t size() const { return shape.numel(); }
  std::vector<std::int64_t> index(std::int64_t flat) const {
    std::vector<std::int64_t> at(shape.rank());
    for (std::size_t d = shape.rank(); d-- > 0; flat /= shape[d])
      at[d] = flat % shape[d];
    return at;
  }
  std::int64_t flat(const std::vector<std::int64_t>& at) const {
    std::int64_t result = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d)
      result = result * shape[d] + at[d];
    return result;
  }
  const Shape& shape;
};

template <typename T>
T load(Bytes bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
  return value;
}

double stored_number(const xnnpack_payload::Value& value, std::size_t i, std::int64_t columns) {
  switch (value.type) {
    case DataType::kFp32: return load<float>(value.data, i);
    case DataType::kFp16: return static_cast<double>(static_cast<float>(load<Half>(value.data, i)));
    case DataType::kBf16: return static_cast<double>(static_cast<float>(load<BFloat16>(value.data, i)));
    case DataType::kQint8:
    case DataType::kQcint8: return load<std::int8_t>(value.data, i);
    case DataType::kQuint8: return load<std::uint8_t>(value.data, i);
    case DataType::kQint32:
    case DataType::kQcint32:
    case DataType::kInt32: return load<std::int32_t>(value.data, i);
    case DataType::kQcint4:
    case DataType::kQbint4: {
      const auto row = static_cast<std::int64_t>(i) / columns;
      const auto column = static_cast<std::int64_t>(i) % columns;
      const auto byte =
          load<std::uint8_t>(value.data, static_cast<std::size_t>(row * ((columns + 1) / 2) + column / 2));
      return column % 2 == 0 ? byte & 15 : byte >> 4;
    }
    default: throw std::logic_error("constant of that type");
  }
}

Numbers constant_numbers(const xnnpack_payload::Value& value) {
  const Grid grid(value.dims);
  const std::int64_t columns = value.dims.rank() == 0 ? 1 : value.dims[value.dims.rank() - 1];
  Numbers numbers(static_cast<std::size_t>(grid.size()));
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const auto e = static_cast<std::size_t>(i);
    numbers[e] = stored_number(value, e, columns);
    if (const auto* q = value.quantized_as<PerTensorQuantization>()) {
      numbers[e] = (numbers[e] - q->zero_point) * static_cast<double>(q->scale);
    } else if (const auto* c = value.quantized_as<PerChannelQuantization>()) {
      const auto channel = static_cast<std::size_t>(grid.index(i)[c->channel_dim]);
      numbers[e] = (numbers[e] - c->zero_point) * static_cast<double>(c->scales[channel]);
    } else if (const auto* b = value.quantized_as<PerBlockQuantization>()) {
      const std::int64_t blocks = columns / b->block_size;
      const auto block = static_cast<std::size_t>(i / columns * blocks + i % columns / b->block_size);
      numbers[e] = (numbers[e] - b->zero_point) * static_cast<double>(static_cast<float>(b->scales[block]));
    }
  }
  return numbers;
}

// Rounds to what the value can hold.
void store(const xnnpack_payload::Value& value, const Shape& shape, Numbers& numbers) {
  if (const auto* q = value.quantized_as<PerTensorQuantization>()) {
    const double low = value.type == DataType::kQuint8 ? 0 : -128;
    const double high = value.type == DataType::kQuint8 ? 255 : 127;
    for (double& number : numbers) {
      const double level = std::nearbyint(number / static_cast<double>(q->scale)) + q->zero_point;
      number = (std::clamp(level, low, high) - q->zero_point) * static_cast<double>(q->scale);
    }
  } else if (const auto* d = value.quantized_as<DynamicQuantization>()) {
    std::int64_t item = 1;
    for (std::size_t i = shape.rank() - d->num_nonbatch_dims; i < shape.rank(); ++i)
      item *= shape[i];
    for (std::size_t begin = 0; begin < numbers.size(); begin += static_cast<std::size_t>(item)) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
      const double low = std::min(0.0, *std::min_element(first, first + item));
      const double high = std::max(0.0, *std::max_element(first, first + item));
      const double scale = high == low ? 1.0 : (high - low) / 255.0;
      for (auto it = first; it != first + item; ++it)
        *it = std::nearbyint(*it / scale) * scale;
    }
  }
}

double unary(const Node& node, double x) {
  using enum NodeKind;
  const auto slope = [&] { return static_cast<double>(std::get<SlopeParams>(node.params).slope); };
  switch (node.kind) {
    case kSigmoid: return 1.0 / (1.0 + std::exp(-x));
    case kClamp: return std::clamp(x, static_cast<double>(node.range.min), static_cast<double>(node.range.max));
    case kFloor: return std::floor(x);
    case kCeiling: return std::ceil(x);
    case kSquareRoot: return std::sqrt(x);
    case kReciprocalSquareRoot: return 1.0 / std::sqrt(x);
    case kHardswish: return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0;
    case kLeakyReLU: return x < 0 ? x * slope() : x;
    case kELU: return x < 0 ? slope() * std::expm1(x) : x;
    case kNegate: return -x;
    case kSquare: return x * x;
    case kAbs: return std::fabs(x);
    case kLog: return std::log(x);
    case kGelu: return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case kTanh: return std::tanh(x);
    case kExp: return std::exp(x);
    case kSin: return std::sin(x);
    case kCos: return std::cos(x);
    case kConvert:
    case kCopy: return x;
    default: throw std::logic_error("no unary kind");
  }
}

double binary(NodeKind kind, double a, double b) {
  using enum NodeKind;
  switch (kind) {
    case kAdd: return a + b;
    case kSubtract: return a - b;
    case kMultiply: return a * b;
    case kDiv: return a / b;
    case kMinimum: return std::min(a, b);
    case kMaximum: return std::max(a, b);
    case kPReLU: return a < 0 ? a * b : a;
    default: throw std::logic_error("no binary kind");
  }
}

// A node with its operands' numbers and shapes.
struct Operands {
  const Node& node;
  std::vector<const Numbers*> in;
  std::vector<Shape> shape;
  const Shape& out;
  Numbers result;
  Numbers index;  // ArgMaxPooling2d

  double at(std::size_t i, const std::vector<std::int64_t>& where) const {
    return (*in[i])[static_cast<std::size_t>(Grid(shape[i]).flat(where))];
  }
  bool has(std::size_t i) const { return i < in.size() && in[i] != nullptr; }
};

double broadcast_at(const Operands& o, std::size_t i, const std::vector<std::int64_t>& where) {
  std::vector<std::int64_t> at(o.shape[i].rank());
  for (std::size_t d = 0; d < at.size(); ++d) {
    at[d] = o.shape[i][d] == 1 ? 0 : where[where.size() - at.size() + d];
  }
  return o.at(i, at);
}

double fully_connected(const Operands& o, const std::vector<std::int64_t>& where) {
  const bool transposed = (o.node.flags & kFlagTransposeWeights) != 0;
  const std::int64_t column = where.back();
  double sum = o.has(2) ? (*o.in[2])[static_cast<std::size_t>(column)] : 0.0;
  std::vector<std::int64_t> at = where;
  for (std::int64_t k = 0; k < o.shape[1][transposed ? 0 : 1]; ++k) {
    at.back() = k;
    sum += o.at(0, at) * (transposed ? o.at(1, {k, column}) : o.at(1, {column, k}));
  }
  return sum;
}

double convolution(const Operands& o, const std::vector<std::int64_t>& where) {
  const auto& p = std::get<ConvolutionParams>(o.node.params);
  const bool depthwise = o.node.kind == NodeKind::kDepthwiseConv2d;
  std::int64_t top = p.pad_top, left = p.pad_left;
  if ((o.node.flags & kFlagSamePadding) != 0) {
    const auto total = [](std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t reach) {
      return std::max<std::int64_t>((out - 1) * stride + reach - in, 0);
    };
    top =
        total(o.shape[0][1], o.out[1], p.stride_height, std::int64_t{p.kernel_height - 1} * p.dilation_height + 1) / 2;
    left = total(o.shape[0][2], o.out[2], p.stride_width, std::int64_t{p.kernel_width - 1} * p.dilation_width + 1) / 2;
  }
  const std::int64_t channel = where[3];
  const std::int64_t group = channel / p.group_output_channels;
  double sum = o.has(2) ? (*o.in[2])[static_cast<std::size_t>(channel)] : 0.0;
  for (std::int64_t ky = 0; ky < p.kernel_height; ++ky) {
    for (std::int64_t kx = 0; kx < p.kernel_width; ++kx) {
      const std::int64_t y = where[1] * p.stride_height - top + ky * p.dilation_height;
      const std::int64_t x = where[2] * p.stride_width - left + kx * p.dilation_width;
      if (y < 0 || y >= o.shape[0][1] || x < 0 || x >= o.shape[0][2]) continue;
      for (std::int64_t c = 0; c < p.group_input_channels; ++c) {
        const double weight = depthwise ? o.at(1, {0, ky, kx, channel}) : o.at(1, {channel, ky, kx, c});
        sum += o.at(0, {where[0], y, x, group * p.group_input_channels + c}) * weight;
      }
    }
  }
  return sum;
}

// Every input pixel spreads its products over the output.
void transposed_convolution(Operands& o) {
  const auto& p = std::get<ConvolutionParams>(o.node.params);
  const Grid input(o.shape[0]), output(o.out);
  for (std::int64_t i = 0; i < output.size(); ++i) {
    o.result[static_cast<std::size_t>(i)] = o.has(2) ? (*o.in[2])[static_cast<std::size_t>(output.index(i)[3])] : 0.0;
  }
  for (std::int64_t i = 0; i < input.size(); ++i) {
    const auto from = input.index(i);
    const std::int64_t group = from[3] / p.group_input_channels;
    for (std::int64_t ky = 0; ky < p.kernel_height; ++ky) {
      for (std::int64_t kx = 0; kx < p.kernel_width; ++kx) {
        const std::int64_t y = from[1] * p.stride_height + ky * p.dilation_height - p.pad_top;
        const std::int64_t x = from[2] * p.stride_width + kx * p.dilation_width - p.pad_left;
        if (y < 0 || y >= o.out[1] || x < 0 || x >= o.out[2]) continue;
        for (std::int64_t c = 0; c < p.group_output_channels; ++c) {
          const std::int64_t channel = group * p.group_output_channels + c;
          o.result[static_cast<std::size_t>(output.flat({from[0], y, x, channel}))] +=
              (*o.in[0])[static_cast<std::size_t>(i)] * o.at(1, {channel, ky, kx, from[3] % p.group_input_channels});
        }
      }
    }
  }
}

void pool(Operands& o, const std::vector<std::int64_t>& where, std::size_t flat) {
  const auto& p = std::get<PoolingParams>(o.node.params);
  double sum = 0, best = -std::numeric_limits<double>::infinity(), best_index = 0;
  std::int64_t count = 0;
  for (std::int64_t wy = 0; wy < p.window_height; ++wy) {
    for (std::int64_t wx = 0; wx < p.window_width; ++wx) {
      const std::int64_t y = where[1] * p.stride_height - p.pad_top + wy * p.dilation_height;
      const std::int64_t x = where[2] * p.stride_width - p.pad_left + wx * p.dilation_width;
      if (y < 0 || y >= o.shape[0][1] || x < 0 || x >= o.shape[0][2]) continue;
      const double value = o.at(0, {where[0], y, x, where[3]});
      sum += value;
      ++count;
      if (value > best)
        best = value, best_index = static_cast<double>(wx * p.window_height + wy);  // XNNPACK counts down the columns
    }
  }
  o.result[flat] = o.node.kind == NodeKind::kAvgPooling2d ? sum / static_cast<double>(count) : best;
  if (o.node.kind == NodeKind::kArgMaxPooling2d) o.index[flat] = best_index;
}

double global_average(const Operands& o, const std::vector<std::int64_t>& where) {
  const Shape& in = o.shape[0];
  const std::size_t rank = in.rank();
  double sum = 0;
  std::vector<std::int64_t> at(where.begin(), where.begin() + static_cast<std::ptrdiff_t>(rank - 3));
  at.resize(rank, 0);
  at[rank - 1] = where.back();
  for (at[rank - 3] = 0; at[rank - 3] < in[rank - 3]; ++at[rank - 3]) {
    for (at[rank - 2] = 0; at[rank - 2] < in[rank - 2]; ++at[rank - 2])
      sum += o.at(0, at);
  }
  return sum / static_cast<double>(in[rank - 3] * in[rank - 2]);
}

double matmul(const Operands& o, const std::vector<std::int64_t>& where) {
  const bool transposed = (o.node.flags & kFlagTransposeWeights) != 0;
  const std::size_t rank = where.size();
  double sum = 0;
  const std::int64_t depth = o.shape[0][o.shape[0].rank() - 1];
  for (std::int64_t k = 0; k < depth; ++k) {
    auto a = where, b = where;
    a[rank - 1] = k;
    b[rank - 2] = transposed ? where[rank - 1] : k;
    b[rank - 1] = transposed ? k : where[rank - 1];
    sum += broadcast_at(o, 0, a) * broadcast_at(o, 1, b);
  }
  return sum;
}

double resized(const Operands& o, const std::vector<std::int64_t>& where) {
  const bool corners = (o.node.flags & kFlagAlignCorners) != 0;
  const auto source = [&](std::int64_t at, std::int64_t in, std::int64_t out) {
    if (corners) return out == 1 ? 0.0 : static_cast<double>(at * (in - 1)) / static_cast<double>(out - 1);
    return std::max(0.0, (static_cast<double>(at) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5);
  };
  const double y = source(where[1], o.shape[0][1], o.out[1]), x = source(where[2], o.shape[0][2], o.out[2]);
  double sum = 0;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const auto iy = static_cast<std::int64_t>(y), ix = static_cast<std::int64_t>(x);
      const double wy = dy == 0 ? 1 - (y - static_cast<double>(iy)) : y - static_cast<double>(iy);
      const double wx = dx == 0 ? 1 - (x - static_cast<double>(ix)) : x - static_cast<double>(ix);
      sum += wy * wx *
             o.at(0, {where[0], std::min(iy + dy, o.shape[0][1] - 1), std::min(ix + dx, o.shape[0][2] - 1), where[3]});
    }
  }
  return sum;
}

double moved(const Operands& o, const std::vector<std::int64_t>& where) {
  auto at = where;
  switch (o.node.kind) {
    case NodeKind::kStaticTranspose: {
      const auto& permutation = std::get<TransposeParams>(o.node.params).permutation;
      for (std::size_t d = 0; d < at.size(); ++d)
        at[permutation[d]] = where[d];
      return o.at(0, at);
    }
    case NodeKind::kStaticSlice:
      for (std::size_t d = 0; d < at.size(); ++d)
        at[d] += std::get<SliceParams>(o.node.params).offsets[d];
      return o.at(0, at);
    case NodeKind::kStaticConstantPad: {
      const auto& p = std::get<PadParams>(o.node.params);
      for (std::size_t d = 0; d < at.size(); ++d) {
        at[d] -= p.before[d];
        if (at[d] < 0 || at[d] >= o.shape[0][d]) return p.value;
      }
      return o.at(0, at);
    }
    default: {  // ConcatenateN
      std::int64_t axis = std::get<ConcatenateParams>(o.node.params).axis;
      if (axis < 0) axis += static_cast<std::int64_t>(at.size());
      const auto d = static_cast<std::size_t>(axis);
      for (std::size_t i = 0;; ++i) {
        if (at[d] < o.shape[i][d]) return o.at(i, at);
        at[d] -= o.shape[i][d];
      }
    }
  }
}

void softmax(Operands& o) {
  const auto columns = static_cast<std::size_t>(o.out[o.out.rank() - 1]);
  for (std::size_t begin = 0; begin < o.result.size(); begin += columns) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t i = begin; i < begin + columns; ++i)
      largest = std::max(largest, (*o.in[0])[i]);
    for (std::size_t i = begin; i < begin + columns; ++i)
      sum += o.result[i] = std::exp((*o.in[0])[i] - largest);
    for (std::size_t i = begin; i < begin + columns; ++i)
      o.result[i] /= sum;
  }
}

void compute(Operands& o) {
  using enum NodeKind;
  const Grid grid(o.out);
  if (o.node.kind == kSoftmax) return softmax(o);
  if (o.node.kind == kConvTranspose2d) return transposed_convolution(o);
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const auto where = grid.index(i);
    const auto flat = static_cast<std::size_t>(i);
    double& result = o.result[flat];
    switch (o.node.kind) {
      case kAdd:
      case kSubtract:
      case kMultiply:
      case kDiv:
      case kMinimum:
      case kMaximum:
      case kPReLU: result = binary(o.node.kind, broadcast_at(o, 0, where), broadcast_at(o, 1, where)); break;
      case kFullyConnected: result = fully_connected(o, where); break;
      case kConv2d:
      case kDepthwiseConv2d: result = convolution(o, where); break;
      case kAvgPooling2d:
      case kMaxPooling2d:
      case kArgMaxPooling2d: pool(o, where, flat); break;
      case kGlobalAvgPooling2d: result = global_average(o, where); break;
      case kBatchMatrixMultiply: result = matmul(o, where); break;
      case kStaticResizeBilinear2D: result = resized(o, where); break;
      case kStaticTranspose:
      case kStaticSlice:
      case kStaticConstantPad:
      case kConcatenate2:
      case kConcatenate3:
      case kConcatenate4:
      case kConcatenate5: result = moved(o, where); break;
      case kStaticReshape: result = (*o.in[0])[flat]; break;
      default: result = unary(o.node, (*o.in[0])[flat]); break;
    }
  }
}

}  // namespace

std::map<ValueIndex, Numbers> compute_reference(const PayloadGraph& graph, const std::map<ValueIndex, Numbers>& inputs,
                                                const std::vector<Shape>& shapes) {
  std::map<ValueIndex, Numbers> numbers = inputs;
  for (ValueIndex i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].is_constant) numbers[i] = constant_numbers(graph.values[i]);
  }
  for (const Node& node : graph.nodes) {
    const Shape& out = shapes[node.outputs[0]];
    const auto count = static_cast<std::size_t>(out.numel());
    Operands operands{node, {}, {}, out, Numbers(count), Numbers(count)};
    for (const ValueIndex input : node.input_ids()) {
      operands.in.push_back(input == kNoValue ? nullptr : &numbers.at(input));
      operands.shape.push_back(input == kNoValue ? Shape{} : shapes[input]);
    }
    compute(operands);
    for (double& number : operands.result) {
      number = std::clamp(number, static_cast<double>(node.range.min), static_cast<double>(node.range.max));
    }
    store(graph.values[node.outputs[0]], out, operands.result);
    numbers[node.outputs[0]] = std::move(operands.result);
    if (node.num_outputs > 1) numbers[node.outputs[1]] = std::move(operands.index);
  }
  return numbers;
}

}  // namespace pterun::test
