// Text as a word of a POSIX shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace pterun {

// The text itself where a shell takes it as it is, else in single quotes.
std::string shell_quoted(std::string_view text);

}  // namespace pterun
