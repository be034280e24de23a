// Registration, both option paths of the backend room, and what they refuse.
#include <memory>

#include <catch2/catch_test_macros.hpp>

#include "backend/backend_registry.h"
#include "backend/load_options.h"
#include "support/stub_backend.h"

namespace {

using namespace pterun;
using options::Option;
using options::OptionValue;

backend::BackendRegistry stub_registry() {
  backend::BackendRegistry registry;
  REQUIRE(registry.add(std::make_unique<test::StubBackend>()));
  return registry;
}

OptionValue text(std::string value) {
  return OptionValue(std::move(value));
}

}  // namespace

TEST_CASE("process-wide options are set all or none") {
  auto registry = stub_registry();
  const Option good[] = {{"level", OptionValue(2)}, {"cache", OptionValue(true)}};
  REQUIRE(registry.set_option("StubBackend", good));
  CHECK(*registry.get_option("StubBackend", "level") == OptionValue(2));
  CHECK(*registry.get_option("StubBackend", "cache") == OptionValue(true));

  const Option bad[] = {{"level", OptionValue(0)}, {"cache", OptionValue(7)}};
  CHECK(registry.set_option("StubBackend", bad).error().code == ErrorCode::kInvalidArgument);
  CHECK(*registry.get_option("StubBackend", "level") == OptionValue(2));
}

TEST_CASE("an unknown backend or key is NotFound and named") {
  auto registry = stub_registry();
  const Option option[] = {{"level", OptionValue(2)}};
  auto set = registry.set_option("Nope", option);
  CHECK(set.error().code == ErrorCode::kNotFound);
  CHECK(set.error().message.find("StubBackend") != std::string::npos);
  CHECK(registry.set_option("Nope", {}).error().code == ErrorCode::kNotFound);
  CHECK(registry.get_option("Nope", "level").error().code == ErrorCode::kNotFound);
  for (const std::string key : {"levle", "cache_dir", "flush"}) {
    const auto value = registry.get_option("StubBackend", key);
    CHECK(value.error().code == ErrorCode::kNotFound);
    CHECK(value.error().where.at("option") == "StubBackend." + key);
  }
}

TEST_CASE("a refused option is named") {
  auto registry = stub_registry();
  const Option option[] = {{"level", OptionValue(9)}};
  const auto set = registry.set_option("StubBackend", option);
  CHECK(set.error().where.at("option") == "StubBackend.level");
  CHECK(exit_code(set.error()) == 6);
}

TEST_CASE("the registry refuses a second backend of a name, a long name, an empty name and a 17th") {
  auto registry = stub_registry();
  CHECK(registry.add(std::make_unique<test::StubBackend>()).error().code == ErrorCode::kInvalidArgument);
  CHECK(registry.add(std::make_unique<test::StubBackend>("")).error().code == ErrorCode::kInvalidArgument);
  CHECK(registry.add(std::make_unique<test::StubBackend>(std::string(64, 'b'))).error().code ==
        ErrorCode::kInvalidArgument);
  CHECK(registry.add(std::make_unique<test::StubBackend>(std::string(63, 'b'))));
  for (int i = 2; i < 16; ++i)
    REQUIRE(registry.add(std::make_unique<test::StubBackend>("B" + std::to_string(i))));
  CHECK(registry.add(std::make_unique<test::StubBackend>("Last")).error().code == ErrorCode::kInternal);
  CHECK(registry.names().size() == 16);
}

TEST_CASE("load options keep their order and are found by backend") {
  backend::LoadOptions load;
  CHECK(load.empty());
  REQUIRE(load.add("A", "x", OptionValue(1)));
  REQUIRE(load.add("A", "y", OptionValue(true)));
  REQUIRE(load.add("B", "x", text("t")));
  REQUIRE(load.for_backend("A").size() == 2);
  CHECK(load.for_backend("A")[1] == Option{"y", OptionValue(true)});
  CHECK(load.for_backend("C").empty());
  CHECK_FALSE(load.empty());
}

TEST_CASE("load options refuse what is outside the limits, a key twice and a ninth backend") {
  backend::LoadOptions load;
  const auto refused = [&](const std::string& backend, const std::string& key, OptionValue value) {
    const auto result = load.add(backend, key, std::move(value));
    REQUIRE_FALSE(result);
    CHECK(exit_code(result.error()) == 2);
    CHECK(result.error().message.find(backend + "." + key) != std::string::npos);
    return result.error().code;
  };
  const std::string long_name(64, 'n');
  CHECK(refused("", "x", OptionValue(1)) == ErrorCode::kOptionValue);
  CHECK(refused(long_name, "x", OptionValue(1)) == ErrorCode::kOptionValue);
  CHECK(refused("A", "", OptionValue(1)) == ErrorCode::kOptionValue);
  CHECK(refused("A", long_name, OptionValue(1)) == ErrorCode::kOptionValue);
  CHECK(refused("A", "x", text(std::string(256, 'v'))) == ErrorCode::kOptionValue);
  CHECK(refused("A", "x", text(std::string("a\0b", 3))) == ErrorCode::kOptionValue);
  CHECK(load.empty());

  for (int i = 0; i < 8; ++i)
    REQUIRE(load.add("B" + std::to_string(i), "x", text(std::string(255, 'v'))));
  CHECK(refused("B8", "x", OptionValue(1)) == ErrorCode::kOptionValue);
  CHECK(refused("B0", "x", OptionValue(1)) == ErrorCode::kDuplicateOption);
  CHECK(load.add("B0", std::string(63, 'k'), OptionValue(1)));
  CHECK(load.all().size() == 8);
}

TEST_CASE("init finds its load options by key") {
  const std::vector<Option> given = {{"a", OptionValue(1)}, {"b", OptionValue(false)}};
  backend::InitContext context;
  context.load_options = given;
  REQUIRE(context.load_option("b") != nullptr);
  CHECK(*context.load_option("b") == OptionValue(false));
  CHECK(context.load_option("c") == nullptr);
}
