// What a backend accepts: one row per key. The table decides types, ranges and paths before anything is applied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/option_value.h"

namespace pterun::options {

// The two ways to a backend; a key may have one or both.
enum class OptionPath : std::uint8_t { kGlobal, kLoad };
// "process-wide", "load".
std::string_view option_path_name(OptionPath path);

struct OptionSpec {
  std::string key;
  OptionType type = OptionType::kString;
  bool process_wide = false;  // --global-option
  bool load = false;          // --load-option
  // An action does something when set, keeps nothing and cannot be read back; it is applied after loading.
  bool action = false;
  std::optional<OptionValue> default_value;  // none for actions
  std::int32_t min = INT32_MIN;              // for ints, inclusive
  std::int32_t max = INT32_MAX;
  std::vector<std::pair<std::string, std::int32_t>> names;  // enum names of ints, for flags only
  // For a string that makes sense only when a bool key of the same backend is true in the same load ("" if none).
  std::string requires_true;
  std::string doc;  // one sentence
};

struct OptionTable {
  std::string backend;
  std::vector<OptionSpec> specs;

  // The row, or null.
  const OptionSpec* find(std::string_view key) const;
};

}  // namespace pterun::options
