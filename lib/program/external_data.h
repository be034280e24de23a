// A .ptd file: named tensors and blobs outside the program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pterun::program {

struct TensorLayout {
  DType dtype = DType::kFloat32;
  Shape sizes;
  DimOrder dim_order;
};

struct ExternalEntry {
  std::string_view key;
  Bytes data;
  std::optional<TensorLayout> layout;  // absent for raw blobs; checked to need no more than data.size() bytes
};

class ExternalDataFile {
 public:
  // Errors (blame kProgram, place "file"): kAccessFailed; kInvalidExternalData, saying what was found instead.
  static Result<std::shared_ptr<const ExternalDataFile>> open(const std::string& path);
  // The same from bytes that must outlive the result; `name` stands for the file in messages.
  static Result<std::shared_ptr<const ExternalDataFile>> parse(Bytes bytes, const std::string& name);

  const std::string& path() const { return path_; }
  std::span<const ExternalEntry> entries() const { return entries_; }  // sorted by key
  const ExternalEntry* find(std::string_view key) const;               // null when absent
  void release_pages(Bytes range) const { file_.release_pages(range); }

 private:
  friend class ExternalDataReader;
  MappedFile file_;
  std::string path_;
  std::vector<ExternalEntry> entries_;
};

}  // namespace pterun::program
