// The table of settings: which flag and which place in a config file say the same thing, what values it takes and which
// commands know it. Flags, --help, completions, validation of configs and --print-config all follow from it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/flag_spec.h"
#include "config/make_plan.h"
#include "config/node.h"

namespace pterun::config {

enum class SettingKind : std::uint8_t {
  kText,        // a string
  kPath,        // a file or directory; relative ones are relative to the config file
  kPaths,       // a path or an array of them; the flag is repeatable
  kTexts,       // a string or an array of them; the flag is repeatable
  kChoice,      // one of FlagSpec::choices
  kSwitch,      // a bool; the flag has no value
  kInteger,     // within [min, max]
  kNumber,      // within [min, max]
  kShare,       // a number, or a string with a percent sign: 0.01 is "1%"
  kStructured,  // has its own reader: inputs, tolerance, steps, matrix, options
};

// The max of a row whose integers have no other bound than 64 bit.
inline constexpr double kUnbounded = 9223372036854775807.0;

struct SettingRow {
  FlagSpec flag;             // name "" when only a config says it
  std::string_view pointer;  // "/bench/warmup"; "" when only a flag says it
  SettingKind kind = SettingKind::kText;
  std::uint8_t commands = 0;  // bit i: Command i
  double min = 0;
  double max = 0;
  std::string_view default_json = {};  // the Plan's default as JSON; "" when there is none to print

  bool known_to(Command command) const { return (commands >> static_cast<unsigned>(command) & 1u) != 0; }
};

std::span<const SettingRow> setting_rows();

// The flags of a command, positional arguments first.
std::vector<FlagSpec> plan_flags(Command command);

// The row of a command's flag, or null.
const SettingRow* find_flag(Command command, std::string_view flag);

// The first row of a JSON pointer, or null.
const SettingRow* find_row(std::string_view pointer);

// The share that a value of a kShare row stands for: 0.01 for 0.01 and for "1%". The value was checked.
double share_of(const Node& value);

// Checks a value against its row: type, choice, range. Null is "not set" and passes. Errors: setting_error's codes.
Result<void> check_setting(const SettingRow& row, const Node& value);

// The text of a flag as the value of its row (not kStructured). Errors: kUsage, naming flag, expected and found.
Result<Node> parse_setting(const SettingRow& row, const std::string& text, const Origin& origin);

// Checks that every name in a config file's tree is known. Errors: kConfig naming pointer and line, with a suggestion.
Result<void> check_names(const Node& root);

// The node at a JSON pointer without array indices, or null.
const Node* find_pointer(const Node& root, std::string_view pointer);

}  // namespace pterun::config
