// Receipts: proof that `init` of one delegate received one load option with exactly one typed value.
#pragma once

#include <cstdint>
#include <string>

#include "options/option_value.h"

namespace pterun::backend {

struct Receipt {
  std::string backend;
  std::string method;
  std::size_t delegate = 0;  // index in the method's delegate table
  std::string key;
  options::OptionValue value;
  std::int64_t at_ns = 0;  // since the load began
  std::string result;      // "Ok" or ExecuTorch's error name: what init returned
};

}  // namespace pterun::backend
