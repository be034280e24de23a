// Keys of tensor files whose last number is a position: `0`, `arr_1`, `input_2`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace pterun::io {

// The position that each key ends in, in the order of the keys. Gaps are allowed; the caller knows which positions
// there may be. Errors: kInput, naming the file: a key without a number, a number of more than six digits, two keys
// with one number.
Result<std::vector<std::size_t>> positions_of_keys(std::span<const std::string> keys, const std::string& file);

}  // namespace pterun::io
