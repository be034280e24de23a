// Planned memory: one zeroed arena per planned buffer of a method; arenas that hold mutable buffers shared between
// methods exist once per loaded program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"
#include "program/program.h"
#include "tensor/tensor.h"

namespace pterun::runtime {

struct Arena {
  AlignedBuffer memory;
  bool initialised = false;  // initial bytes of its mutable buffers were copied once
};

// Arenas by planned buffer index, shared by the methods of one loaded program.
using SharedArenas = std::map<std::uint32_t, std::shared_ptr<Arena>>;

// Planned buffers that hold the same mutable buffers (equal names, offsets and sizes) in more than one method: the
// exporter's share_mutable_buffers puts them into memory id 2, and only its users expect state to be shared.
std::vector<std::uint32_t> shared_buffer_indices(const program::Program& program);

class MemoryPlan {
 public:
  // Allocates the method's arenas, taking those in `shared` from there (or putting them there).
  static Result<MemoryPlan> create(const program::MethodPlan& plan, const std::vector<std::uint32_t>& shared_indices,
                                   SharedArenas& shared);

  // The address of a planned place; the Program has checked that it fits.
  std::byte* address(const program::PlannedMemory& place) const {
    return arenas_[place.buffer]->memory.data() + place.offset_bytes;
  }
  // Whether initial data has to be copied into this buffer; a shared arena is initialised by its first method.
  bool needs_initial_data(std::uint32_t buffer) const { return !arenas_[buffer]->initialised; }
  void mark_initialised();
  // Zero everywhere, and initial data is due again.
  void clear();

 private:
  std::vector<std::shared_ptr<Arena>> arenas_;  // shared_ptr: an arena may belong to several methods
};

}  // namespace pterun::runtime
