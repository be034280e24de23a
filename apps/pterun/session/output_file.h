// One file that results go to, opened before the work starts.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/plan.h"

namespace pterun::app {

// Whether both paths name one regular file, which opening it for output would empty.
bool is_same_file(const std::string& path, const std::string& other);

// One file, or stdout for the path "-".
class OutputFile {
 public:
  // Opens and empties it. Errors: kOutput naming flag, path and cause.
  static Result<OutputFile> open(const config::Setting<std::string>& path, std::string_view flag);

  bool is_stdout() const { return file_ == nullptr; }
  // Writes and flushes. Errors: kOutput.
  Result<void> write(std::string_view text);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;  // none for stdout
};

}  // namespace pterun::app
