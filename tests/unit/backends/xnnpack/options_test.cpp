// The backend's options, past the command line's own checks.
#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack/xnnpack_backend.h"
#include "support/operator_call.h"
#include "support/payload_builder.h"

using namespace pterun;
using namespace pterun::test;
using options::Option;
using options::OptionValue;

namespace {

Option mode(std::int32_t value) {
  return {"workspace_sharing_mode", OptionValue(value)};
}
Option cache(bool value) {
  return {"weight_cache_enabled", OptionValue(value)};
}

// A graph with one node: y = |x|.
struct AbsPayload : PayloadBuilder {
  AbsPayload() {
    const auto x = input(DataType::kFp32, {4});
    const auto y = output(DataType::kFp32, {4});
    node(NodeKind::kAbs, {x}, {y});
  }
};

void check_set_refused(const std::vector<Option>& options, ErrorCode code, std::string_view part) {
  const auto backend = backends::make_xnnpack_backend();
  REQUIRE_RESULT(backend->set_option(std::vector{mode(1)}));
  const auto result = backend->set_option(options);
  REQUIRE(!result);
  INFO(result.error().to_string());
  CHECK(result.error().code == code);
  CHECK(result.error().message.find(part) != std::string::npos);
  // All or none: what stood in front of the wrong one is not stored either.
  CHECK(*backend->get_option("workspace_sharing_mode") == OptionValue(std::int32_t{1}));
  CHECK(*backend->get_option("weight_cache_enabled") == OptionValue(false));
}

void check_load_refused(const Option& option, std::string_view part) {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  harness.load_options = {option};
  AbsPayload payload;
  const auto result = harness.init(payload);
  REQUIRE(!result);
  INFO(result.error().to_string());
  CHECK(result.error().code == ErrorCode::kInvalidArgument);
  CHECK(result.error().blame == Blame::kRuntime);
  CHECK(result.error().message.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("the option table is the contract's") {
  const auto backend = backends::make_xnnpack_backend();
  const auto& table = backend->option_table();
  CHECK(table.backend == "XnnpackBackend");
  REQUIRE(table.specs.size() == 4);
  const auto* sharing = table.find("workspace_sharing_mode");
  REQUIRE(sharing != nullptr);
  CHECK((sharing->process_wide && sharing->load && sharing->min == 0 && sharing->max == 2));
  CHECK(sharing->default_value == OptionValue(std::int32_t{2}));
  CHECK(sharing->names ==
        std::vector<std::pair<std::string, std::int32_t>>{{"disabled", 0}, {"per_model", 1}, {"global", 2}});
  const auto* path = table.find("packed_cache_path");
  REQUIRE(path != nullptr);
  CHECK((!path->process_wide && path->load && path->requires_true == "weight_cache_enabled"));
  const auto* save = table.find("save_weight_cache_on_disk");
  REQUIRE(save != nullptr);
  CHECK((save->process_wide && !save->load && save->action));
}

TEST_CASE("reads back what was set process-wide, and the defaults before") {
  const auto backend = backends::make_xnnpack_backend();
  CHECK(*backend->get_option("workspace_sharing_mode") == OptionValue(std::int32_t{2}));
  CHECK(*backend->get_option("weight_cache_enabled") == OptionValue(false));
  REQUIRE_RESULT(backend->set_option(std::vector{mode(0), cache(true)}));
  CHECK(*backend->get_option("workspace_sharing_mode") == OptionValue(std::int32_t{0}));
  CHECK(*backend->get_option("weight_cache_enabled") == OptionValue(true));
  for (const char* key : {"packed_cache_path", "save_weight_cache_on_disk", "nope"}) {
    const auto value = backend->get_option(key);
    REQUIRE(!value);
    CHECK(value.error().code == ErrorCode::kNotFound);
  }
}

TEST_CASE("refuses process-wide options and stores none of them") {
  using enum ErrorCode;
  check_set_refused({cache(true), mode(3)}, kInvalidArgument, "XnnpackBackend.workspace_sharing_mode: expected 0 to 2");
  check_set_refused({cache(true), mode(-1)}, kInvalidArgument, "found -1");
  check_set_refused({cache(true), {"workspace_sharing_mode", OptionValue(true)}}, kInvalidArgument, "expected int");
  check_set_refused({mode(0), {"weight_cache_enabled", OptionValue(std::int32_t{1})}}, kInvalidArgument,
                    "expected bool");
  check_set_refused({cache(true), {"nope", OptionValue(true)}}, kNotFound, "XnnpackBackend.nope");
  check_set_refused({cache(true), {"packed_cache_path", OptionValue(std::string("p"))}}, kInvalidArgument,
                    "not a process-wide option");
}

TEST_CASE("a load option of the wrong type or range fails init, as one that travelled all the way") {
  check_load_refused(mode(3), "XnnpackBackend.workspace_sharing_mode: expected 0 to 2, found 3");
  check_load_refused({"workspace_sharing_mode", OptionValue(true)}, "expected int, found bool true");
  check_load_refused({"weight_cache_enabled", OptionValue(std::int32_t{1})}, "expected bool, found int 1");
  check_load_refused({"save_weight_cache_on_disk", OptionValue(true)}, "not a load option");
}

TEST_CASE("a load option wins over the process-wide value, for its delegate only") {
  const auto backend = backends::make_xnnpack_backend();
  REQUIRE_RESULT(backend->set_option(std::vector{mode(0)}));
  DelegateHarness with(*backend), without(*backend);
  with.load_options = {mode(1), cache(true)};
  AbsPayload first, second;
  REQUIRE_RESULT(with.init(first));
  REQUIRE_RESULT(without.init(second));
  const auto effects = with.delegate().option_effects();
  REQUIRE(effects.size() == 2);
  CHECK(effects[0].key == "workspace_sharing_mode");
  CHECK(effects[0].value == OptionValue(std::int32_t{1}));
  CHECK(effects[0].detail.starts_with("per_model: workspace "));
  CHECK(effects[1].value == OptionValue(true));
  CHECK(without.delegate().option_effects()[0].value == OptionValue(std::int32_t{0}));
  CHECK(without.delegate().option_effects()[1].value == OptionValue(false));
  CHECK(*backend->get_option("workspace_sharing_mode") == OptionValue(std::int32_t{0}));
}

TEST_CASE("a load option that the table does not know is left alone") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  harness.load_options = {{"future_key", OptionValue(true)}};
  AbsPayload payload;
  REQUIRE_RESULT(harness.init(payload));
}
