// UTF-8: whether bytes are it, and how to show bytes that may not be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pterun {

// Offset of the first byte that does not belong to well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at
// most U+10FFFF), or npos when all do.
std::size_t find_invalid_utf8(std::string_view bytes);
inline bool is_utf8(std::string_view bytes) {
  return find_invalid_utf8(bytes) == std::string_view::npos;
}
// Whether it is UTF-8 without control characters (C0, DEL and C1): safe in a terminal and in a report.
bool is_printable(std::string_view bytes);

// The bytes for a message, valid UTF-8 without control characters: those and bytes that are not UTF-8 become \xNN. What
// is longer than `max_bytes` is cut at a character and ends in "... (N bytes)".
std::string printable(std::string_view bytes, std::size_t max_bytes = 80);
// The same in single quotes.
std::string in_quotes(std::string_view bytes, std::size_t max_bytes = 80);

}  // namespace pterun
