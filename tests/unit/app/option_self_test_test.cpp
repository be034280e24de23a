// The self-test of the option checks: complete for any table, and able to fail.
#include "pterun/session/option_self_test.h"

#include <algorithm>
#include <memory>
#include <set>

#include <catch2/catch_test_macros.hpp>

#include "support/stub_backend.h"

using namespace pterun;
using namespace pterun::app;

TEST_CASE("every injected fault is caught, for every backend's table, and nothing is set") {
  backend::BackendRegistry registry;
  auto owned = std::make_unique<test::StubBackend>();
  const test::StubBackend& stub = *owned;
  REQUIRE(registry.add(std::move(owned)));
  REQUIRE(registry.add(std::make_unique<test::StubBackend>("OtherBackend")));
  const auto cases = self_test_options(registry);
  std::set<std::string> codes;
  for (const SelfTestCase& result : cases) {
    CAPTURE(result.what, result.given, result.found);
    CHECK(result.found == result.expected);
    codes.insert(result.expected);
  }
  CHECK(codes == std::set<std::string>{"accepted", "duplicate_option", "evidence", "option_path", "option_syntax",
                                       "option_type", "option_value", "unknown_backend", "unknown_option"});
  for (const std::string name : {"StubBackend.", "OtherBackend."}) {
    CHECK(std::ranges::any_of(cases, [&](const auto& c) { return c.given.find(name) != std::string::npos; }));
  }
  CHECK(stub.set_calls() == 0);
}

TEST_CASE("a fault that was not caught is shown as missed") {
  const std::vector<SelfTestCase> cases = {{"wrong type", "--load-option B.k=x", "option_type", "accepted"},
                                           {"unknown key", "--load-option B.x=1", "unknown_option", "unknown_option"}};
  const std::string text = self_test_text(cases);
  CHECK(text.find("MISSED  accepted            wrong type: --load-option B.k=x\n") == 0);
  CHECK(text.find("1 of 2 as expected\n") != std::string::npos);
  const std::string json = self_test_json(cases);
  CHECK(json.find("\"caught\": 1") != std::string::npos);
  CHECK(json.find("\"caught\": false") != std::string::npos);
}
