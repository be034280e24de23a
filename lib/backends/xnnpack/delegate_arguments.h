// Arguments of a delegate call: how the tensors outside and the values inside relate in shape, type and memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/xnnpack/subgraph_builder.h"
#include "backends/xnnpack_payload/call_layout.h"
#include "backends/xnnpack_payload/graph.h"
#include "tensor/value.h"

namespace pterun::backends::xnn {

using xnnpack_payload::logical_shape;
using xnnpack_payload::physical_shape;

// An argument of the delegate call, and what the runtime was last set up with for it.
struct Argument {
  ValueIndex value = 0;
  std::uint32_t position = 0;  // in the call's arguments; also XNNPACK's external id
  DType dtype = DType::kFloat32;
  bool is_index = false;      // 32-bit indices inside; int64 outside is allowed
  bool is_converted = false;  // bfloat16 outside, float32 inside
  bool is_hidden = false;     // no argument: a result that nobody reads, in memory of the delegate
  Shape shape;                // the tensor's, logical order
  DimOrder order;
  void* data = nullptr;   // what XNNPACK reads or writes
  AlignedBuffer scratch;  // that memory, of a converted or hidden argument
};

// The arguments for values of the graph, in the order given. Errors: kNotSupported for a type that cannot be passed.
Result<std::vector<Argument>> make_arguments(const PayloadGraph& graph, std::span<const ValueIndex> values);

// Adds an argument to `outputs` for every result that no node reads: XNNPACK 2024-11 drops a value that no node reads
// even where a node still writes it, and then writes to no address. As an output it stays. With `all` for every result
// that can be passed out.
void expose_unread_results(PayloadGraph& graph, std::vector<Argument>& outputs, bool all = false);

// The dtype that a value of the graph is passed in or out as. Errors: kNotSupported.
Result<DType> argument_dtype(const Value& value);

// The tensor at the argument's position. Errors: kInvalidProgram, kInvalidArgument (blame kProgram).
Result<Tensor*> tensor_of(std::span<pterun::Value* const> args, const Argument& argument);

// Widens bfloat16 inputs into their scratch memory.
void convert_inputs(std::span<const Argument> inputs, std::span<pterun::Value* const> args);
// Narrows bfloat16 results, and widens indices where the tensor outside is int64.
void convert_outputs(std::span<const Argument> outputs, std::span<pterun::Value* const> args);

}  // namespace pterun::backends::xnn
