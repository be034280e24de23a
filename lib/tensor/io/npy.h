// NumPy's .npy files: one array, versions 1 to 3, C and Fortran order, either byte order.
//   0 "\x93NUMPY" | 6 major | 7 minor | 8 header length (u16 in version 1, else u32) | a Python dict | the elements
// Source: NumPy's NEP 1. bool, integers of 8 to 64 bits and floats of 16 to 64 bits; NumPy has no bfloat16.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::io {

// Errors: kInput, naming the file.
Result<HostTensor> read_npy(const std::string& path);
// The same from bytes. `file` and `key` (may be empty) stand for them in errors.
Result<HostTensor> parse_npy(Bytes bytes, const std::string& file, std::string_view key = {});

// Errors: kOutput (also for a dtype that NumPy does not have).
Result<void> write_npy(const std::string& path, const Tensor& tensor);

// What stands before the elements.
struct NpyHeader {
  DType dtype = DType::kFloat32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::uint64_t header_bytes = 0;  // offset of the elements
  std::uint64_t data_bytes = 0;    // of all elements; checked not to overflow
};

// Bytes that are enough to hold any header.
inline constexpr std::size_t kMaxNpyHeaderBytes = 64 * 1024;

// From the first bytes of an array (kMaxNpyHeaderBytes, or all there are). Errors: kInput.
Result<NpyHeader> parse_npy_header(Bytes head, const std::string& file, std::string_view key);

// A tensor whose memory takes the elements as they lie in the file (header.data_bytes). Errors: kInput.
Result<HostTensor> allocate_npy(const NpyHeader& header, const std::string& file, std::string_view key);
// Makes it row-major and little endian, once it is filled. Errors: kInput (a bool that is neither 0 nor 1).
Result<HostTensor> finish_npy(const NpyHeader& header, HostTensor filled, const std::string& file,
                              std::string_view key);

// The header for a row-major array, padded to 64 bytes. Errors: kOutput for a dtype that NumPy does not have.
Result<std::string> npy_header_text(DType dtype, const Shape& shape, const std::string& file);

}  // namespace pterun::io
