// One option as somebody asked for it: on the command line, in a config file, or in an API call. Nothing is typed or
// checked here beyond what splitting the text needs; check_options (options/check.h) does that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "options/option_table.h"
#include "options/option_value.h"

namespace pterun::options {

// The value of a flag: text whose type the backend's table decides.
struct FlagText {
  std::string text;
  std::string stated_type;  // "bool", "int", "str" as in KEY:TYPE=VALUE, other text as typed, "" when none was stated
};

// A JSON value that is not a bool, an integer or a string: "a float (1.5)", "null", "an array", "an object".
struct MistypedJson {
  std::string found;
  // The value stood where the backend's object of options belongs, so that there is no key.
  bool in_place_of_keys = false;
};

// A JSON integer outside 64 bit, as written.
struct HugeInteger {
  std::string digits;
};

// JSON integers keep 64 bits until the limits are checked.
using RequestedValue = std::variant<FlagText, bool, std::int64_t, std::string, MistypedJson, HugeInteger>;

struct OptionRequest {
  std::string backend;
  std::string key;  // empty with MistypedJson::in_place_of_keys
  RequestedValue value;
  OptionPath path = OptionPath::kGlobal;
  // Where it came from: "--load-option #2", "smoke.json:/load_options/XnnpackBackend/workspace_sharing_mode (line 7)".
  std::string source;
  // A higher layer wins over a lower one; the same key twice in one layer is an error. Flags are kFlagLayer.
  int layer = 0;
};

inline constexpr int kFlagLayer = 1000;

// Splits the text of one --global-option or --load-option, BACKEND.KEY[:TYPE]=VALUE: backend up to the first `.`, key
// up to the first `:` or `=`, type up to the first `=`, everything after it is the value. `number` counts the uses of
// that flag from 1. Errors: kOptionSyntax when `.` or `=` is missing where it belongs, naming the flag and the text.
Result<OptionRequest> parse_flag(std::string_view text, OptionPath path, std::size_t number);

// Splits BACKEND.KEY at the first `.`, for commands that name an option without a value. Errors: kOptionSyntax.
Result<OptionRequest> parse_name(std::string_view text, const std::string& source);

// "XnnpackBackend.workspace_sharing_mode", or the backend alone when there is no key; printable.
std::string option_name(std::string_view backend, std::string_view key);
// The value as it was asked for, printable and at most about 80 characters long.
std::string requested_text(const RequestedValue& value);
// "--global-option" or "--load-option".
std::string_view option_flag(OptionPath path);

}  // namespace pterun::options
