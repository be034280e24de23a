// Executing a method instruction by instruction, to look at values in between, or to run single instructions on values
// that come from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "runtime/method.h"
#include "tensor/value.h"

namespace pterun::runtime {

// An instruction and the slots that it reads and writes, in the order of its arguments; moves, jumps and frees have
// none.
struct Instruction {
  enum class Kind : std::uint8_t { kOperator, kDelegate, kMove, kJump, kFree };
  Kind kind = Kind::kOperator;
  std::string_view name;     // of the operator or the backend
  std::size_t index = 0;     // in its chain
  std::size_t delegate = 0;  // of a delegate call
  std::span<Value* const> args;
};

class Stepper {
 public:
  // Borrows the method, whose inputs are set.
  explicit Stepper(Method& method) : method_(method) {}

  // Puts inputs and slots into the state before the first instruction. Errors: as Method::execute.
  Result<void> begin();
  const Value& input(std::size_t index) const;  // the slot of one of the method's inputs
  bool at_end() const;
  std::size_t next() const { return next_; }  // a number for run() and at(), the same in every method of this program
  std::size_t size() const;
  Instruction at(std::size_t index) const;
  // Runs the next instruction. Errors: as Method::execute.
  Result<void> step();
  // Runs one instruction on what the slots hold now. Jumps do nothing.
  Result<void> run(std::size_t index);

 private:
  Method& method_;
  std::size_t next_ = 0;
  std::uint64_t executed_ = 0;
};

}  // namespace pterun::runtime
