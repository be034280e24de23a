// Opening and writing one file.
#include "pterun/session/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/utf8.h"

namespace pterun::app {

bool is_same_file(const std::string& path, const std::string& other) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && std::filesystem::equivalent(path, other, ignored);
}

Result<OutputFile> OutputFile::open(const config::Setting<std::string>& path, std::string_view flag) {
  OutputFile output;
  output.path_ = path.value;
  if (path.value == "-") return output;
  output.file_.reset(std::fopen(path.value.c_str(), "wbe"));
  if (output.file_ == nullptr) {
    return fail(make_error(ErrorCode::kOutput,
                           fmt::format("{} cannot open {}: {}", flag, in_quotes(path.value), std::strerror(errno)))
                    .at("file", path.value)
                    .at("source", path.origin.describe()));
  }
  return output;
}

Result<void> OutputFile::write(std::string_view text) {
  std::FILE* file = file_ == nullptr ? stdout : file_.get();
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0) return {};
  return fail(make_error(ErrorCode::kOutput, fmt::format("cannot write {}: {}", in_quotes(path_), std::strerror(errno)))
                  .at("file", path_));
}

}  // namespace pterun::app
