// Nodes taken out of their graph: operands, roles, and nodes that cannot be.
#include "backends/xnnpack_payload/node_graph.h"

#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack_payload/payload_reader.h"
#include "support/payload_builder.h"

using namespace pterun;
using namespace pterun::xnnpack_payload;
using test::PayloadBuilder;

namespace {

// Convert to dynamic int8, two products of that, and their sum.
struct Dynamic {
  PayloadBuilder builder;
  std::vector<std::byte> payload;
  Result<PayloadGraph> graph = fail(ErrorCode::kInternal, "not read");

  Dynamic() {
    const auto x = builder.input(DataType::kFp32, {2, 4});
    const auto q = builder.internal(DataType::kQdint8, {2, 4}, DynamicQuantization{1});
    const PerChannelQuantization scales{std::vector<float>(4, 0.5f), 0, 0, {}};
    const auto w = builder.constant(DataType::kQcint8, {4, 4}, std::vector<std::int8_t>(16, 1), scales);
    const auto a = builder.internal(DataType::kFp32, {2, 4});
    const auto b = builder.internal(DataType::kFp32, {2, 4});
    const auto y = builder.output(DataType::kFp32, {2, 4});
    builder.node(NodeKind::kConvert, {x}, {q});
    builder.node(NodeKind::kFullyConnected, {q, w, kNoValue}, {a});
    builder.node(NodeKind::kFullyConnected, {q, w, kNoValue}, {b});
    builder.node(NodeKind::kAdd, {a, b}, {y});
    payload = builder.write();
    graph = read_payload(payload, [this](std::string_view key) { return builder.named_data().find(key); });
  }
};

}  // namespace

TEST_CASE("a node's inputs and outputs become those of its graph") {
  Dynamic whole;
  REQUIRE(whole.graph);
  const auto taken = take_node(*whole.graph, 3);
  REQUIRE(taken);
  const PayloadGraph& graph = taken->graph;
  REQUIRE(graph.nodes.size() == 1);
  CHECK(graph.nodes[0].kind == NodeKind::kAdd);
  CHECK(taken->node == 0);
  REQUIRE(graph.inputs.size() == 2);
  REQUIRE(graph.outputs.size() == 1);
  CHECK(graph.values.size() == 3);
  CHECK(graph.num_externs == 3);
  CHECK(graph.values[graph.inputs[1]].is_input);
  CHECK(graph.values[graph.inputs[1]].external_id == 1);
  CHECK(graph.values[graph.inputs[1]].dims == Shape{2, 4});
  CHECK(graph.values[graph.outputs[0]].is_output);
  CHECK(graph.values[graph.outputs[0]].external_id == 2);
  CHECK(taken->inputs == visible_inputs(*whole.graph, whole.graph->nodes[3]));
}

TEST_CASE("a dynamically quantised operand is replaced by what it is made of") {
  Dynamic whole;
  REQUIRE(whole.graph);
  const auto taken = take_node(*whole.graph, 2);
  REQUIRE(taken);
  REQUIRE(taken->graph.nodes.size() == 2);
  CHECK(taken->graph.nodes[0].kind == NodeKind::kConvert);
  CHECK(taken->node == 1);
  CHECK(taken->inputs == whole.graph->inputs);
  CHECK(taken->graph.outputs.size() == 1);
  for (const xnnpack_payload::Value& value : taken->graph.values) {
    CHECK(value.is_external() == (value.type == DataType::kFp32));
    CHECK(value.is_constant == (value.type == DataType::kQcint8));
  }
}

TEST_CASE("a result that exists only inside XNNPACK cannot be taken out, its reader is named") {
  Dynamic whole;
  REQUIRE(whole.graph);
  const auto taken = take_node(*whole.graph, 0);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == ErrorCode::kNotSupported);
  CHECK(taken.error().message == "the result of node 0 (Convert) exists only inside XNNPACK");
  CHECK(taken.error().hint == "run the node that reads it: 1 (FullyConnected)");
}

TEST_CASE("a node that there is not is an error with the number of those there are") {
  Dynamic whole;
  REQUIRE(whole.graph);
  const auto taken = take_node(*whole.graph, 4);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().message == "there is no node 4, the delegate has 4");
}
