// The clock that every measured time comes from.
#pragma once

#include <chrono>
#include <cstdint>

namespace pterun {

// Nanoseconds of the steady clock, from an arbitrary origin.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace pterun
