// The payload reader: what exporters write comes back, and what a hostile file says is refused with a name.
#include "backends/xnnpack_payload/payload_reader.h"

#include <cstring>
#include <functional>

#include <catch2/catch_test_macros.hpp>

#include "support/payload_builder.h"

using namespace pterun;
using namespace pterun::xnnpack_payload;
using test::ConstantPlace;
using test::PayloadBuilder;

namespace {

Result<PayloadGraph> read(const std::vector<std::byte>& payload, const test::FakeNamedData& named) {
  return read_payload(payload, [&](std::string_view key) { return named.find(key); });
}

// x[2, 4] -> FullyConnected(filter[3, 4], bias[3]) -> y[2, 3], ids 10 to 13.
struct LinearPayload : PayloadBuilder {
  ValueIndex x = input(DataType::kFp32, {2, 4});
  ValueIndex filter = constant<float>(DataType::kFp32, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {}, "filter");
  ValueIndex bias = constant<float>(DataType::kFp32, {3}, {1, 2, 3}, {}, "bias");
  ValueIndex y = output(DataType::kFp32, {2, 3});
  LinearPayload() { node(NodeKind::kFullyConnected, {x, filter, bias}, {y}).range = {0.0f, 6.0f}; }
};

Error error_of(PayloadBuilder& builder) {
  const auto payload = builder.write();
  const auto graph = read(payload, builder.named_data());
  REQUIRE(!graph);
  CHECK(graph.error().blame == Blame::kProgram);
  return graph.error();
}

void check_refused(PayloadBuilder& builder, ErrorCode code, std::string_view part) {
  const Error error = error_of(builder);
  INFO(error.to_string());
  CHECK(error.code == code);
  CHECK(error.message.find(part) != std::string::npos);
}

void check_value_refused(const std::function<void(test::ValueLie&)>& lie, std::string_view part,
                         ErrorCode code = ErrorCode::kInvalidProgram) {
  LinearPayload builder;
  lie(builder.value_lies[builder.filter]);
  check_refused(builder, code, part);
}

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace

TEST_CASE("reads a graph with constants from named data, the constant region and inline buffers") {
  for (const ConstantPlace place : {ConstantPlace::kNamed, ConstantPlace::kRegion, ConstantPlace::kInline}) {
    LinearPayload builder;
    builder.place = place;
    builder.identifier = place == ConstantPlace::kInline ? "XN00" : "XN01";
    const auto payload = builder.write();
    const auto graph = read(payload, builder.named_data());
    REQUIRE(graph);
    REQUIRE(graph->nodes.size() == 1);
    const Node& node = graph->nodes[0];
    CHECK(node.kind == NodeKind::kFullyConnected);
    CHECK(node.range.min == 0.0f);
    CHECK(node.range.max == 6.0f);
    REQUIRE(node.num_inputs == 3);
    const xnnpack_payload::Value& filter = graph->values[node.inputs[1]];
    CHECK(filter.is_constant);
    CHECK(filter.dims == Shape{3, 4});
    CHECK(filter.key == (place == ConstantPlace::kNamed ? "filter" : ""));
    REQUIRE(filter.data.size() == 48);
    float last;
    std::memcpy(&last, filter.data.data() + 44, sizeof last);
    CHECK(last == 12.0f);
    CHECK(graph->inputs == std::vector<ValueIndex>{node.inputs[0]});
    CHECK(graph->outputs == std::vector<ValueIndex>{node.outputs[0]});
    CHECK(graph->num_externs == 2);
  }
}

TEST_CASE("reads a payload at any address") {
  LinearPayload builder;
  builder.place = ConstantPlace::kInline;
  const auto payload = builder.write();
  std::vector<std::byte> shifted(payload.size() + 16);
  for (const std::size_t shift : {1, 4, 8}) {
    std::memcpy(shifted.data() + shift, payload.data(), payload.size());
    const auto graph = read_payload(Bytes(shifted).subspan(shift, payload.size()),
                                    [&](std::string_view key) { return builder.named_data().find(key); });
    REQUIRE(graph);
    CHECK(graph->nodes.size() == 1);
  }
}

TEST_CASE("an absent bias is no value, an absent output range no bound") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 2});
  const auto filter = builder.constant<float>(DataType::kFp32, {2, 2}, {1, 2, 3, 4});
  const auto y = builder.output(DataType::kFp32, {1, 2});
  builder.node(NodeKind::kFullyConnected, {x, filter, kNoValue}, {y});
  const auto payload = builder.write();
  const auto graph = read(payload, builder.named_data());
  REQUIRE(graph);
  CHECK(graph->nodes[0].inputs[2] == kNoValue);
  CHECK(graph->nodes[0].range.is_unbounded());
}

TEST_CASE("orders inputs and outputs by external id") {
  PayloadBuilder builder;
  const auto y = builder.output(DataType::kFp32, {2});
  const auto b = builder.input(DataType::kFp32, {2});
  const auto a = builder.input(DataType::kFp32, {2});
  builder.graph().values[y].external_id = 2;
  builder.graph().values[b].external_id = 1;
  builder.graph().values[a].external_id = 0;
  builder.node(NodeKind::kSubtract, {a, b}, {y});
  const auto payload = builder.write();
  const auto graph = read(payload, builder.named_data());
  REQUIRE(graph);
  CHECK(graph->inputs == std::vector<ValueIndex>{2, 1});
  CHECK(graph->nodes[0].inputs[0] == 2);
}

TEST_CASE("reads every kind of quantisation, with scales from constants and inline") {
  for (const bool inline_scales : {false, true}) {
    PayloadBuilder builder;
    const auto x = builder.input(DataType::kFp32, {1, 32});
    const auto q = builder.internal(DataType::kQdint8, {1, 32}, DynamicQuantization{1});
    PerBlockQuantization blocks;
    blocks.block_size = 32;
    blocks.scales = {BFloat16(0.5f), BFloat16(0.25f)};
    const auto filter = builder.constant(DataType::kQbint4, {2, 32}, std::vector<std::byte>(32), blocks);
    PerChannelQuantization channels;
    channels.scales = {0.5f, 0.125f};
    channels.zero_point = 8;
    const auto other = builder.constant(DataType::kQcint4, {2, 31}, std::vector<std::byte>(32), channels);
    const auto y = builder.output(DataType::kFp32, {1, 2});
    builder.value_lies[filter].inline_scales = builder.value_lies[other].inline_scales = inline_scales;
    builder.node(NodeKind::kConvert, {x}, {q});
    builder.node(NodeKind::kFullyConnected, {q, filter, kNoValue}, {y});
    const auto payload = builder.write();
    const auto graph = read(payload, builder.named_data());
    REQUIRE(graph);
    CHECK(graph->values[q].quantized_as<DynamicQuantization>()->num_nonbatch_dims == 1);
    const auto* read_blocks = graph->values[filter].quantized_as<PerBlockQuantization>();
    REQUIRE(read_blocks != nullptr);
    CHECK(static_cast<float>(read_blocks->scales.at(1)) == 0.25f);
    const auto* read_channels = graph->values[other].quantized_as<PerChannelQuantization>();
    REQUIRE(read_channels != nullptr);
    CHECK(read_channels->scales.at(1) == 0.125f);
    CHECK(read_channels->zero_point == 8);
    CHECK(graph->values[other].data.size() == 32);  // 31 nibbles take 16 bytes a row
  }
}

TEST_CASE("splits an old payload's dynamically quantised input in two") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {2, 8});
  PerChannelQuantization channels;
  channels.scales = {0.5f, 0.125f};
  const auto filter = builder.constant(DataType::kQcint8, {2, 8}, std::vector<std::byte>(16), channels);
  const auto y = builder.output(DataType::kFp32, {2, 2});
  builder.node(NodeKind::kFullyConnected, {x, filter, kNoValue}, {y});
  builder.value_lies[x].dq_qint8 = true;
  const auto payload = builder.write();
  const auto graph = read(payload, builder.named_data());
  REQUIRE(graph);
  REQUIRE(graph->nodes.size() == 2);
  CHECK(graph->nodes[0].kind == NodeKind::kConvert);
  const xnnpack_payload::Value& quantized = graph->values[graph->nodes[1].inputs[0]];
  CHECK(quantized.type == DataType::kQdint8);
  CHECK(!quantized.is_input);
  CHECK(graph->nodes[0].outputs[0] == graph->nodes[1].inputs[0]);
  CHECK(graph->values[graph->inputs.at(0)].type == DataType::kFp32);
}

TEST_CASE("refuses a damaged header") {
  LinearPayload builder;
  builder.place = ConstantPlace::kRegion;
  const auto whole = builder.write();
  const auto refused = [&](std::vector<std::byte> payload) {
    const auto graph = read(payload, builder.named_data());
    REQUIRE(!graph);
    INFO(graph.error().to_string());
    CHECK((graph.error().code == ErrorCode::kInvalidArgument ||
           graph.error().code == ErrorCode::kDelegateInvalidCompatibility));
  };
  refused({});
  refused({whole.begin(), whole.begin() + 29});
  for (const std::size_t field : {10, 14, 18}) {
    auto payload = whole;
    put<std::uint32_t>(payload, field, 0xFFFFFFF0u);
    refused(payload);
  }
  auto payload = whole;
  put<std::uint64_t>(payload, 22, UINT64_MAX);  // size of the constants
  refused(payload);
  payload = whole;
  put<std::uint32_t>(payload, 18, 32);  // constants inside the flatbuffer
  refused(payload);
  payload = whole;
  put<std::uint32_t>(payload, 14, 7);  // smaller than any flatbuffer
  refused(payload);
}

TEST_CASE("refuses another identifier and a damaged flatbuffer") {
  LinearPayload builder;
  builder.identifier = "XN02";
  check_refused(builder, ErrorCode::kDelegateInvalidCompatibility, "XN02");

  LinearPayload whole;
  const auto payload = whole.write();
  for (std::size_t cut = 40; cut + 1 < payload.size(); cut += 13) {
    auto damaged = payload;
    for (std::size_t i = cut; i < std::min(cut + 4, payload.size()); ++i)
      damaged[i] = std::byte{0xFF};
    const auto graph = read(damaged, whole.named_data());  // refused or not: never a crash
    if (!graph) CHECK(graph.error().blame == Blame::kProgram);
  }
}

TEST_CASE("refuses what a value says about itself") {
  check_value_refused([](auto& lie) { lie.num_dims = 3; }, "num_dims is 3");
  check_value_refused([](auto& lie) { lie.type = 99; }, "unknown data type 99");
  check_value_refused([](auto& lie) { lie.type = 0; }, "unknown data type 0");
  check_value_refused([](auto& lie) { lie.flags = 4; }, "unknown flags 0x4");
  check_value_refused([](auto& lie) { lie.flags = 3; }, "both input and output");
  check_value_refused([](auto& lie) { lie.flags = 1, lie.external_id = 1; }, "both external and constant");
  check_value_refused([](auto& lie) { lie.flags = 1, lie.external_id = 7; }, "not below num_externs 2");
  check_value_refused([](auto& lie) { lie.id = 10; }, "value 10: is defined twice");
  check_value_refused([](auto& lie) { lie.id = 0xFFFFFFFFu; }, "stands for none");
  check_value_refused([](auto& lie) { lie.constant_index = 0xFFFF; }, "constant 65535 is beyond the payload's 3");
  check_value_refused([](auto& lie) { lie.constant_index = 2; }, "constant 2 has 12 bytes, fp32[3, 4] needs 48");
  check_value_refused([](auto& lie) { lie.type = 3; }, "qint8 needs quantisation parameters");
  check_value_refused([](auto& lie) { lie.dq_qint8 = true; }, "dq_datatype", ErrorCode::kNotImplemented);
}

TEST_CASE("refuses dims whose product overflows") {
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF});
  const auto y = builder.output(DataType::kFp32, {1});
  builder.node(NodeKind::kAbs, {x}, {y});
  check_refused(builder, ErrorCode::kInvalidProgram, "overflow");
}

TEST_CASE("refuses too many external values and one id for two") {
  LinearPayload builder;
  builder.graph().num_externs = 0x7FFFFFFF;
  check_refused(builder, ErrorCode::kInvalidProgram, "at most 4096");

  LinearPayload twice;
  twice.graph().values[twice.y].external_id = 0;
  check_refused(twice, ErrorCode::kInvalidProgram, "external id 0 is used twice");
}

TEST_CASE("refuses a constant that is named but not there") {
  LinearPayload builder;
  const auto payload = builder.write();
  const test::FakeNamedData empty;
  const auto graph = read(payload, empty);
  REQUIRE(!graph);
  CHECK(graph.error().code == ErrorCode::kNotFound);
  CHECK(graph.error().blame == Blame::kProgram);
  CHECK(graph.error().message.find("filter") != std::string::npos);
}

TEST_CASE("refuses a constant that leaves its region") {
  LinearPayload builder;
  builder.place = ConstantPlace::kRegion;
  auto payload = builder.write();
  const std::uint64_t size = *read_le<std::uint64_t>(payload, 22);
  put<std::uint64_t>(payload, 22, size - 1);
  const auto graph = read(payload, builder.named_data());
  REQUIRE(!graph);
  CHECK(graph.error().message.find("leaves the constant region") != std::string::npos);
}

TEST_CASE("refuses quantisation that does not fit the type") {
  const auto with_filter = [](DataType type, std::size_t bytes, Quantization quantization,
                              const std::function<void(test::ValueLie&)>& lie, std::string_view part,
                              ErrorCode code = ErrorCode::kInvalidProgram) {
    PayloadBuilder builder;
    const auto x = builder.input(DataType::kFp32, {1, 64});
    const auto filter = builder.constant(type, {2, 64}, std::vector<std::byte>(bytes), std::move(quantization));
    const auto y = builder.output(DataType::kFp32, {1, 2});
    builder.node(NodeKind::kFullyConnected, {x, filter, kNoValue}, {y});
    lie(builder.value_lies[filter]);
    check_refused(builder, code, part);
  };
  const auto nothing = [](test::ValueLie&) {};
  const float inf = std::numeric_limits<float>::infinity();
  with_filter(DataType::kQint8, 128, PerTensorQuantization{0.0f, 0}, nothing, "scale 0 is not positive");
  with_filter(DataType::kQint8, 128, PerTensorQuantization{inf, 0}, nothing, "scale inf is not positive");
  with_filter(DataType::kQint8, 128, PerTensorQuantization{1.0f, 128}, nothing, "zero point 128");
  with_filter(DataType::kQuint8, 128, PerTensorQuantization{1.0f, -1}, nothing, "zero point -1");
  with_filter(DataType::kQint32, 512, PerTensorQuantization{1.0f, 1}, nothing, "zero point 1");
  with_filter(DataType::kFp32, 512, PerTensorQuantization{1.0f, 0}, nothing, "fp32 has no quantisation");
  with_filter(DataType::kQcint8, 128, PerTensorQuantization{1.0f, 0}, nothing, "cannot have per-tensor");
  with_filter(DataType::kQint8, 128, DynamicQuantization{1}, nothing, "cannot have dynamic");
  const PerChannelQuantization channels{{1.0f, 2.0f}, 0, 0, {}};
  with_filter(DataType::kQint8, 128, channels, nothing, "cannot have per-channel");
  with_filter(DataType::kQcint8, 128, channels, [](auto& l) { l.channel_dim = 2; }, "channel dim 2 does not exist");
  with_filter(DataType::kQcint8, 128, channels, [](auto& l) { l.channel_dim = -1; }, "channel dim -1");
  with_filter(DataType::kQcint8, 128, channels, [](auto& l) { l.channel_dim = 1; }, "2 scales are given");
  with_filter(DataType::kQcint8, 128, channels, [](auto& l) { l.num_scales = 3; }, "3 scales are given");
  with_filter(DataType::kQcint8, 128, channels, [](auto& l) { l.scale_index = 99; }, "constant 99 is beyond");
  with_filter(DataType::kQcint8, 128, PerChannelQuantization{{1.0f, -2.0f}, 0, 0, {}}, nothing, "scale -2");
  const PerBlockQuantization blocks{std::vector<BFloat16>(4, BFloat16(1.0f)), 32, 8, {}};
  with_filter(DataType::kQcint4, 64, blocks, nothing, "cannot have per-block");
  with_filter(DataType::kQbint4, 64, blocks, [](auto& l) { l.group_size = 0; }, "block size 0");
  with_filter(DataType::kQbint4, 64, blocks, [](auto& l) { l.group_size = 48; }, "block size 48");
  with_filter(DataType::kQbint4, 64, blocks, [](auto& l) { l.num_scales = 5; }, "5 scales are given");
  with_filter(DataType::kQbint4, 64, blocks, [](auto& l) { l.channel_dim = 1; }, "channels first");
}

TEST_CASE("refuses nodes that name values that are not there, and unknown kinds") {
  LinearPayload builder;
  builder.node_lies[0].input_id = 77;
  check_refused(builder, ErrorCode::kInvalidProgram, "node 0 (FullyConnected): input is value 77");
  LinearPayload output;
  output.node_lies[0].output_id = 0xFFFFFFFFu;
  check_refused(output, ErrorCode::kInvalidProgram, "output is value 4294967295");
  LinearPayload unknown;
  unknown.node_lies[0].tag = 48;
  check_refused(unknown, ErrorCode::kNotImplemented, "unknown kind 48");
  LinearPayload empty_range;
  empty_range.graph().nodes[0].range = {1.0f, -1.0f};
  check_refused(empty_range, ErrorCode::kInvalidProgram, "output range [1, -1] is empty");
}

TEST_CASE("refuses nodes whose lists are missing") {
  const std::pair<NodeKind, NodeParams> kinds[] = {
      {NodeKind::kStaticTranspose, TransposeParams{{0, 1}}},
      {NodeKind::kStaticReshape, ReshapeParams{{4}}},
      {NodeKind::kStaticSlice, SliceParams{{0, 0}, {1, 1}}},
      {NodeKind::kStaticConstantPad, PadParams{{0, 0}, {1, 1}, 0.0f}},
  };
  for (const auto& [kind, params] : kinds) {
    PayloadBuilder builder;
    const auto x = builder.input(DataType::kFp32, {2, 2});
    const auto y = builder.output(DataType::kFp32, {2, 2});
    builder.node(kind, {x}, {y}, params);
    builder.node_lies[0].drop_lists = true;
    check_refused(builder, ErrorCode::kInvalidProgram, "is missing");
  }
}

TEST_CASE("refuses a graph in which values are read before or written after their time") {
  PayloadBuilder early;
  const auto x = early.input(DataType::kFp32, {2});
  const auto middle = early.internal(DataType::kFp32, {2});
  const auto y = early.output(DataType::kFp32, {2});
  early.node(NodeKind::kAbs, {middle}, {y});
  early.node(NodeKind::kAbs, {x}, {middle});
  check_refused(early, ErrorCode::kInvalidProgram, "reads value 11 before any node writes it");

  PayloadBuilder twice;
  const auto a = twice.input(DataType::kFp32, {2});
  const auto b = twice.output(DataType::kFp32, {2});
  twice.node(NodeKind::kAbs, {a}, {b});
  twice.node(NodeKind::kNegate, {a}, {b});
  check_refused(twice, ErrorCode::kInvalidProgram, "writes value 11 a second time");

  PayloadBuilder constant;
  const auto c = constant.input(DataType::kFp32, {1});
  const auto k = constant.constant<float>(DataType::kFp32, {1}, {1});
  constant.node(NodeKind::kAbs, {c}, {k});
  check_refused(constant, ErrorCode::kInvalidProgram, "which is constant");

  PayloadBuilder unwritten;
  unwritten.output(DataType::kFp32, {1});
  check_refused(unwritten, ErrorCode::kInvalidProgram, "no node writes it");
}
