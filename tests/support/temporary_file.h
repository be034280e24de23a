// A file in a folder of its own that is gone at the end of the test.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

class TemporaryFile {
 public:
  // Only a path: nothing is there yet.
  explicit TemporaryFile(const std::string& name) {
    std::string pattern = (std::filesystem::temp_directory_path() / "pterun-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/" + name;
  }
  TemporaryFile(const std::string& name, std::string_view content) : TemporaryFile(name) { write(content); }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }
  void write(std::string_view content) const { std::ofstream(path_, std::ios::binary) << content; }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string folder_;
  std::string path_;
};
