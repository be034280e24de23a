// Any bytes read as a .ptd. Every byte that an accepted file promises is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "exact_copy.h"
#include "program/external_data.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ExactCopy copy(data, size);
  const auto file = pterun::program::ExternalDataFile::parse(copy.bytes(), "input");
  if (!file) return 0;
  for (const pterun::program::ExternalEntry& entry : (*file)->entries()) {
    unsigned sum = 0;
    for (const std::byte byte : entry.data)
      sum += static_cast<unsigned>(byte);
    if ((*file)->find(entry.key) != &entry || sum > 255 * entry.data.size()) std::abort();
  }
  return 0;
}
