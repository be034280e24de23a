// Where a setting came from. Every value of a Plan carries one, so that errors, the report and --print-config can say
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pterun::config {

struct Origin {
  // In order of precedence: each wins over those before it.
  enum class Kind : std::uint8_t { kDefault, kEnvironment, kConfig, kOverride, kFlag };

  Kind kind = Kind::kDefault;
  std::string source;    // "PTERUN_THREADS", the config file as given, "--set #2", "--threads", "--load-option #2"
  std::string pointer;   // JSON pointer inside the config file, for kConfig and kOverride
  std::size_t line = 0;  // line in the config file, from 1; 0 when there is none

  bool is_default() const { return kind == Kind::kDefault; }
  // "default", "--threads", "environment PTERUN_THREADS", "smoke.json:/bench/warmup (line 7)".
  std::string describe() const;
};

// A value with its origin. `value` holds the default when nobody set it.
template <typename T>
struct Setting {
  T value{};
  Origin origin;

  bool given() const { return !origin.is_default(); }
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};

}  // namespace pterun::config
