// One execution plan of the flatbuffer -> MethodPlan.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "generated/program/program_generated.h"
#include "program/aligned_copies.h"
#include "program/flatbuffer_access.h"
#include "program/program.h"
#include "program/program_data.h"

namespace pterun::program {

// What the readers of one program share. All borrowed for the duration of the reading.
struct ReadContext {
  const ProgramData& data;
  ReadBudget& budget;
  AlignedCopies& copies;
  Verification verification = Verification::kFull;
};

// Errors: kInvalidProgram and kNotSupported, blame kProgram, place "method".
Result<MethodPlan> read_method(const fb::ExecutionPlan& plan, const ReadContext& context);

// A tensor of a method whose planned buffers have these sizes. Errors as above, without a place.
Result<TensorSpec> read_tensor(const fb::Tensor& tensor, std::span<const std::uint64_t> buffer_bytes,
                               const ReadContext& context);

// The chains of a method whose values, operators and delegates are read already.
Result<std::vector<std::vector<Instruction>>> read_chains(const fb::ExecutionPlan& plan, const MethodPlan& method,
                                                          const ReadContext& context);

// The file's index as an index into a table of `count`, or an error that begins with `what`.
Result<std::uint32_t> checked_index(std::int64_t index, std::size_t count, const char* what, const char* table);

// A copy of a list of value indices, each below `count`.
Result<std::vector<std::uint32_t>> read_value_indices(std::span<const std::int32_t> indices, std::size_t count,
                                                      const char* what, const ReadContext& context);

}  // namespace pterun::program
