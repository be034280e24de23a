// The list of families: every overload stands in it once.
#include "operators/families/families.h"

#include <catch2/catch_test_macros.hpp>

using namespace pterun;
using namespace pterun::operators;

TEST_CASE("no overload is in two families and no family is listed twice") {
  OperatorRegistry registry;
  for (const std::span<const OperatorRow> family : operator_families()) {
    REQUIRE_FALSE(family.empty());
    const Result<void> added = registry.add(family);
    INFO((added ? "" : added.error().to_string()));
    CHECK(added);
  }
}
