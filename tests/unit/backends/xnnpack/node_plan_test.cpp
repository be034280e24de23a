// The plan that is built from a payload: which nodes are left, and that the results stay.
#include "backends/xnnpack/node_plan.h"

#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack/xnnpack_backend.h"
#include "backends/xnnpack_payload/payload_reader.h"
#include "backends/xnnpack_payload/shape_inference.h"
#include "support/numeric.h"
#include "support/operator_call.h"
#include "unit/backends/xnnpack/graph_check.h"

using namespace pterun;
using namespace pterun::test;
using namespace pterun::xnnpack_payload;
using backends::xnn::NodePlan;

namespace {

NodePlan plan(PayloadBuilder& builder, bool specialise) {
  const auto payload = builder.write();
  const auto graph = read_payload(payload, [&](std::string_view key) { return builder.named_data().find(key); });
  REQUIRE(graph);
  const auto shapes = infer_declared_shapes(*graph);
  REQUIRE(shapes);
  return backends::xnn::plan_nodes(*graph, *shapes, specialise);
}

std::vector<NodeKind> kinds(PayloadBuilder& builder, bool specialise = true) {
  std::vector<NodeKind> result;
  for (const Node& node : plan(builder, specialise).nodes)
    result.push_back(node.kind);
  return result;
}

using Kinds = std::vector<NodeKind>;

ConvolutionParams kernel(std::uint32_t size, std::uint32_t pad, std::uint32_t in, std::uint32_t out) {
  ConvolutionParams p;
  p.pad_top = p.pad_right = p.pad_bottom = p.pad_left = pad;
  p.kernel_height = p.kernel_width = size;
  p.stride_height = p.stride_width = p.dilation_height = p.dilation_width = p.groups = 1;
  p.group_input_channels = in;
  p.group_output_channels = out;
  return p;
}

}  // namespace

TEST_CASE("bounds are folded into the node before, unless others see its result") {
  for (const bool shared : {false, true}) {
    PayloadBuilder builder;
    const auto x = builder.input(DataType::kFp32, {1, 5, 5, 3});
    const auto w = float_constant(builder, DataType::kFp32, {4, 3, 3, 3}, 3);
    const auto middle = builder.internal(DataType::kFp32, {1, 5, 5, 4});
    const auto y = builder.output(DataType::kFp32, {1, 5, 5, 4});
    builder.node(NodeKind::kConv2d, {x, w, kNoValue}, {middle}, kernel(3, 1, 3, 4)).range.min = -0.5f;
    builder.node(NodeKind::kClamp, {middle}, {y}).range = {-2.0f, 0.25f};
    if (shared) {
      const auto other = builder.output(DataType::kFp32, {1, 5, 5, 4});
      builder.node(NodeKind::kNegate, {middle}, {other});
    }
    const auto expected =
        shared ? Kinds{NodeKind::kConv2d, NodeKind::kClamp, NodeKind::kNegate} : Kinds{NodeKind::kConv2d};
    CHECK(kinds(builder) == expected);
    CHECK(plan(builder, true).nodes[0].range.min == -0.5f);
    CHECK(plan(builder, true).nodes[0].range.max == (shared ? std::numeric_limits<float>::infinity() : 0.25f));
    check_graph(builder, kFloatTolerance);
  }
}

TEST_CASE("bounds that exclude each other stay two nodes") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {9});
  const auto middle = builder.internal(DataType::kFp32, {9});
  const auto y = builder.output(DataType::kFp32, {9});
  builder.node(NodeKind::kAdd, {x, x}, {middle}).range = {0.0f, 6.0f};
  builder.node(NodeKind::kClamp, {middle}, {y}).range = {-5.0f, -1.0f};
  CHECK(kinds(builder).size() == 2);
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("zero padding is folded into a convolution, other padding is not") {
  for (const float value : {0.0f, 1.0f}) {
    PayloadBuilder builder;
    const auto x = builder.input(DataType::kFp32, {1, 5, 5, 3});
    const auto padded = builder.internal(DataType::kFp32, {1, 8, 7, 3});
    const auto w = float_constant(builder, DataType::kFp32, {4, 3, 3, 3}, 3);
    const auto y = builder.output(DataType::kFp32, {1, 8, 7, 4});
    builder.node(NodeKind::kStaticConstantPad, {x}, {padded}, PadParams{{0, 1, 0, 0}, {0, 2, 2, 0}, value});
    builder.node(NodeKind::kConv2d, {padded, w, kNoValue}, {y}, kernel(3, 1, 3, 4));
    CHECK(kinds(builder).size() == (value == 0.0f ? 1 : 2));
    check_graph(builder, kFloatTolerance);
  }
}

TEST_CASE("copies and nodes that nobody reads are gone") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {4});
  const auto a = builder.internal(DataType::kFp32, {4});
  const auto b = builder.internal(DataType::kFp32, {4});
  const auto unread = builder.internal(DataType::kFp32, {4});
  const auto y = builder.output(DataType::kFp32, {4});
  const auto z = builder.output(DataType::kFp32, {4});
  builder.node(NodeKind::kCopy, {x}, {a});
  builder.node(NodeKind::kSigmoid, {a}, {b});
  builder.node(NodeKind::kExp, {b}, {unread});
  builder.node(NodeKind::kCopy, {b}, {y});
  builder.node(NodeKind::kNegate, {b}, {z});
  for (const bool specialise : {false, true}) {
    CHECK(kinds(builder, specialise) == Kinds{NodeKind::kSigmoid, NodeKind::kNegate});
  }
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("an input that is an output as it is stays a copy") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {4});
  const auto y = builder.output(DataType::kFp32, {4});
  const auto z = builder.output(DataType::kFp32, {4});
  builder.node(NodeKind::kCopy, {x}, {y});
  builder.node(NodeKind::kCopy, {y}, {z});
  CHECK(kinds(builder).size() == 2);
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("for fixed shapes, transposes that move nothing and outer reshapes are gone") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 6, 1});
  const auto a = builder.internal(DataType::kFp32, {1, 6, 1, 1});
  const auto b = builder.internal(DataType::kFp32, {1, 1, 1, 6});
  const auto c = builder.internal(DataType::kFp32, {1, 1, 1, 6});
  const auto d = builder.internal(DataType::kFp32, {1, 6, 1, 1});
  const auto y = builder.output(DataType::kFp32, {6});
  builder.node(NodeKind::kStaticReshape, {x}, {a}, ReshapeParams{{1, 6, 1, 1}});
  builder.node(NodeKind::kStaticTranspose, {a}, {b}, TransposeParams{{0, 2, 3, 1}});
  builder.node(NodeKind::kTanh, {b}, {c});
  builder.node(NodeKind::kStaticTranspose, {c}, {d}, TransposeParams{{0, 3, 1, 2}});
  builder.node(NodeKind::kStaticReshape, {d}, {y}, ReshapeParams{{6}});
  CHECK(kinds(builder, true) == Kinds{NodeKind::kTanh});
  CHECK(kinds(builder, false).size() == 5);
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("a transpose that moves something stays") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {2, 3, 1});
  const auto y = builder.output(DataType::kFp32, {1, 3, 2});
  builder.node(NodeKind::kStaticTranspose, {x}, {y}, TransposeParams{{2, 1, 0}});
  CHECK(kinds(builder) == Kinds{NodeKind::kStaticTranspose});
  check_graph(builder, kFloatTolerance);
}

TEST_CASE("a view from one quantisation to another moves, then converts") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kQint8, {2, 6}, PerTensorQuantization{0.05f, 0});
  const auto y = builder.output(DataType::kQint8, {3, 4}, PerTensorQuantization{0.1f, 3});
  builder.node(NodeKind::kStaticReshape, {x}, {y}, ReshapeParams{{3, 4}});
  check_graph(builder, {});
}

TEST_CASE("other shapes than the payload's get a runtime for any shape, and the weights stay packed") {
  const auto backend = backends::make_xnnpack_backend();
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {8, 1, 4});
  const auto a = builder.internal(DataType::kFp32, {1, 8, 4});
  const auto w = float_constant(builder, DataType::kFp32, {3, 4}, 3);
  const auto y = builder.output(DataType::kFp32, {1, 8, 3});
  builder.node(NodeKind::kStaticTranspose, {x}, {a}, TransposeParams{{1, 0, 2}});
  builder.node(NodeKind::kFullyConnected, {a, w, kNoValue}, {y});
  DelegateHarness harness(*backend);
  REQUIRE_RESULT(harness.init(builder));
  CHECK(harness.metric("nodes_run") == 1);
  const auto packed = harness.metric("packed_here_bytes");
  HostTensor out = make_dynamic_output(DType::kFloat32, {1, 8, 3});
  std::vector<double> first;
  for (const std::int64_t rows : {8, 2, 5, 8}) {
    HostTensor in = make_tensor(DType::kFloat32, {rows, 1, 4}, random_values(static_cast<std::size_t>(rows * 4), 5));
    REQUIRE_RESULT(harness.execute({&in.view(), &out.view()}));
    CHECK(out.view().shape() == Shape{1, rows, 3});
    if (first.empty()) first = values_of(out);
    const auto rows_now = values_of(out);
    // Each row depends on its input row only; the random values begin the same.
    CHECK(std::equal(rows_now.begin(), rows_now.end(), first.begin()));
  }
  CHECK(harness.metric("nodes_run") == 2);
  CHECK(harness.metric("packed_here_bytes") == packed);
  CHECK(harness.metric("weight_cache_misses") == 1);
}
