// Edit distance and the choice of a suggestion.
#include "base/suggest.h"

#include <algorithm>
#include <vector>

namespace pterun {
namespace {

// Longer words are no misspelling of ours; the bound keeps a hostile name from costing time.
constexpr std::size_t kMaxWordBytes = 128;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

std::string_view closest_name(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kMaxWordBytes) return {};
  const std::string wanted = lower(word);
  std::string_view best;
  std::size_t best_distance = kMaxWordBytes + 1;
  for (const std::string_view candidate : candidates) {
    const std::string name = lower(candidate);
    std::size_t distance = edit_distance(wanted, name);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(wanted.size(), name.size()) / 3);
    const bool is_beginning = wanted.size() >= 3 && name.starts_with(wanted);
    if (is_beginning) distance = std::min(distance, allowed);
    if (distance > allowed || distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view name = closest_name(word, candidates);
  return name.empty() ? std::string() : "did you mean '" + std::string(name) + "'?";
}

}  // namespace pterun
