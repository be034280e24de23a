// A file's text, then lib/report's reader.
#include "pterun/session/saved_report.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "base/utf8.h"
#include "report/formats/read.h"

namespace pterun::app {

Result<report::RunReport> load_report(const std::string& path, std::string_view flag) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return report::read_report(text.str(), "stdin");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file || !(text << file.rdbuf())) {
    const std::string cause = errno != 0 ? std::strerror(errno) : "it is empty";
    return fail(make_error(ErrorCode::kInput, fmt::format("{} cannot read {}: {}", flag, in_quotes(path), cause))
                    .at("file", path));
  }
  return report::read_report(text.str(), path);
}

}  // namespace pterun::app
