// Text of option types and values.
#include "options/option_value.h"

#include <array>

namespace pterun::options {

std::string_view option_type_name(OptionType type) {
  static constexpr std::array<std::string_view, 3> kNames = {"bool", "int", "string"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string OptionValue::to_string() const {
  if (const bool* flag = as_bool()) return *flag ? "true" : "false";
  if (const std::int32_t* number = as_int()) return std::to_string(*number);
  std::string text = "\"";
  for (const char c : *as_string()) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      static constexpr char kHex[] = "0123456789abcdef";
      text += "\\u00";
      text += kHex[(c >> 4) & 0xF];
      text += kHex[c & 0xF];
    } else {
      text += c;
    }
  }
  return text + "\"";
}

}  // namespace pterun::options
