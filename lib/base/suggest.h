// "did you mean": the known name closest to a misspelt one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace pterun {

// Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours, each 1.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate closest to `word`, ignoring ASCII case, or "" when none is close: at most a third of the longer one's
// length apart (at least 1), or the word is the beginning of the candidate and has 3 bytes or more. The first wins a
// tie.
std::string_view closest_name(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean 'NAME'?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace pterun
