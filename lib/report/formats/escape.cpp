// Escaping.
#include "report/formats/escape.h"

#include <algorithm>

#include "base/utf8.h"

namespace pterun::report {

std::string markup(std::string_view text) {
  std::string escaped;
  const std::string clean = printable(text, std::string_view::npos);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    switch (clean[i]) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default:
        // XML 1.0 has no U+FFFE and U+FFFF.
        if (clean.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < clean.size() &&
            static_cast<unsigned char>(clean[i + 2]) >= 0xBE) {
          escaped += "\xEF\xBF\xBD";
          i += 2;
        } else {
          escaped += clean[i];
        }
    }
  }
  return escaped;
}

std::string markdown(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text, std::string_view::npos)) {
    if (c == '<') {
      escaped += "&lt;";
      continue;
    }
    if (c == '&') {
      escaped += "&amp;";
      continue;
    }
    if (std::string_view("\\`*_[]|~#>!").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string markdown_code(std::string_view text) {
  std::string code;
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : printable(text, std::string_view::npos)) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') code += '\\';
    code += c;
  }
  if (code.empty()) return "";
  const std::string fence(longest + 1, '`');
  const std::string space = longest > 0 ? " " : "";
  return fence + space + code + space + fence;
}

std::string csv_field(std::string_view text) {
  const std::string clean = printable(text, std::string_view::npos);
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace pterun::report
