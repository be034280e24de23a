// Text from outside: whether it may be shown as it is, and how to show it where it may not.
#pragma once

#include <string>
#include <string_view>

namespace pterun {

// Whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text);

// Whether the text is UTF-8 without control characters: safe to print and to write into a report.
bool is_printable(std::string_view text);

// The text in single quotes for a message: control characters and bytes that are not UTF-8 as \xNN, and cut after
// `max_bytes` with an ellipsis.
std::string quoted(std::string_view text, std::size_t max_bytes = 120);

}  // namespace pterun
