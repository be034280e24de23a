// One flag or positional argument of a command, as plain data: what the command line parser, --help, the shell
// completions and the man page are all made from.
#pragma once

#include <cstdint>
#include <string_view>

namespace pterun::config {

// What a value is, for shell completion.
enum class ValueHint : std::uint8_t { kNone, kFile, kDirectory, kChoices, kOption };

struct FlagSpec {
  std::string_view name;        // "--threads"; "MODEL" for a positional argument
  std::string_view short_name;  // "-v", or ""
  std::string_view argument;    // "N", "FILE"; "" for a switch
  std::string_view doc;         // one sentence without a full stop
  bool repeatable = false;
  bool required = false;  // positional arguments only
  ValueHint hint = ValueHint::kNone;
  std::string_view choices;  // "full|minimal" with kChoices

  bool is_switch() const { return argument.empty() && name.starts_with("-"); }
  bool is_positional() const { return !name.starts_with("-"); }
};

}  // namespace pterun::config
