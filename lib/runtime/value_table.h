// The value slots of a method: built once from the program's specs, with tensors bound to constants in place, to
// planned memory, or to memory of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "program/external_data.h"
#include "program/program.h"
#include "runtime/memory_plan.h"
#include "tensor/value.h"

namespace pterun::runtime {

// Finds the tensor of a .ptd by key. Errors: kInvalidExternalData naming key and files.
using ExternalTensors = std::vector<std::shared_ptr<const program::ExternalDataFile>>;

class ValueTable {
 public:
  // Errors: kInvalidExternalData (a key that no .ptd has, or whose layout differs), kMemoryAllocationFailed.
  // `plan` and the memory outlive the table.
  static Result<std::unique_ptr<ValueTable>> create(const program::MethodPlan& plan, const MemoryPlan& memory,
                                                    const ExternalTensors& external);

  Value& operator[](std::size_t i) { return values_[i]; }
  std::size_t size() const { return values_.size(); }

  // Puts every slot that instructions may redirect (tensor pointers, moved slots) back to its state after loading.
  void restore_slots();
  // Copies the initial bytes of mutable buffers into the planned memory, where that is due.
  Result<void> load_initial_data(MemoryPlan& memory, const ExternalTensors& external);
  bool has_initial_data() const { return has_initial_data_; }
  // Remembers that an instruction redirects this slot.
  void mark_redirected(std::uint32_t index) { redirected_.push_back(index); }
  // Call once all redirected slots are marked.
  void save_slots();

 private:
  explicit ValueTable(const program::MethodPlan& plan) : plan_(plan) {}
  Result<void> bind_tensor(const program::TensorSpec& spec, Tensor& tensor, const MemoryPlan& memory,
                           const ExternalTensors& external);
  Result<void> fill(const MemoryPlan& memory, const ExternalTensors& external);

  const program::MethodPlan& plan_;
  std::vector<Value> values_;
  std::vector<Tensor> tensors_;            // never resized after creation: slots point into it
  std::vector<AlignedBuffer> own_memory_;  // of tensors that are neither planned nor constant
  std::vector<std::uint32_t> redirected_;
  struct Saved {
    std::uint32_t index;
    Value::Payload payload;
    void* data;
  };
  std::vector<Saved> saved_;
  bool has_initial_data_ = false;
};

}  // namespace pterun::runtime
