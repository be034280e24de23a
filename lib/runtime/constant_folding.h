// Calls whose inputs are all constants are computed once, when the method is loaded: exporters leave transposes of
// weights in the program. Only operators that compute their last argument from the others and nothing else are
// considered, and only in methods without jumps.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "tensor/value.h"

namespace pterun::runtime {

class ConstantFolding {
 public:
  // Looks through the method once, and does not keep it.
  explicit ConstantFolding(const program::MethodPlan& plan);

  // Whether this call may be computed at load, given that its constant inputs are marked as such. The result must be
  // given memory of its own, since planned memory is reused by other values.
  bool can_fold(std::string_view operator_name, const program::KernelCall& call, std::span<Value* const> args) const;

 private:
  bool straight_line_ = true;
  std::vector<std::uint32_t> writers_;  // by value: how many calls have it as their last argument
  std::vector<bool> pinned_;            // by value: its planned memory is read under another value, or by the caller
};

}  // namespace pterun::runtime
