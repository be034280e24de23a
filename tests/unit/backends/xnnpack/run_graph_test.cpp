// Nodes taken out of their graph and run by themselves, against the reference in double.
#include "backends/xnnpack/run_graph.h"

#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack_payload/node_graph.h"
#include "backends/xnnpack_payload/payload_reader.h"
#include "backends/xnnpack_payload/shape_inference.h"
#include "support/graph_reference.h"
#include "support/numeric.h"
#include "support/operator_call.h"
#include "unit/backends/xnnpack/graph_check.h"

using namespace pterun;
using namespace pterun::test;
using namespace pterun::xnnpack_payload;

namespace {

double scale_of(const xnnpack_payload::Value& value) {
  const auto* quantization = value.quantized_as<PerTensorQuantization>();
  return quantization == nullptr ? 0.0 : static_cast<double>(quantization->scale);
}

std::vector<double> reals_of(const xnnpack_payload::Value& value, const Tensor& tensor) {
  std::vector<double> numbers = values_of(tensor);
  const auto* quantization = value.quantized_as<PerTensorQuantization>();
  for (double& number : numbers)
    if (quantization != nullptr) number = (number - quantization->zero_point) * scale_of(value);
  return numbers;
}

// Runs the node at `position` alone, on random elements, and judges all its outputs. Returns how many inputs it had.
std::size_t check_alone(PayloadBuilder& builder, std::size_t position, Tolerance tolerance) {
  const std::vector<std::byte> payload = builder.write();
  const auto whole = read_payload(payload, [&](std::string_view key) { return builder.named_data().find(key); });
  REQUIRE(whole);
  auto taken = take_node(*whole, position);
  REQUIRE(taken);
  const auto again = take_node(*whole, position);  // its graph is still there after the other has run
  REQUIRE(again);
  const PayloadGraph& graph = again->graph;
  const auto dtypes = backends::argument_dtypes(graph, graph.inputs);
  REQUIRE_RESULT(dtypes);
  std::vector<HostTensor> inputs;
  std::map<ValueIndex, std::vector<double>> reals;
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const xnnpack_payload::Value& value = graph.values[graph.inputs[i]];
    const auto count = static_cast<std::size_t>(value.dims.numel());
    const auto seed = static_cast<std::uint32_t>(i + 1);
    inputs.push_back(
        make_tensor((*dtypes)[i], value.dims,
                    is_floating((*dtypes)[i]) ? random_values(count, seed) : random_integers(count, seed, 0, 127)));
    reals[graph.inputs[i]] = reals_of(value, inputs.back().view());
    shapes.push_back(value.dims);
  }
  ThreadPool threads(1);
  CollectingLog log;
  const auto results = backends::run_graph(std::move(taken->graph), inputs, threads, log);
  REQUIRE(results);
  const auto inferred = infer_shapes(graph, shapes);
  REQUIRE_RESULT(inferred);
  const auto want = compute_reference(graph, reals, *inferred);
  REQUIRE(results->size() == graph.outputs.size());
  for (std::size_t i = 0; i < results->size(); ++i) {
    INFO("output " << i);
    const xnnpack_payload::Value& value = graph.values[graph.outputs[i]];
    const double atol = std::max(tolerance.atol, 1.001 * scale_of(value));  // one quantum
    CHECK(largest_excess(reals_of(value, (*results)[i].view()), want.at(graph.outputs[i]), atol, tolerance.rtol) <= 0);
  }
  return inputs.size();
}

std::vector<std::int8_t> weights(std::size_t count) {
  std::vector<std::int8_t> result;
  for (const double number : random_integers(count, 3, -127, 127))
    result.push_back(static_cast<std::int8_t>(number));
  return result;
}

ConvolutionParams window3(std::uint32_t in, std::uint32_t out) {
  ConvolutionParams p;
  p.pad_top = p.pad_right = p.pad_bottom = p.pad_left = 1;
  p.kernel_height = p.kernel_width = 3;
  p.stride_height = p.stride_width = p.dilation_height = p.dilation_width = p.groups = 1;
  p.group_input_channels = in;
  p.group_output_channels = out;
  return p;
}

}  // namespace

TEST_CASE("a quantised convolution runs without its neighbours") {
  PayloadBuilder builder;
  const PerTensorQuantization in{0.05f, 3};
  const PerTensorQuantization out{0.2f, -5};
  const auto x = builder.input(DataType::kFp32, {1, 5, 5, 4});
  const auto q = builder.internal(DataType::kQint8, {1, 5, 5, 4}, in);
  const auto w = builder.constant(DataType::kQint8, {6, 3, 3, 4}, weights(216), PerTensorQuantization{0.02f, 0});
  const auto b = builder.constant(DataType::kQint32, {6}, std::vector<std::int32_t>{1, -200, 300, 4, 50, -6},
                                  PerTensorQuantization{0.05f * 0.02f, 0});
  const auto conv = builder.internal(DataType::kQint8, {1, 5, 5, 6}, out);
  const auto y = builder.output(DataType::kFp32, {1, 5, 5, 6});
  builder.node(NodeKind::kConvert, {x}, {q});
  builder.node(NodeKind::kConv2d, {q, w, b}, {conv}, window3(4, 6));
  builder.node(NodeKind::kConvert, {conv}, {y});
  for (std::size_t node = 0; node < 3; ++node) {
    INFO("node " << node);
    CHECK(check_alone(builder, node, kFloatTolerance) == 1);
  }
}

TEST_CASE("a product of dynamically quantised activations takes the node along that quantises them") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {3, 64});
  const auto clamped = builder.internal(DataType::kFp32, {3, 64});
  const auto q = builder.internal(DataType::kQdint8, {3, 64}, DynamicQuantization{1});
  const auto w = builder.constant(DataType::kQcint8, {18, 64}, weights(18 * 64),
                                  PerChannelQuantization{std::vector<float>(18, 0.01f), 0, 0, {}});
  const auto y = builder.output(DataType::kFp32, {3, 18});
  builder.node(NodeKind::kClamp, {x}, {clamped}).range = {-0.9f, 0.9f};
  builder.node(NodeKind::kConvert, {clamped}, {q});
  builder.node(NodeKind::kFullyConnected, {q, w, kNoValue}, {y});
  CHECK(check_alone(builder, 2, {0.04, 1e-4}) == 1);
}

TEST_CASE("a concatenation takes each of its inputs once") {
  PayloadBuilder builder;
  const auto a = builder.input(DataType::kFp32, {2, 3});
  const auto b = builder.input(DataType::kFp32, {2, 5});
  const auto y = builder.output(DataType::kFp32, {2, 11});
  builder.node(NodeKind::kConcatenate3, {a, b, a}, {y}, ConcatenateParams{1});
  CHECK(check_alone(builder, 0, {}) == 2);
}

TEST_CASE("constants stay with a node that reads them beside an input") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp16, {2, 3, 5});
  const auto c = float_constant(builder, DataType::kFp16, {2, 5, 7}, 8);
  const auto y = builder.output(DataType::kFp16, {2, 3, 7});
  builder.node(NodeKind::kBatchMatrixMultiply, {x, c}, {y});
  CHECK(check_alone(builder, 0, kHalfTolerance) == 1);
}

TEST_CASE("a node with two results gives both") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 4, 6, 3});
  const auto y = builder.output(DataType::kFp32, {1, 2, 2, 3});
  const auto index = builder.internal(DataType::kInt32, {1, 2, 2, 3});
  PoolingParams p;
  p.window_height = p.stride_height = 2;
  p.window_width = p.stride_width = 3;
  builder.node(NodeKind::kArgMaxPooling2d, {x}, {y, index}, p);
  CHECK(check_alone(builder, 0, kFloatTolerance) == 1);
}

TEST_CASE("another number of inputs than the graph's is an error") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {2});
  const auto y = builder.output(DataType::kFp32, {2});
  builder.node(NodeKind::kAbs, {x}, {y});
  auto taken = take_node(*read_payload(builder.write(), [](std::string_view) -> Result<Bytes> { return Bytes(); }), 0);
  REQUIRE(taken);
  ThreadPool threads(1);
  CollectingLog log;
  const auto results = backends::run_graph(std::move(taken->graph), {}, threads, log);
  REQUIRE_FALSE(results);
  CHECK(results.error().message == "the graph takes 1 inputs, 0 were given");
}
