// Any bytes read as a cache file of packed weights: as they are, and sealed, with the file's size and the header's
// checksum made right, so that the index is read too. Every byte that an accepted file promises is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "backends/xnnpack/cache_file.h"
#include "backends/xnnpack/weight_keys.h"
#include "memory_file.h"

namespace {

using namespace pterun;
using namespace pterun::backends::xnn;

// As in the files of the corpus.
const CacheIdentity& identity() {
  static const CacheIdentity here{"program-hash-16b", "2024-11-08 build 1", "avx2 fma3"};
  return here;
}

void put(std::string& content, std::size_t offset, std::uint64_t value) {
  std::memcpy(content.data() + offset, &value, sizeof value);
}

// The layout of docs/weight-cache.md. An index that is said to be longer than the file ends with it.
std::string sealed(std::string content) {
  if (content.size() < 64) return content;
  std::uint64_t index_bytes;
  std::memcpy(&index_bytes, content.data() + 32, sizeof index_bytes);
  if (index_bytes > content.size() - 64) index_bytes = content.size() - 64;
  put(content, 16, content.size());
  put(content, 24, 64);
  put(content, 32, index_bytes);
  const Bytes bytes = std::as_bytes(std::span(content));
  const std::string both = fingerprint(bytes.first(48)) + fingerprint(bytes.subspan(64, index_bytes));
  return content.replace(48, 16, fingerprint(std::as_bytes(std::span(both))));
}

void check_entry(const CacheFile& file, const CacheEntry& entry) {
  const auto address = reinterpret_cast<std::uintptr_t>(entry.weights.data());
  if (file.find(entry.key) != &entry || address % 64 != 0 || entry.fingerprint.size() != 16) std::abort();
  if (entry.weights.size() > file.file_bytes()) std::abort();
  std::size_t letters = 0;
  for (const std::string_view method : entry.methods)
    letters += method.size();
  if (fingerprint(entry.weights).size() + letters < 16) std::abort();
}

void read_cache(const MemoryFile& file) {
  const auto opened = CacheFile::open(file.path(), identity(), false);
  const auto verified = CacheFile::open(file.path(), identity(), true);
  if (!opened) {
    // A file that must not be used is replaced, so that the reason has to be the file's and has to be said.
    const bool is_rejected = opened.error().code == ErrorCode::kInvalidExternalData;
    if (verified || !is_rejected || opened.error().message.empty()) std::abort();
    return;
  }
  for (const CacheEntry& entry : (*opened)->entries())
    check_entry(**opened, entry);
  if (!verified) return;
  for (const CacheEntry& entry : (*verified)->entries()) {
    if (fingerprint(entry.weights) != entry.fingerprint) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  file.fill(data, size);
  read_cache(file);
  const std::string content = sealed(std::string(reinterpret_cast<const char*>(data), size));
  file.fill(content.data(), content.size());
  read_cache(file);
  return 0;
}
