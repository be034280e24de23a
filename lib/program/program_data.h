// Where the bytes of a program are: segments, constants, initial values of mutable buffers, delegate payloads.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"
#include "generated/program/program_generated.h"
#include "program/container.h"
#include "program/program.h"

namespace pterun::program {

// Every lookup is bounds-checked; the results point into the file. Errors: kInvalidProgram.
class ProgramData {
 public:
  ProgramData(const fb::Program& program, const Container& container) : program_(program), container_(container) {}

  // Rules of the whole file: all segments inside it, constants in one place only. Full verification.
  Result<void> check() const;

  Result<Bytes> segment(std::uint64_t index) const;
  // The first `nbytes` of constant `index` (> 0): in the constant segment, or in the deprecated constant_buffer.
  Result<Bytes> constant(std::uint32_t index, std::uint64_t nbytes) const;
  // The first `nbytes` of initial value `index` (> 0) of a mutable buffer.
  Result<Bytes> initial_value(std::uint32_t index, std::uint64_t nbytes) const;
  Result<Bytes> payload(const fb::DelegateDataReference& reference) const;

 private:
  Result<Bytes> subsegment(const fb::SubsegmentOffsets& table, const char* what, std::uint32_t index,
                           std::uint64_t nbytes) const;

  const fb::Program& program_;
  Container container_;
};

}  // namespace pterun::program
