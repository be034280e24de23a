// Quantised nodes against the reference, with errors judged in quanta of the output.
#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "unit/backends/xnnpack/graph_check.h"

using namespace pterun;
using namespace pterun::test;
using namespace pterun::xnnpack_payload;

namespace {

template <typename T>
std::vector<T> integers(std::int64_t count, std::uint32_t seed, int low, int high) {
  std::vector<T> result;
  for (const double number : random_integers(static_cast<std::size_t>(count), seed, low, high)) {
    result.push_back(static_cast<T>(number));
  }
  return result;
}

std::vector<float> scales(std::int64_t count, float first) {
  std::vector<float> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(first * (1.0f + 0.125f * static_cast<float>(i % 5)));
  return result;
}

Quantization per_tensor(float scale, int zero_point) {
  return PerTensorQuantization{scale, zero_point};
}

// Filter and bias for `channels` outputs, per tensor or per channel; scales of the bias are input times filter.
struct Weights {
  ValueIndex filter, bias;
};
Weights static_weights(PayloadBuilder& builder, const Shape& shape, std::uint32_t channel_dim, bool per_channel,
                       float input_scale) {
  const std::int64_t channels = shape[channel_dim];
  const auto values = integers<std::int8_t>(shape.numel(), 3, -127, 127);
  const auto offsets = integers<std::int32_t>(channels, 4, -500, 500);
  if (!per_channel) {
    const float scale = 0.02f;
    return {builder.constant(DataType::kQint8, shape, values, per_tensor(scale, 0)),
            builder.constant(DataType::kQint32, {channels}, offsets, per_tensor(scale * input_scale, 0))};
  }
  PerChannelQuantization filter{scales(channels, 0.02f), channel_dim, 0, {}};
  PerChannelQuantization bias = filter;
  bias.channel_dim = 0;
  for (float& scale : bias.scales)
    scale *= input_scale;
  return {builder.constant(DataType::kQcint8, shape, values, filter),
          builder.constant(DataType::kQcint32, {channels}, offsets, bias)};
}

constexpr float kInputScale = 0.05f;

ConvolutionParams window(std::uint32_t kernel, std::uint32_t stride, std::uint32_t pad, std::uint32_t groups,
                         std::uint32_t in, std::uint32_t out) {
  ConvolutionParams p;
  p.pad_top = p.pad_right = p.pad_bottom = p.pad_left = pad;
  p.kernel_height = p.kernel_width = kernel;
  p.stride_height = p.stride_width = stride;
  p.dilation_height = p.dilation_width = 1;
  p.groups = groups;
  p.group_input_channels = in;
  p.group_output_channels = out;
  return p;
}

}  // namespace

TEST_CASE("static int8 FullyConnected, per tensor and per channel") {
  for (const bool per_channel : {false, true}) {
    PayloadBuilder builder;
    const auto x = builder.input(DataType::kQint8, {3, 40}, per_tensor(kInputScale, 5));
    const auto w = static_weights(builder, {17, 40}, 0, per_channel, kInputScale);
    const auto y = builder.output(DataType::kQint8, {3, 17}, per_tensor(0.6f, -3));
    builder.node(NodeKind::kFullyConnected, {x, w.filter, w.bias}, {y}).range = {-20.0f, 40.0f};
    check_graph(builder, {});
  }
}

TEST_CASE("static int8 convolutions, per tensor and per channel") {
  for (const bool per_channel : {false, true}) {
    for (const NodeKind kind : {NodeKind::kConv2d, NodeKind::kDepthwiseConv2d, NodeKind::kConvTranspose2d}) {
      PayloadBuilder builder;
      const bool depthwise = kind == NodeKind::kDepthwiseConv2d;
      const auto x = builder.input(DataType::kQint8, {1, 6, 5, 4}, per_tensor(kInputScale, -7));
      const auto w = static_weights(builder, depthwise ? Shape{1, 3, 3, 4} : Shape{6, 3, 3, 4}, depthwise ? 3 : 0,
                                    per_channel, kInputScale);
      const bool up = kind == NodeKind::kConvTranspose2d;
      const Shape output = up ? Shape{1, 11, 9, 6} : Shape{1, 6, 5, depthwise ? 4 : 6};
      const auto y = builder.output(DataType::kQint8, output, per_tensor(0.5f, 2));
      const auto params = depthwise ? window(3, 1, 1, 4, 1, 1) : window(3, up ? 2 : 1, 1, 1, 4, 6);
      builder.node(kind, {x, w.filter, w.bias}, {y}, params);
      INFO(node_kind_name(kind) << (per_channel ? " per channel" : " per tensor"));
      check_graph(builder, {});
    }
  }
}

TEST_CASE("unsigned int8 FullyConnected with a zero point in its filter") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kQuint8, {3, 20}, per_tensor(kInputScale, 120));
  const auto w =
      builder.constant(DataType::kQuint8, {9, 20}, integers<std::uint8_t>(180, 3, 0, 255), per_tensor(0.02f, 127));
  const auto b = builder.constant(DataType::kQint32, {9}, integers<std::int32_t>(9, 4, -500, 500),
                                  per_tensor(0.02f * kInputScale, 0));
  const auto y = builder.output(DataType::kQuint8, {3, 9}, per_tensor(0.4f, 100));
  builder.node(NodeKind::kFullyConnected, {x, w, b}, {y});
  check_graph(builder, {});
}

TEST_CASE("elementwise int8 nodes") {
  for (const DataType type : {DataType::kQint8, DataType::kQuint8}) {
    const int shift = type == DataType::kQint8 ? 0 : 128;
    for (const NodeKind kind : {NodeKind::kAdd, NodeKind::kSubtract, NodeKind::kMultiply}) {
      PayloadBuilder builder;
      const auto a = builder.input(type, {3, 50}, per_tensor(0.02f, 3 + shift));
      const auto b = builder.input(type, {50}, per_tensor(0.03f, -4 + shift));
      const auto y = builder.output(type, {3, 50}, per_tensor(0.06f, 1 + shift));
      builder.node(kind, {a, b}, {y}).range = {0.0f, std::numeric_limits<float>::infinity()};
      INFO(node_kind_name(kind) << " " << data_type_name(type));
      check_graph(builder, {});
    }
    using enum NodeKind;
    for (const NodeKind kind : {kSigmoid, kTanh, kHardswish, kAbs, kNegate, kGelu, kELU, kLeakyReLU}) {
      PayloadBuilder builder;
      const auto x = builder.input(type, {100}, per_tensor(0.03f, 3 + shift));
      const auto y = builder.output(type, {100}, per_tensor(0.04f, -10 + shift));
      builder.node(kind, {x}, {y}, kind == kELU || kind == kLeakyReLU ? NodeParams(SlopeParams{0.5f}) : NodeParams());
      INFO(node_kind_name(kind) << " " << data_type_name(type));
      check_graph(builder, {});
    }
  }
}

TEST_CASE("int8 nodes that move elements") {
  const auto q = per_tensor(0.05f, 3);
  const auto check = [&](NodeKind kind, const std::vector<Shape>& inputs, const Shape& output, NodeParams params) {
    PayloadBuilder builder;
    std::vector<ValueIndex> ids;
    for (const Shape& shape : inputs)
      ids.push_back(builder.input(DataType::kQint8, shape, q));
    const auto y = builder.output(DataType::kQint8, output, q);
    builder.node(kind, ids, {y}, std::move(params));
    INFO(node_kind_name(kind));
    check_graph(builder, {});
  };
  check(NodeKind::kStaticTranspose, {{2, 3, 4}}, {4, 2, 3}, TransposeParams{{2, 0, 1}});
  check(NodeKind::kStaticReshape, {{2, 6}}, {3, 4}, ReshapeParams{{3, 4}});
  check(NodeKind::kStaticSlice, {{4, 5}}, {2, 5}, SliceParams{{1, 0}, {2, 5}});
  check(NodeKind::kStaticConstantPad, {{2, 3}}, {3, 5}, PadParams{{1, 0}, {0, 2}, 0.5f});
  check(NodeKind::kConcatenate2, {{2, 3}, {2, 1}}, {2, 4}, ConcatenateParams{1});
  check(NodeKind::kCopy, {{2, 3}}, {2, 3}, {});
  PoolingParams p;
  p.window_height = p.window_width = p.stride_height = p.stride_width = 2;
  check(NodeKind::kMaxPooling2d, {{1, 4, 4, 3}}, {1, 2, 2, 3}, p);
  check(NodeKind::kGlobalAvgPooling2d, {{1, 4, 4, 3}}, {1, 3}, {});
  check(NodeKind::kStaticResizeBilinear2D, {{1, 4, 4, 3}}, {1, 7, 7, 3}, ResizeParams{7, 7});
}

TEST_CASE("Convert quantises and dequantises") {
  for (const DataType type : {DataType::kQint8, DataType::kQuint8}) {
    PayloadBuilder builder;
    const auto x = builder.input(DataType::kFp32, {4, 31});
    const auto q = builder.output(type, {4, 31}, per_tensor(0.01f, 10));
    const auto y = builder.output(DataType::kFp32, {4, 31});
    const auto wider = builder.output(type, {4, 31}, per_tensor(0.02f, 20));
    builder.node(NodeKind::kConvert, {x}, {q});
    builder.node(NodeKind::kConvert, {q}, {y});
    builder.node(NodeKind::kConvert, {q}, {wider});
    check_graph(builder, {0.0101, 0});
  }
}

TEST_CASE("dynamic int8 activations with int8, 4-bit and blockwise 4-bit weights") {
  for (const DataType type : {DataType::kQcint8, DataType::kQcint4, DataType::kQbint4}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 15, 28}) {
      PayloadBuilder builder;
      const auto x = builder.input(DataType::kFp32, {rows, 64});
      const auto q = builder.internal(DataType::kQdint8, {rows, 64}, DynamicQuantization{1});
      ValueIndex w = kNoValue;
      if (type == DataType::kQcint8) {
        w = builder.constant(type, {18, 64}, integers<std::int8_t>(18 * 64, 3, -127, 127),
                             PerChannelQuantization{scales(18, 0.01f), 0, 0, {}});
      } else if (type == DataType::kQcint4) {
        w = builder.constant(type, {18, 64}, integers<std::uint8_t>(18 * 32, 3, 0, 255),
                             PerChannelQuantization{scales(18, 0.1f), 0, 8, {}});
      } else {
        PerBlockQuantization blocks;
        blocks.block_size = 32;
        for (const float scale : scales(36, 0.1f))
          blocks.scales.push_back(BFloat16(scale));
        w = builder.constant(type, {18, 64}, integers<std::uint8_t>(18 * 32, 3, 0, 255), blocks);
      }
      const auto b = float_constant(builder, DataType::kFp32, {18}, 6);
      const auto y = builder.output(DataType::kFp32, {rows, 18});
      builder.node(NodeKind::kConvert, {x}, {q});
      builder.node(NodeKind::kFullyConnected, {q, w, b}, {y}).range = {-6.0f, 6.0f};
      INFO(data_type_name(type) << " rows " << rows);
      // A few activations a row may be a quantum (2/255) off, ties and the ends of the range, times weights up to 1.9.
      check_graph(builder, {0.04, 1e-4});
    }
  }
}

TEST_CASE("dynamic int8 convolution and matrix product") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {2, 5, 5, 4});
  const auto q = builder.internal(DataType::kQdint8, {2, 5, 5, 4}, DynamicQuantization{3});
  const auto w = builder.constant(DataType::kQcint8, {6, 3, 3, 4}, integers<std::int8_t>(216, 3, -127, 127),
                                  PerChannelQuantization{scales(6, 0.01f), 0, 0, {}});
  const auto y = builder.output(DataType::kFp32, {2, 5, 5, 6});
  builder.node(NodeKind::kConvert, {x}, {q});
  builder.node(NodeKind::kConv2d, {q, w, kNoValue}, {y}, window(3, 1, 1, 1, 4, 6));
  check_graph(builder, {0.04, 1e-4});
}

TEST_CASE("an old payload's dq_datatype computes like a Convert") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {3, 16});
  const auto w = builder.constant(DataType::kQcint8, {5, 16}, integers<std::int8_t>(80, 3, -127, 127),
                                  PerChannelQuantization{scales(5, 0.01f), 0, 0, {}});
  const auto y = builder.output(DataType::kFp32, {3, 5});
  builder.node(NodeKind::kFullyConnected, {x, w, kNoValue}, {y});
  builder.value_lies[x].dq_qint8 = true;
  check_graph(builder, {0.05, 1e-3});  // the reference does not quantise: half a quantum times the sum of |weights|
}
