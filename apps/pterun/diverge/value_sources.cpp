// A list, searched from its end: programs have some thousand writes at most that are not covered by later ones.
#include "pterun/diverge/value_sources.h"

#include <algorithm>
#include <cstdint>

namespace pterun::app {
namespace {

std::pair<std::uintptr_t, std::uintptr_t> range_of(const Tensor& tensor) {
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.raw_data());
  return {begin, begin + tensor.nbytes()};
}

}  // namespace

void MemorySources::write(const Tensor& tensor, std::vector<std::size_t> results) {
  const auto [begin, end] = range_of(tensor);
  if (begin == end) return;
  std::erase_if(writes_, [&](const Write& write) { return begin <= write.begin && write.end <= end; });
  writes_.push_back({begin, end, std::move(results)});
}

void MemorySources::collect(const Tensor& tensor, std::vector<std::size_t>& results) const {
  const auto [begin, end] = range_of(tensor);
  if (begin == end) return;
  for (std::size_t i = writes_.size(); i-- > 0;) {
    const Write& write = writes_[i];
    if (write.end <= begin || end <= write.begin) continue;
    for (const std::size_t result : write.results)
      if (std::ranges::find(results, result) == results.end()) results.push_back(result);
    if (write.begin <= begin && end <= write.end) return;
  }
}

}  // namespace pterun::app
