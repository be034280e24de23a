// Reads an XNNPACK delegate payload (docs/formats.md: header "XH00", flatbuffer "XN00"/"XN01", constants) into a
// PayloadGraph. Everything in the bytes is hostile until it was checked here.
#pragma once

#include <functional>
#include <string_view>

#include "backends/xnnpack_payload/graph.h"
#include "base/bytes.h"
#include "base/error.h"

namespace pterun::xnnpack_payload {

// Finds constants that the payload names: the program's named data and its .ptd files.
using ConstantLookup = std::function<Result<Bytes>(std::string_view key)>;

// The most external values that a graph may announce, as in ExecuTorch.
inline constexpr std::uint32_t kMaxExternals = 4096;

// `payload` and the bytes that `lookup` returns must outlive the graph.
// What holds of a graph that was returned, beyond what graph.h says:
// - value ids are unique, every node's inputs and outputs exist and have the count its kind needs;
// - external ids lie below num_externs and are unique; no value is both input and output, or external and constant;
// - a constant's data has the size its type and dims need; 4-bit weights start at whole bytes;
// - quantised types have the quantisation they need, with positive finite scales of the right count;
// - every value is written before it is read, once, and every output is written.
// Nothing is said about whether shapes fit the nodes: shape_inference.h does that.
// Errors, all with blame kProgram: kInvalidArgument (header), kDelegateInvalidCompatibility (identifier, flatbuffer),
// kInvalidProgram (what the flatbuffer says, naming node or value), kNotImplemented (unknown node or quantisation
// kinds), kNotFound (a named constant that is not there), kNotSupported (more than 16 dims).
Result<PayloadGraph> read_payload(Bytes payload, const ConstantLookup& lookup);

}  // namespace pterun::xnnpack_payload
