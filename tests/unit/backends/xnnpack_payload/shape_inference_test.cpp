// Shapes by node kind, and the shapes that do not fit.
#include "backends/xnnpack_payload/shape_inference.h"

#include <catch2/catch_test_macros.hpp>

#include "support/payload_builder.h"

using namespace pterun;
using namespace pterun::xnnpack_payload;
using test::PayloadBuilder;

namespace {

// One node on float inputs of these shapes; weights are inputs here, since only shapes matter.
Result<Shape> infer(NodeKind kind, const std::vector<Shape>& inputs, NodeParams params = {}, std::uint32_t flags = 0) {
  PayloadBuilder builder;
  std::vector<ValueIndex> ids;
  for (const Shape& shape : inputs)
    ids.push_back(builder.input(DataType::kFp32, shape));
  const auto output = builder.output(DataType::kFp32, {});
  builder.node(kind, ids, {output}, std::move(params)).flags = flags;
  const auto shapes = infer_shapes(builder.graph(), inputs);
  if (!shapes) {
    CHECK(shapes.error().code == ErrorCode::kInvalidArgument);
    CHECK(shapes.error().where.contains("node"));
    return fail(shapes.error());
  }
  return shapes->at(output);
}

void check_shape(const Result<Shape>& found, const Shape& expected) {
  if (!found) FAIL(found.error().to_string());
  CHECK(*found == expected);
}

ConvolutionParams window(std::uint32_t kernel, std::uint32_t stride, std::uint32_t pad, std::uint32_t dilation,
                         std::uint32_t groups, std::uint32_t in, std::uint32_t out) {
  ConvolutionParams p;
  p.pad_top = p.pad_right = p.pad_bottom = p.pad_left = pad;
  p.kernel_height = p.kernel_width = kernel;
  p.stride_height = p.stride_width = stride;
  p.dilation_height = p.dilation_width = dilation;
  p.groups = groups;
  p.group_input_channels = in;
  p.group_output_channels = out;
  return p;
}

}  // namespace

TEST_CASE("elementwise kinds keep or broadcast shapes") {
  check_shape(infer(NodeKind::kSigmoid, {{2, 3}}), {2, 3});
  check_shape(infer(NodeKind::kAdd, {{2, 1, 4}, {3, 1}}), {2, 3, 4});
  check_shape(infer(NodeKind::kMultiply, {{}, {3, 2}}), {3, 2});
  check_shape(infer(NodeKind::kAdd, {{0, 3}, {1, 3}}), {0, 3});
  CHECK(!infer(NodeKind::kAdd, {{2, 3}, {2, 4}}));
  CHECK(!infer(NodeKind::kSoftmax, {{}}));
}

TEST_CASE("FullyConnected replaces the last dim") {
  check_shape(infer(NodeKind::kFullyConnected, {{2, 5, 4}, {3, 4}, {3}}), {2, 5, 3});
  check_shape(infer(NodeKind::kFullyConnected, {{2, 4}, {4, 3}, {3}}, {}, kFlagTransposeWeights), {2, 3});
  check_shape(infer(NodeKind::kFullyConnected, {{2, 2, 4}, {3, 8}, {3}}, {}, kFlagReshape2d), {2, 3});
  CHECK(!infer(NodeKind::kFullyConnected, {{2, 8}, {3, 4}, {3}}));  // XNNPACK would write 4 rows
  CHECK(!infer(NodeKind::kFullyConnected, {{2, 4}, {3, 4}, {2}}));  // and read past this bias
  CHECK(!infer(NodeKind::kFullyConnected, {{2, 4}, {3, 4, 1}, {3}}));
  CHECK(!infer(NodeKind::kFullyConnected, {{}, {3, 4}, {3}}));
}

TEST_CASE("convolutions slide their kernel") {
  check_shape(infer(NodeKind::kConv2d, {{1, 8, 9, 4}, {6, 3, 3, 2}, {6}}, window(3, 2, 1, 1, 2, 2, 3)), {1, 4, 5, 6});
  check_shape(
      infer(NodeKind::kConv2d, {{1, 8, 8, 1}, {1, 3, 3, 1}, {1}}, window(3, 2, 0, 1, 1, 1, 1), kFlagSamePadding),
      {1, 4, 4, 1});
  check_shape(infer(NodeKind::kDepthwiseConv2d, {{1, 5, 5, 3}, {1, 3, 3, 6}, {6}}, window(3, 1, 0, 2, 3, 1, 2)),
              {1, 1, 1, 6});
  auto transposed = window(3, 2, 1, 1, 1, 2, 4);
  transposed.adjust_height = 1;
  check_shape(infer(NodeKind::kConvTranspose2d, {{1, 4, 4, 2}, {4, 3, 3, 2}, {4}}, transposed), {1, 8, 7, 4});
}

TEST_CASE("convolutions refuse filters, biases and inputs of other shapes") {
  const auto conv = [](const Shape& input, const Shape& filter, const Shape& bias, ConvolutionParams params) {
    return infer(NodeKind::kConv2d, {input, filter, bias}, params);
  };
  const auto good = window(3, 1, 0, 1, 1, 2, 4);
  check_shape(conv({1, 3, 3, 2}, {4, 3, 3, 2}, {4}, good), {1, 1, 1, 4});
  CHECK(!conv({1, 3, 3, 2}, {4, 3, 3, 1}, {4}, good));
  CHECK(!conv({1, 3, 3, 2}, {4, 3, 3, 2}, {3}, good));
  CHECK(!conv({1, 3, 3, 3}, {4, 3, 3, 2}, {4}, good));
  CHECK(!conv({3, 3, 2}, {4, 3, 3, 2}, {4}, good));
  CHECK(!conv({1, 2, 3, 2}, {4, 3, 3, 2}, {4}, good));
  CHECK(!conv({1, 3, 3, 2}, {4, 3, 3, 2}, {4}, window(3, 0, 0, 1, 1, 2, 4)));
  CHECK(!conv({1, 3, 3, 2}, {4, 3, 3, 2}, {4}, window(3, 1, 0xFFFFFFFF, 1, 1, 2, 4)));
  auto adjusted = window(3, 2, 1, 1, 1, 2, 4);
  adjusted.adjust_width = 2;
  CHECK(!infer(NodeKind::kConvTranspose2d, {{1, 4, 4, 2}, {4, 3, 3, 2}, {4}}, adjusted));
}

TEST_CASE("pooling slides or swallows the image") {
  PoolingParams p;
  p.window_height = p.window_width = p.stride_height = p.stride_width = 2;
  check_shape(infer(NodeKind::kMaxPooling2d, {{1, 5, 4, 3}}, p), {1, 2, 2, 3});
  p.pad_top = 1;
  check_shape(infer(NodeKind::kAvgPooling2d, {{1, 5, 4, 3}}, p), {1, 3, 2, 3});
  check_shape(infer(NodeKind::kGlobalAvgPooling2d, {{2, 5, 4, 3}}, {}, kFlagKeepDims), {2, 1, 1, 3});
  check_shape(infer(NodeKind::kGlobalAvgPooling2d, {{2, 5, 4, 3}}), {2, 3});
  p.window_width = 0;
  CHECK(!infer(NodeKind::kMaxPooling2d, {{1, 5, 4, 3}}, p));
  CHECK(!infer(NodeKind::kGlobalAvgPooling2d, {{4, 3}}));
}

TEST_CASE("matrix products broadcast their batches") {
  check_shape(infer(NodeKind::kBatchMatrixMultiply, {{5, 1, 2, 3}, {4, 3, 6}}), {5, 4, 2, 6});
  check_shape(infer(NodeKind::kBatchMatrixMultiply, {{2, 3}, {6, 3}}, {}, kFlagTransposeWeights), {2, 6});
  CHECK(!infer(NodeKind::kBatchMatrixMultiply, {{2, 3}, {4, 6}}));
  CHECK(!infer(NodeKind::kBatchMatrixMultiply, {{2, 2, 3}, {3, 3, 6}}));
  CHECK(!infer(NodeKind::kBatchMatrixMultiply, {{3}, {3, 6}}));
}

TEST_CASE("kinds that move elements") {
  check_shape(infer(NodeKind::kStaticTranspose, {{2, 3, 4}}, TransposeParams{{2, 0, 1}}), {4, 2, 3});
  CHECK(!infer(NodeKind::kStaticTranspose, {{2, 3, 4}}, TransposeParams{{2, 0}}));
  CHECK(!infer(NodeKind::kStaticTranspose, {{2, 3}}, TransposeParams{{1, 1}}));
  CHECK(!infer(NodeKind::kStaticTranspose, {{2, 3}}, TransposeParams{{0, 9}}));

  check_shape(infer(NodeKind::kStaticReshape, {{2, 6}}, ReshapeParams{{3, 0}}), {3, 4});
  check_shape(infer(NodeKind::kStaticReshape, {{2, 6}}, ReshapeParams{{12}}), {12});
  CHECK(!infer(NodeKind::kStaticReshape, {{2, 6}}, ReshapeParams{{5, 0}}));
  CHECK(!infer(NodeKind::kStaticReshape, {{2, 6}}, ReshapeParams{{0, 0}}));
  CHECK(!infer(NodeKind::kStaticReshape, {{2, 6}}, ReshapeParams{{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}));

  check_shape(infer(NodeKind::kStaticSlice, {{4, 5}}, SliceParams{{1, 0}, {2, 0}}), {2, 5});
  check_shape(infer(NodeKind::kStaticSlice, {{4, 5}}, SliceParams{{1, 0}, {9, 5}}), {3, 5});  // cut off at the end
  check_shape(infer(NodeKind::kStaticSlice, {{4, 5}}, SliceParams{{7, 0}, {1, 5}}), {0, 5});
  CHECK(!infer(NodeKind::kStaticSlice, {{4, 5}}, SliceParams{{1}, {2}}));

  check_shape(infer(NodeKind::kStaticConstantPad, {{2, 3}}, PadParams{{1, 0}, {0, 2}, 0.5f}), {3, 5});
  CHECK(!infer(NodeKind::kStaticConstantPad, {{2, 3}}, PadParams{{1}, {0}, 0.5f}));

  check_shape(infer(NodeKind::kConcatenate3, {{2, 3}, {2, 1}, {2, 4}}, ConcatenateParams{1}), {2, 8});
  check_shape(infer(NodeKind::kConcatenate2, {{2, 3}, {2, 1}}, ConcatenateParams{-1}), {2, 4});
  CHECK(!infer(NodeKind::kConcatenate2, {{2, 3}, {3, 1}}, ConcatenateParams{1}));
  CHECK(!infer(NodeKind::kConcatenate2, {{2, 3}, {2, 3}}, ConcatenateParams{2}));

  check_shape(infer(NodeKind::kStaticResizeBilinear2D, {{1, 2, 3, 4}}, ResizeParams{5, 6}), {1, 5, 6, 4});
  CHECK(!infer(NodeKind::kStaticResizeBilinear2D, {{1, 2, 3, 4}}, ResizeParams{0, 6}));
}

TEST_CASE("refuses results too large to hold") {
  PadParams pad{{0xFFFFFFFF, 0xFFFFFFFF}, {0xFFFFFFFF, 0xFFFFFFFF}, 0.0f};
  CHECK(!infer(NodeKind::kStaticConstantPad, {{1, 1}}, pad));
}

TEST_CASE("refuses an input of another rank, and blames the program for its own shapes") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {2, 3});
  const auto k = builder.constant<float>(DataType::kFp32, {2}, {1, 2});
  const auto y = builder.output(DataType::kFp32, {2, 3});
  builder.node(NodeKind::kAdd, {x, k}, {y});
  const Shape flat[] = {{6}};
  CHECK(!infer_shapes(builder.graph(), flat));
  const auto declared = infer_declared_shapes(builder.graph());
  REQUIRE(!declared);
  CHECK(declared.error().code == ErrorCode::kInvalidProgram);
  CHECK(declared.error().blame == Blame::kProgram);
}
