// SHA-256 (FIPS 180-4), for the identity of files and outputs in a report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace pterun {

class Sha256 {
 public:
  void update(Bytes bytes);
  // 64 lower-case hex digits of all bytes so far. Nothing may be added afterwards.
  std::string hex_digest();

 private:
  void compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t total_bytes_ = 0;
};

std::string sha256_hex(Bytes bytes);

// Of a whole file, read in chunks, so that it costs no resident memory. Errors: kAccessFailed, place "file".
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace pterun
