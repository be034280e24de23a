// Every node kind in float32, and in float16 where XNNPACK has it, against the reference in double.
#include <catch2/catch_test_macros.hpp>

#include "unit/backends/xnnpack/graph_check.h"

using namespace pterun;
using namespace pterun::test;
using namespace pterun::xnnpack_payload;

namespace {

constexpr DataType kFloats[] = {DataType::kFp32, DataType::kFp16};

ConvolutionParams window(std::uint32_t height, std::uint32_t width, std::uint32_t stride, std::uint32_t pad,
                         std::uint32_t groups, std::uint32_t in, std::uint32_t out, std::uint32_t dilation = 1) {
  ConvolutionParams p;
  p.pad_top = p.pad_right = p.pad_bottom = p.pad_left = pad;
  p.kernel_height = height;
  p.kernel_width = width;
  p.stride_height = p.stride_width = stride;
  p.dilation_height = p.dilation_width = dilation;
  p.groups = groups;
  p.group_input_channels = in;
  p.group_output_channels = out;
  return p;
}

void check_convolution(NodeKind kind, DataType type, const Shape& input, const Shape& filter, const Shape& output,
                       ConvolutionParams params, bool bias = true, std::uint32_t flags = 0) {
  PayloadBuilder builder;
  const auto x = builder.input(type, input);
  // Filters and biases of float16 convolutions are float32 in a payload.
  const auto w = float_constant(builder, DataType::kFp32, filter, 3);
  const auto b = bias ? float_constant(builder, DataType::kFp32, {output[3]}, 4) : kNoValue;
  const auto y = builder.output(type, output);
  builder.node(kind, {x, w, b}, {y}, params).flags = flags;
  INFO(node_kind_name(kind) << " " << data_type_name(type) << " " << input.to_string());
  check_graph(builder, type == DataType::kFp32 ? kFloatTolerance : kHalfTolerance);
}

}  // namespace

TEST_CASE("elementwise nodes with one input") {
  using enum NodeKind;
  for (const DataType type : kFloats) {
    for (const NodeKind kind :
         {kSigmoid, kFloor, kCeiling, kHardswish, kNegate, kSquare, kAbs, kGelu, kTanh, kExp, kSin, kCos, kCopy}) {
      check_node(kind, type, {{3, 37}}, {3, 37}, {}, 0, -2.0, 2.0);
    }
    for (const NodeKind kind : {kSquareRoot, kReciprocalSquareRoot, kLog}) {
      check_node(kind, type, {{3, 37}}, {3, 37}, {}, 0, 0.25, 2.0);
    }
    check_node(kLeakyReLU, type, {{111}}, {111}, SlopeParams{0.25f}, 0, -2.0, 2.0);
    check_node(kELU, type, {{111}}, {111}, SlopeParams{0.75f}, 0, -2.0, 2.0);
  }
}

TEST_CASE("Clamp and nodes with an output range keep to it") {
  for (const DataType type : kFloats) {
    for (const NodeKind kind : {NodeKind::kClamp, NodeKind::kAdd, NodeKind::kMultiply}) {
      PayloadBuilder builder;
      const auto x = builder.input(type, {5, 9});
      const auto y = builder.output(type, {5, 9});
      auto& node = kind == NodeKind::kClamp ? builder.node(kind, {x}, {y}) : builder.node(kind, {x, x}, {y});
      node.range = {-0.5f, 0.25f};
      check_graph(builder, type == DataType::kFp32 ? kFloatTolerance : kHalfTolerance);
    }
  }
}

TEST_CASE("elementwise nodes with two inputs broadcast") {
  using enum NodeKind;
  for (const DataType type : kFloats) {
    for (const NodeKind kind : {kAdd, kSubtract, kMultiply, kMinimum, kMaximum}) {
      check_node(kind, type, {{2, 3, 17}, {2, 3, 17}}, {2, 3, 17});
      check_node(kind, type, {{2, 1, 17}, {3, 1}}, {2, 3, 17});
      check_node(kind, type, {{1}, {2, 5}}, {2, 5});
    }
    check_node(kDiv, type, {{2, 17}, {17}}, {2, 17}, {}, 0, 0.5, 2.0);
    PayloadBuilder builder;
    const auto x = builder.input(type, {1, 3, 3, 5});
    const auto slope = float_constant(builder, type, {5}, 9);
    const auto y = builder.output(type, {1, 3, 3, 5});
    builder.node(kPReLU, {x, slope}, {y});
    check_graph(builder, type == DataType::kFp32 ? kFloatTolerance : kHalfTolerance);
  }
}

TEST_CASE("int32 arithmetic") {
  for (const NodeKind kind : {NodeKind::kAdd, NodeKind::kSubtract, NodeKind::kMultiply}) {
    PayloadBuilder builder;
    const auto a = builder.input(DataType::kInt32, {2, 7});
    const auto b = builder.input(DataType::kInt32, {7});
    const auto y = builder.output(DataType::kInt32, {2, 7});
    builder.node(kind, {a, b}, {y});
    check_graph(builder, {0, 0});
  }
}

TEST_CASE("FullyConnected with constant and computed filters") {
  for (const DataType type : kFloats) {
    for (const bool transposed : {false, true}) {
      for (const bool bias : {true, false}) {
        PayloadBuilder builder;
        const auto x = builder.input(type, {2, 3, 20});
        const auto w = float_constant(builder, type, transposed ? Shape{20, 33} : Shape{33, 20}, 5);
        const auto b = bias ? float_constant(builder, type, {33}, 6) : kNoValue;
        const auto y = builder.output(type, {2, 3, 33});
        builder.node(NodeKind::kFullyConnected, {x, w, b}, {y}).flags = transposed ? kFlagTransposeWeights : 0;
        check_graph(builder, type == DataType::kFp32 ? kFloatTolerance : Tolerance{3e-2, 1e-2});
      }
    }
  }
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {4, 8});
  const auto w = builder.input(DataType::kFp32, {6, 8});
  const auto y = builder.output(DataType::kFp32, {4, 6});
  auto& node = builder.node(NodeKind::kFullyConnected, {x, w, kNoValue}, {y});
  node.range = {-1.0f, 1.0f};
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("bfloat16 is computed in float32 and rounded on the way out") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kBf16, {3, 16});
  const auto w = float_constant(builder, DataType::kBf16, {8, 16}, 5);
  const auto b = float_constant(builder, DataType::kBf16, {8}, 6);
  const auto y = builder.output(DataType::kBf16, {3, 8});
  builder.node(NodeKind::kFullyConnected, {x, w, b}, {y});
  check_graph(builder, {0, 1.0 / 256});  // half an ulp of the output
}

TEST_CASE("convolutions") {
  for (const DataType type : kFloats) {
    check_convolution(NodeKind::kConv2d, type, {2, 7, 6, 3}, {8, 3, 3, 3}, {2, 7, 6, 8}, window(3, 3, 1, 1, 1, 3, 8));
    check_convolution(NodeKind::kConv2d, type, {1, 9, 9, 4}, {6, 1, 1, 4}, {1, 9, 9, 6}, window(1, 1, 1, 0, 1, 4, 6));
    check_convolution(NodeKind::kConv2d, type, {1, 9, 8, 4}, {6, 3, 2, 2}, {1, 4, 4, 6}, window(3, 2, 2, 0, 2, 2, 3),
                      false);
    check_convolution(NodeKind::kConv2d, type, {1, 9, 9, 2}, {5, 3, 3, 2}, {1, 7, 7, 5},
                      window(3, 3, 1, 1, 1, 2, 5, 2));
    check_convolution(NodeKind::kConv2d, type, {1, 5, 5, 2}, {5, 3, 3, 2}, {1, 3, 3, 5}, window(3, 3, 2, 0, 1, 2, 5),
                      true, kFlagSamePadding);
    check_convolution(NodeKind::kDepthwiseConv2d, type, {1, 6, 6, 5}, {1, 3, 3, 5}, {1, 6, 6, 5},
                      window(3, 3, 1, 1, 5, 1, 1));
    check_convolution(NodeKind::kDepthwiseConv2d, type, {1, 6, 6, 3}, {1, 3, 3, 6}, {1, 3, 3, 6},
                      window(3, 3, 2, 1, 3, 1, 2), false);
  }
}

TEST_CASE("transposed convolutions") {
  for (const DataType type : kFloats) {
    auto params = window(3, 3, 2, 1, 1, 3, 4);
    params.adjust_height = params.adjust_width = 1;
    check_convolution(NodeKind::kConvTranspose2d, type, {1, 4, 5, 3}, {4, 3, 3, 3}, {1, 8, 10, 4}, params);
    check_convolution(NodeKind::kConvTranspose2d, type, {2, 3, 3, 4}, {4, 2, 2, 2}, {2, 4, 4, 4},
                      window(2, 2, 1, 0, 2, 2, 2), false);
    check_convolution(NodeKind::kConvTranspose2d, type, {1, 3, 3, 2}, {3, 3, 3, 2}, {1, 7, 7, 3},
                      window(3, 3, 1, 0, 1, 2, 3, 2));
  }
}

TEST_CASE("a convolution that reads a bounded result keeps its padding") {
  // XNNPACK's own fusion of a Clamp into a convolution writes the bounds over the padding.
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 5, 5, 3});
  const auto w = float_constant(builder, DataType::kFp32, {4, 3, 3, 3}, 3);
  const auto middle = builder.internal(DataType::kFp32, {1, 5, 5, 4});
  const auto y = builder.output(DataType::kFp32, {1, 5, 5, 4});
  builder.node(NodeKind::kConv2d, {x, w, kNoValue}, {middle}, window(3, 3, 1, 1, 1, 3, 4));
  builder.node(NodeKind::kClamp, {middle}, {y}).range = {2.0f, 3.0f};
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("pooling") {
  PoolingParams p;
  p.window_height = 3;
  p.window_width = 2;
  p.stride_height = p.stride_width = 2;
  p.pad_top = 1;
  for (const DataType type : kFloats) {
    check_node(NodeKind::kMaxPooling2d, type, {{2, 7, 6, 5}}, {2, 3, 3, 5}, p);
    check_node(NodeKind::kAvgPooling2d, type, {{2, 7, 6, 5}}, {2, 3, 3, 5}, p);
    PoolingParams pixel;
    pixel.window_height = pixel.window_width = 1;
    pixel.stride_height = pixel.stride_width = 2;
    check_node(NodeKind::kMaxPooling2d, type, {{1, 5, 5, 3}}, {1, 3, 3, 3}, pixel);
    PoolingParams dilated;
    dilated.window_height = dilated.window_width = dilated.dilation_height = dilated.dilation_width = 2;
    dilated.stride_height = dilated.stride_width = 1;
    check_node(NodeKind::kMaxPooling2d, type, {{1, 5, 5, 3}}, {1, 3, 3, 3}, dilated);
    check_node(NodeKind::kGlobalAvgPooling2d, type, {{2, 5, 4, 3}}, {2, 1, 1, 3}, {}, kFlagKeepDims);
    check_node(NodeKind::kGlobalAvgPooling2d, type, {{2, 5, 4, 3}}, {2, 3});
  }
}

TEST_CASE("ArgMaxPooling2d gives values and indices") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 4, 6, 3});
  const auto y = builder.output(DataType::kFp32, {1, 2, 2, 3});
  const auto index = builder.output(DataType::kInt32, {1, 2, 2, 3});
  PoolingParams p;
  p.window_height = 2;
  p.window_width = 3;
  p.stride_height = 2;
  p.stride_width = 3;
  builder.node(NodeKind::kArgMaxPooling2d, {x}, {y, index}, p);
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("Softmax and matrix products") {
  for (const DataType type : kFloats) {
    check_node(NodeKind::kSoftmax, type, {{3, 4, 19}}, {3, 4, 19}, {}, 0, -2.0, 2.0);
    check_node(NodeKind::kBatchMatrixMultiply, type, {{2, 3, 5}, {2, 5, 7}}, {2, 3, 7});
    check_node(NodeKind::kBatchMatrixMultiply, type, {{2, 3, 5}, {2, 7, 5}}, {2, 3, 7}, {}, kFlagTransposeWeights);
  }
  check_node(NodeKind::kBatchMatrixMultiply, DataType::kFp32, {{4, 1, 3, 5}, {2, 5, 7}}, {4, 2, 3, 7});
  PayloadBuilder builder;
  const auto a = builder.input(DataType::kFp32, {2, 3, 5});
  const auto b = float_constant(builder, DataType::kFp32, {2, 5, 7}, 8);
  const auto y = builder.output(DataType::kFp32, {2, 3, 7});
  builder.node(NodeKind::kBatchMatrixMultiply, {a, b}, {y});
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("nodes that move elements") {
  using enum NodeKind;
  for (const DataType type : kFloats) {
    check_node(kStaticTranspose, type, {{2, 3, 4, 5}}, {2, 5, 3, 4}, TransposeParams{{0, 3, 1, 2}});
    check_node(kStaticReshape, type, {{2, 3, 4}}, {6, 4}, ReshapeParams{{6, 0}});
    check_node(kStaticSlice, type, {{4, 5, 6}}, {2, 5, 3}, SliceParams{{1, 0, 3}, {2, 5, 3}});
    check_node(kStaticSlice, type, {{4, 5}}, {3, 5}, SliceParams{{1, 0}, {9, 0}});
    check_node(kStaticConstantPad, type, {{2, 3}}, {3, 6}, PadParams{{1, 1}, {0, 2}, 0.5f});
    check_node(kConcatenate2, type, {{2, 3}, {2, 1}}, {2, 4}, ConcatenateParams{1});
    check_node(kConcatenate3, type, {{1, 3}, {2, 3}, {1, 3}}, {4, 3}, ConcatenateParams{-2});
    check_node(kConcatenate4, type, {{1, 3}, {2, 3}, {1, 3}, {1, 3}}, {5, 3}, ConcatenateParams{0});
    check_node(kConcatenate5, type, {{1, 2}, {1, 1}, {1, 3}, {1, 1}, {1, 2}}, {1, 9}, ConcatenateParams{1});
    check_node(kStaticResizeBilinear2D, type, {{1, 4, 3, 2}}, {1, 7, 6, 2}, ResizeParams{7, 6});
    check_node(kStaticResizeBilinear2D, type, {{1, 4, 3, 2}}, {1, 7, 6, 2}, ResizeParams{7, 6}, kFlagAlignCorners);
  }
}

TEST_CASE("conversions between float types") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {2, 9});
  const auto half = builder.output(DataType::kFp16, {2, 9});
  builder.node(NodeKind::kConvert, {x}, {half});
  check_graph(builder, {0, 1.0 / 2048});
}

TEST_CASE("ArgMaxPooling2d whose indices nobody reads") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 4, 6, 3});
  const auto y = builder.output(DataType::kFp32, {1, 2, 2, 3});
  const auto index = builder.internal(DataType::kFp32, {1, 2, 2, 3});
  PoolingParams p;
  p.window_height = p.stride_height = 2;
  p.window_width = p.stride_width = 3;
  builder.node(NodeKind::kArgMaxPooling2d, {x}, {y, index}, p);
  check_graph(builder, kFloatTolerance);
}
