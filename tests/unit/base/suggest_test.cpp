// Edit distance and the choice of a suggestion.
#include "base/suggest.h"

#include <array>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

namespace {

constexpr std::array<std::string_view, 4> kFlags = {"--threads", "--timeout", "--iterations", "--seed"};

}  // namespace

TEST_CASE("the distance counts insertions, deletions, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "abxc") == 1);
  CHECK(edit_distance("abc", "ac") == 1);
  CHECK(edit_distance("abc", "axc") == 1);
  CHECK(edit_distance("abc", "acb") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the distance is the same both ways") {
  CHECK(edit_distance("workspace", "workpsace_mode") == edit_distance("workpsace_mode", "workspace"));
}

TEST_CASE("the closest name is found whatever its case") {
  CHECK(closest_name("--theads", kFlags) == "--threads");
  CHECK(closest_name("--SEED", kFlags) == "--seed");
}

TEST_CASE("a beginning of three letters is enough, fewer are not") {
  CHECK(closest_name("--iter", kFlags) == "--iterations");
  constexpr std::array<std::string_view, 1> kOne = {"workspace_sharing_mode"};
  CHECK(closest_name("wor", kOne) == "workspace_sharing_mode");
  CHECK(closest_name("wo", kOne).empty());
}

TEST_CASE("what is far from everything gets no suggestion") {
  CHECK(closest_name("--verbose", kFlags).empty());
  CHECK(closest_name("", kFlags).empty());
  CHECK(closest_name("x", {}).empty());
}

TEST_CASE("the first of two equally close names wins") {
  constexpr std::array<std::string_view, 2> kTwins = {"cat", "car"};
  CHECK(closest_name("cas", kTwins) == "cat");
}

TEST_CASE("a very long word is no misspelling") {
  const std::string word(129, 'a');
  const std::array<std::string_view, 1> same = {word};
  CHECK(closest_name(word, same).empty());
}

TEST_CASE("a suggestion is a question, or nothing") {
  CHECK(did_you_mean("--sed", kFlags) == "did you mean '--seed'?");
  CHECK(did_you_mean("--verbose", kFlags).empty());
}
