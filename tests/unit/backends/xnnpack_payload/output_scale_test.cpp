// The scale that a delegate's output has or was converted from.
#include "backends/xnnpack_payload/output_scale.h"

#include <catch2/catch_test_macros.hpp>

namespace pterun::xnnpack_payload {
namespace {

Value value(DataType type, Quantization quantization = {}) {
  Value result;
  result.type = type;
  result.dims = Shape{1, 2};
  result.quantization = std::move(quantization);
  return result;
}

Node node(NodeKind kind, ValueIndex input, ValueIndex output) {
  Node result;
  result.kind = kind;
  result.inputs[0] = input;
  result.outputs[0] = output;
  result.num_inputs = result.num_outputs = 1;
  return result;
}

// input -> `first` -> quantised or float value -> `second` -> output, whose external id is 1.
PayloadGraph chain(Value middle, NodeKind first, NodeKind second, Value output) {
  PayloadGraph graph;
  graph.values = {value(DataType::kFp32), std::move(middle), std::move(output)};
  graph.values[0].is_input = true;
  graph.values[2].is_output = true;
  graph.values[2].external_id = 1;
  graph.nodes = {node(first, 0, 1), node(second, 1, 2)};
  graph.num_externs = 2;
  graph.inputs = {0};
  graph.outputs = {2};
  return graph;
}

TEST_CASE("a quantised output has its own scale") {
  const auto graph = chain(value(DataType::kFp32), NodeKind::kTanh, NodeKind::kConvert,
                           value(DataType::kQint8, PerTensorQuantization{0.5f, 3}));
  CHECK(output_scale(graph, 1) == 0.5);
}

TEST_CASE("a float output has the scale that it was converted from, through nodes that move elements") {
  const Value middle = value(DataType::kQint8, PerTensorQuantization{0.25f, 0});
  CHECK(output_scale(chain(middle, NodeKind::kConvert, NodeKind::kConvert, value(DataType::kFp32)), 1) == 0.25);
  CHECK(output_scale(chain(middle, NodeKind::kConvert, NodeKind::kStaticTranspose, value(DataType::kFp32)), 1) == 0.25);
}

TEST_CASE("an output that was computed in floating point has none, nor has an input or an absent one") {
  const Value middle = value(DataType::kQint8, PerTensorQuantization{0.25f, 0});
  CHECK_FALSE(output_scale(chain(middle, NodeKind::kConvert, NodeKind::kTanh, value(DataType::kFp32)), 1));
  const Value dynamic = value(DataType::kQdint8, DynamicQuantization{1});
  CHECK_FALSE(output_scale(chain(dynamic, NodeKind::kConvert, NodeKind::kFullyConnected, value(DataType::kFp32)), 1));
  const auto graph = chain(middle, NodeKind::kConvert, NodeKind::kConvert, value(DataType::kFp32));
  CHECK_FALSE(output_scale(graph, 0));
  CHECK_FALSE(output_scale(graph, 7));
}

}  // namespace
}  // namespace pterun::xnnpack_payload
