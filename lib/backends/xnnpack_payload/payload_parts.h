// The parts of the payload reader, one file each; not for other rooms.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "backends/xnnpack_payload/graph.h"
#include "backends/xnnpack_payload/payload_reader.h"
#include "base/error.h"
#include "generated/backends/xnnpack_payload/payload_generated.h"

namespace pterun::xnnpack_payload {

inline constexpr std::uint32_t kInvalidId = 0xFFFFFFFFu;

struct Constant {
  Bytes data;
  std::string_view key;  // empty when the data lies in the payload
};

// What the parts share while one payload is read.
struct Reading {
  const wire::Graph* graph = nullptr;
  bool has_header = false;
  Bytes constant_region;  // after the flatbuffer; with a header only
  const ConstantLookup* lookup = nullptr;
  PayloadGraph result;
  std::unordered_map<std::uint32_t, ValueIndex> by_id;
};

// "node 3 (Conv2d)": how every message begins that concerns a node.
std::string describe_node(const Node& node);
// An InvalidProgram error about a value, naming its id.
Error value_error(std::uint32_t id, const std::string& what);

// Constant number `index` (> 0) of the payload.
Result<Constant> find_constant(const Reading& reading, std::uint32_t index, std::uint32_t value_id);

// Fills result.values, result.inputs, result.outputs and by_id; adds Convert nodes for dq_datatype.
Result<void> read_values(Reading& reading);
Result<Quantization> read_quantization(const Reading& reading, const wire::QuantizedTensorValue& value, DataType type,
                                       const Shape& dims, std::uint32_t id);

// Appends to result.nodes.
Result<void> read_nodes(Reading& reading);

// Every value is written before it is read, and once; outputs are written.
Result<void> check_dataflow(const PayloadGraph& graph);

}  // namespace pterun::xnnpack_payload
