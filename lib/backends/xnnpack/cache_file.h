// The file that keeps packed weights from process to process (docs/weight-cache.md): a header, an index and the
// weights, each aligned for use in place. A file is written under another name and renamed when it is complete, so that
// one that is mapped never changes.
//
//   0   "PTWCACHE"   8 bytes      40  0              u64
//   8   version      u32          48  fingerprint    16 bytes, of bytes 0 to 47 and the index
//   12  0            u32          64  index
//   16  file bytes   u64              weights, each at a multiple of 64
//   24  index offset u64 (64)
//   32  index bytes  u64
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/mapped_file.h"

namespace pterun::backends::xnn {

// What weights in a file hold for, and for nothing else.
struct CacheIdentity {
  std::string program;  // a hash of the names and sizes of the program's named data
  std::string library;  // XNNPACK's version and build
  std::string cpu;      // the processor's features
};

// The packed weights under one key, and the methods of the program that use them.
struct CacheEntry {
  std::string_view key;
  Bytes weights;
  std::string_view fingerprint;  // of the weights, 16 bytes
  std::vector<std::string_view> methods;
};

// A file that was checked and mapped. Immutable; everything it hands out lives as long as it does.
class CacheFile {
 public:
  // Checks header, index and all sizes; with `verify_weights` the weights as well.
  // Errors: kNotFound when there is no file; kInvalidExternalData, saying what is wrong, for a file that must not be
  // used; kAccessFailed when it cannot be read.
  static Result<std::shared_ptr<const CacheFile>> open(const std::string& path, const CacheIdentity& identity,
                                                       bool verify_weights);

  const std::vector<CacheEntry>& entries() const { return entries_; }
  const CacheEntry* find(std::string_view key) const;  // null when absent
  std::uint64_t file_bytes() const { return file_.bytes().size(); }

 private:
  Result<void> read(const CacheIdentity& identity);

  MappedFile file_;
  std::vector<CacheEntry> entries_;
  std::unordered_map<std::string_view, std::size_t> by_key_;
};

// Holds the right to write `path`, together with the temporary file; among all processes and threads one at a time.
class CacheWriter {
 public:
  // Takes the lock without waiting. Errors: kInvalidState when another writer has it; kAccessFailed with the system's
  // reason, or when `path` holds something that nobody wants replaced (a program).
  static Result<CacheWriter> begin(const std::string& path);
  CacheWriter(CacheWriter&& other) noexcept;
  CacheWriter& operator=(CacheWriter&&) = delete;
  // Removes the temporary file unless commit() has renamed it.
  ~CacheWriter();

  // Writes the file and puts it in place. Entries without a fingerprint are given one. Returns the file's size.
  // Errors: kAccessFailed with the system's reason ("No space left on device"); `path` is then as it was.
  Result<std::uint64_t> commit(const CacheIdentity& identity, std::vector<CacheEntry> entries);

 private:
  CacheWriter(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace pterun::backends::xnn
