// Well-formedness of UTF-8 by its byte ranges, and text for messages.
#include "base/utf8.h"

namespace pterun {
namespace {

// Length of the character that starts at `at`, or 0 when it is not well-formed.
std::size_t character_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool too_large = lead == 0xF4 && byte(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_length(bytes, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

bool is_printable(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_length(bytes, at);
    const auto lead = static_cast<unsigned char>(bytes[at]);
    if (length == 0 || lead < 0x20 || lead == 0x7F) return false;
    if (lead == 0xC2 && static_cast<unsigned char>(bytes[at + 1]) < 0xA0) return false;
    at += length;
  }
  return true;
}

std::string printable(std::string_view bytes, std::size_t max_bytes) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    if (at >= max_bytes) return text + "... (" + std::to_string(bytes.size()) + " bytes)";
    const std::size_t length = character_length(bytes, at);
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 0xF]};
      ++at;
    } else {
      text += bytes.substr(at, length);
      at += length;
    }
  }
  return text;
}

std::string in_quotes(std::string_view bytes, std::size_t max_bytes) {
  return "'" + printable(bytes, max_bytes) + "'";
}

}  // namespace pterun
