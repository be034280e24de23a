// A regular file mapped read-only, whole, with one readable zero page behind it. Bytes stay valid as long as the
// MappedFile lives.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace pterun {

class MappedFile {
 public:
  // Errors: kAccessFailed (missing, unreadable, a directory or not a regular file), blame kProgram, place "file".
  // An empty file maps to empty bytes.
  static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  Bytes bytes() const { return {data_, size_}; }

  // Tells the kernel that a range inside bytes() will not be read again soon: its pages leave the resident set
  // and are read back from the file when touched. A range elsewhere is ignored.
  void release_pages(Bytes range) const;
  // Asks the kernel to read a range ahead.
  void will_need(Bytes range) const;

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace pterun
