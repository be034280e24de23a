// Text of any bytes as part of a document: bytes that are not UTF-8 and control characters become \xNN, what has a
// meaning in the format is escaped.
#pragma once

#include <string>
#include <string_view>

namespace pterun::report {

// For XML and HTML, in text and in quoted attributes.
std::string markup(std::string_view text);
// For a paragraph or table cell of GitHub's Markdown.
std::string markdown(std::string_view text);
// As code inside a line of Markdown, in as many backquotes as it takes; in tables, | is escaped.
std::string markdown_code(std::string_view text);
// A field of RFC 4180's CSV, quoted where it must be.
std::string csv_field(std::string_view text);

}  // namespace pterun::report
