// Tensors with names, as tensor files hold them, and what all readers of this folder share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "tensor/tensor.h"

namespace pterun::io {

// One tensor of a file: row-major, memory of its own.
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

// One tensor to write, of any dim order. Borrowed.
struct NamedTensorView {
  std::string_view name;
  const Tensor* tensor = nullptr;
};

// An error about an input file: kInput with place "file" and, unless empty, "key".
Error input_error(const std::string& file, std::string_view key, const std::string& what);
// An error about a file that is to be written: kOutput with place "file".
Error output_error(const std::string& file, const std::string& what);

// For a key that is not there: names up to 20 of those that are. kInput.
Error unknown_key(const std::string& file, std::string_view key, std::span<const std::string> keys);

// Maps a tensor file. Errors: kInput, place "file".
Result<MappedFile> open_input(const std::string& path);

// Refuses Bool elements that are neither 0 nor 1: no C++ bool may have such a value. Errors: kInput.
Result<void> check_bools(const Tensor& tensor, const std::string& file, std::string_view key);

// A tensor filled with a copy of `data`, which has the bytes that `dtype` and `shape` need. Errors: kInput (memory,
// bools).
Result<HostTensor> copy_tensor(DType dtype, const Shape& shape, Bytes data, const std::string& file,
                               std::string_view key);

// Bytes of a tensor with these sizes, or nullopt when they overflow or one is negative.
std::optional<std::uint64_t> tensor_nbytes(DType dtype, const Shape& shape);

// Creates or replaces a file with these parts, one after the other. Errors: kOutput.
Result<void> write_file(const std::string& path, std::span<const Bytes> parts);

}  // namespace pterun::io
