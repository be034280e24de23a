// Every row of the contract's table of rejected options, on both paths, from flags; order of checks; what wins.
#include "options/check.h"

#include <catch2/catch_test_macros.hpp>

#include "support/stub_backend.h"

namespace {

using namespace pterun;
using namespace pterun::options;

struct Flag {
  OptionPath path;
  std::string text;
};

constexpr OptionPath kGlobal = OptionPath::kGlobal;
constexpr OptionPath kLoad = OptionPath::kLoad;

Result<CheckedOptions> check(const std::vector<OptionRequest>& requests, const CheckSettings& settings = {}) {
  const OptionTable table = test::stub_option_table("StubBackend");
  const OptionTable other = test::stub_option_table("OtherBackend");
  const OptionTable* tables[] = {&table, &other};
  return check_options(requests, tables, settings);
}

Result<CheckedOptions> check_flags(const std::vector<Flag>& flags, const CheckSettings& settings = {}) {
  std::vector<OptionRequest> requests;
  std::size_t global = 0;
  std::size_t load = 0;
  for (const Flag& flag : flags) {
    auto request = parse_flag(flag.text, flag.path, flag.path == kGlobal ? ++global : ++load);
    if (!request) return fail(request.error());
    requests.push_back(*std::move(request));
  }
  return check(requests, settings);
}

// The error names the option, where it came from, what was expected and what was found.
void check_error(const Result<CheckedOptions>& result, ErrorCode code, const std::string& option,
                 const std::string& source) {
  REQUIRE_FALSE(result.has_value());
  const Error& error = result.error();
  CHECK(error_code_name(error.code) == error_code_name(code));
  CHECK(exit_code(error) == 2);
  CHECK(error.where.at("option") == option);
  CHECK(error.where.at("source") == source);
  CHECK(error.message.find(option) != std::string::npos);
  CHECK(error.message.find(source) != std::string::npos);
  CHECK(error.message.find("expected") != std::string::npos);
}

const std::string k63(63, 'k');
const std::string k64(64, 'k');

}  // namespace

TEST_CASE("a flag splits at the first dot, colon and equals sign") {
  const auto request = parse_flag("B.k.x:str=a=b:c.d", kLoad, 3);
  REQUIRE(request);
  CHECK(request->backend == "B");
  CHECK(request->key == "k.x");
  CHECK(std::get<FlagText>(request->value).text == "a=b:c.d");
  CHECK(std::get<FlagText>(request->value).stated_type == "str");
  CHECK(request->source == "--load-option #3");
}

TEST_CASE("rejects text without dot or equals sign where they belong") {
  for (const OptionPath path : {kGlobal, kLoad}) {
    for (const std::string text : {"", "StubBackend", "StubBackend.level", "level=1", "StubBackend=1.5", "Stub:level=1",
                                   "StubBackend.level:=1"}) {
      CAPTURE(text);
      const auto result = parse_flag(text, path, 2);
      REQUIRE_FALSE(result);
      CHECK(error_code_name(result.error().code) == "option_syntax");
      CHECK(exit_code(result.error()) == 2);
      CHECK(result.error().where.at("source") == (path == kGlobal ? "--global-option #2" : "--load-option #2"));
      CHECK(result.error().message.find("'" + text + "'") != std::string::npos);
    }
  }
}

TEST_CASE("flags are typed by the table") {
  const auto result = check_flags({{kLoad, "StubBackend.level=2"},
                                   {kLoad, "StubBackend.cache=true"},
                                   {kLoad, "StubBackend.label=12"},
                                   {kLoad, "StubBackend.cache_dir=a=b"},
                                   {kGlobal, "StubBackend.level=full"},
                                   {kGlobal, "StubBackend.log_level=-7"},
                                   {kGlobal, "StubBackend.label=true"},
                                   {kGlobal, "StubBackend.flush=true"}});
  REQUIRE(result);
  REQUIRE(result->load.size() == 4);
  CHECK(result->load[0].value == OptionValue(2));
  CHECK(result->load[1].value == OptionValue(true));
  CHECK(result->load[2].value == OptionValue(std::string("12")));
  CHECK(result->load[3].value == OptionValue(std::string("a=b")));
  REQUIRE(result->global.size() == 3);
  CHECK(result->global[0].value == OptionValue(3));
  CHECK(result->global[1].value == OptionValue(-7));
  CHECK(result->global[2].value == OptionValue(std::string("true")));
  REQUIRE(result->actions.size() == 1);
  CHECK(result->actions[0].key == "flush");
  CHECK(result->warnings.empty());
}

TEST_CASE("a stated type must agree with the table") {
  for (const std::string text : {"StubBackend.level:int=1", "StubBackend.level:int=low", "StubBackend.cache:bool=true",
                                 "StubBackend.label:str=1"}) {
    CAPTURE(text);
    CHECK(check_flags({{kLoad, text}}));
  }
  for (const std::string text : {"StubBackend.level:str=1", "StubBackend.level:bool=true", "StubBackend.cache:int=1",
                                 "StubBackend.label:int=1", "StubBackend.label:bool=true", "StubBackend.level:float=1",
                                 "StubBackend.level:string=1", "StubBackend.level:INT=1"}) {
    CAPTURE(text);
    const std::string name = text.substr(0, text.find(':'));
    check_error(check_flags({{kLoad, text}}), ErrorCode::kOptionType, name, "--load-option #1");
  }
}

TEST_CASE("every rejected flag names option, source, expected and found, on both paths") {
  struct Row {
    std::string text;
    ErrorCode code;
    std::string found;  // part of the message
  };
  const Row rows[] = {
      // Type.
      {"StubBackend.level=1.5", ErrorCode::kOptionType, "'1.5'"},
      {"StubBackend.level=", ErrorCode::kOptionType, "''"},
      {"StubBackend.level=true", ErrorCode::kOptionType, "'true'"},
      {"StubBackend.level=hihg", ErrorCode::kOptionType, "'hihg'"},
      {"StubBackend.level=0x1", ErrorCode::kOptionType, "'0x1'"},
      {"StubBackend.level= 1", ErrorCode::kOptionType, "' 1'"},
      {"StubBackend.cache=1", ErrorCode::kOptionType, "'1'"},
      {"StubBackend.cache=True", ErrorCode::kOptionType, "'True'"},
      {"StubBackend.cache=", ErrorCode::kOptionType, "''"},
      {"StubBackend.label=\xff\xfe", ErrorCode::kOptionType, "\\xFF\\xFE"},
      {"StubBackend.\xc3=1", ErrorCode::kOptionType, "not UTF-8"},
      {"Stub\x80.level=1", ErrorCode::kOptionType, "not UTF-8"},
      // Value.
      {"StubBackend.level=4", ErrorCode::kOptionValue, "found 4"},
      {"StubBackend.level=-1", ErrorCode::kOptionValue, "found -1"},
      {"StubBackend.level=2147483648", ErrorCode::kOptionValue, "2147483648"},
      {"StubBackend.level=-2147483649", ErrorCode::kOptionValue, "-2147483649"},
      {"StubBackend.level=99999999999999999999999", ErrorCode::kOptionValue, "99999999999999999999999"},
      {"StubBackend.label=" + std::string(256, 'x'), ErrorCode::kOptionValue, "256 bytes"},
      {"StubBackend.label=", ErrorCode::kOptionValue, "empty"},
      {"StubBackend." + k64 + "=1", ErrorCode::kOptionValue, "64 bytes"},
      {"StubBackend.=1", ErrorCode::kOptionValue, "empty"},
      {k64 + ".level=1", ErrorCode::kOptionValue, "64 bytes"},
      {".level=1", ErrorCode::kOptionValue, "empty"},
      // Names.
      {"StubBakend.level=1", ErrorCode::kUnknownBackend, "'StubBakend'"},
      {"stubbackend.level=1", ErrorCode::kUnknownBackend, "'stubbackend'"},
      {k63 + ".level=1", ErrorCode::kUnknownBackend, k63},
      {"StubBackend.levle=1", ErrorCode::kUnknownOption, "'levle'"},
      {"StubBackend." + k63 + "=1", ErrorCode::kUnknownOption, k63},
  };
  for (const OptionPath path : {kGlobal, kLoad}) {
    for (const Row& row : rows) {
      CAPTURE(row.text, option_flag(path));
      const auto result = check_flags({{path, "OtherBackend.label=x"}, {path, row.text}});
      const auto request = parse_flag(row.text, path, 2);
      REQUIRE(request);
      check_error(result, row.code, option_name(request->backend, request->key),
                  std::string(option_flag(path)) + " #2");
      CHECK(result.error().message.find(row.found) != std::string::npos);
    }
  }
}

TEST_CASE("accepts the limits themselves") {
  CHECK(check_flags({{kLoad, "StubBackend.label=" + std::string(255, 'x')}}));
  CHECK(check_flags({{kGlobal, "StubBackend.log_level=2147483647"}}));
  CHECK(check_flags({{kGlobal, "StubBackend.log_level=-2147483648"}}));
  CHECK(check_flags({{kGlobal, "StubBackend.log_level=+5"}}));
}

TEST_CASE("suggests the close name") {
  CHECK(check_flags({{kLoad, "StubBakend.level=1"}}).error().hint == "did you mean 'StubBackend'?");
  CHECK(check_flags({{kLoad, "StubBackend.levle=1"}}).error().hint == "did you mean 'level'?");
  CHECK(check_flags({{kLoad, "StubBackend.level=hihg"}}).error().hint == "did you mean 'high'?");
  CHECK(check_flags({{kLoad, "Elsewhere.level=1"}}).error().hint.find("options list") != std::string::npos);
}

TEST_CASE("a key on a path that it does not have names the right flag") {
  auto result = check_flags({{kGlobal, "StubBackend.cache_dir=x"}});
  check_error(result, ErrorCode::kOptionPath, "StubBackend.cache_dir", "--global-option #1");
  CHECK(result.error().hint.find("--load-option") != std::string::npos);
  for (const std::string key : {"log_level=1", "flush=true"}) {
    result = check_flags({{kLoad, "StubBackend." + key}});
    check_error(result, ErrorCode::kOptionPath, "StubBackend." + key.substr(0, key.find('=')), "--load-option #1");
    CHECK(result.error().hint.find("--global-option") != std::string::npos);
  }
}

TEST_CASE("a ninth backend in the load map is refused by name") {
  std::vector<OptionRequest> requests;
  std::vector<OptionTable> tables;
  for (int i = 0; i < 9; ++i)
    tables.push_back(test::stub_option_table("Backend" + std::to_string(i)));
  std::vector<const OptionTable*> pointers;
  for (const OptionTable& table : tables)
    pointers.push_back(&table);
  for (int i = 0; i < 9; ++i) {
    requests.push_back(*parse_flag("Backend" + std::to_string(i) + ".level=1", kLoad, static_cast<std::size_t>(i) + 1));
  }
  check_error(check_options(requests, pointers, {}), ErrorCode::kOptionValue, "Backend8.level", "--load-option #9");
  requests.pop_back();
  CHECK(check_options(requests, pointers, {}));
  // Process-wide options have no map.
  for (OptionRequest& request : requests)
    request.path = kGlobal;
  requests.push_back(*parse_flag("Backend8.level=1", kGlobal, 9));
  CHECK(check_options(requests, pointers, {}));
}

TEST_CASE("the same key twice in one source is an error, in two sources the flag wins and keeps what it shadows") {
  for (const OptionPath path : {kGlobal, kLoad}) {
    const auto result = check_flags({{path, "StubBackend.level=1"}, {path, "StubBackend.level=1"}});
    check_error(result, ErrorCode::kDuplicateOption, "StubBackend.level", std::string(option_flag(path)) + " #2");
    CHECK(result.error().message.find("#1") != std::string::npos);
  }
  CHECK(check_flags({{kGlobal, "StubBackend.level=1"}, {kLoad, "StubBackend.level=2"}}));

  const std::vector<OptionRequest> requests = {
      {"StubBackend", "level", std::int64_t{3}, kLoad, "c.json:/load_options/StubBackend/level (line 2)", 1},
      {"StubBackend", "level", FlagText{"low", ""}, kLoad, "--load-option #1", kFlagLayer}};
  const auto result = check(requests);
  REQUIRE(result);
  REQUIRE(result->load.size() == 1);
  CHECK(result->load[0].value == OptionValue(0));
  REQUIRE(result->load[0].shadowed.size() == 1);
  CHECK(result->load[0].shadowed[0].value == OptionValue(3));
  CHECK(result->load[0].shadowed[0].source == "c.json:/load_options/StubBackend/level (line 2)");
}

TEST_CASE("a wrong value that a flag shadows is still an error") {
  const std::vector<OptionRequest> requests = {
      {"StubBackend", "level", std::int64_t{9}, kLoad, "c.json:/load_options/StubBackend/level (line 2)", 1},
      {"StubBackend", "level", FlagText{"low", ""}, kLoad, "--load-option #1", kFlagLayer}};
  check_error(check(requests), ErrorCode::kOptionValue, "StubBackend.level",
              "c.json:/load_options/StubBackend/level (line 2)");
}

TEST_CASE("JSON values keep their types") {
  struct Row {
    std::string key;
    RequestedValue value;
    ErrorCode code;
  };
  const Row rows[] = {
      {"level", MistypedJson{"the float 1.5", false}, ErrorCode::kOptionType},
      {"level", MistypedJson{"null", false}, ErrorCode::kOptionType},
      {"level", MistypedJson{"an array", false}, ErrorCode::kOptionType},
      {"cache", MistypedJson{"an object", false}, ErrorCode::kOptionType},
      {"level", true, ErrorCode::kOptionType},
      {"level", std::string("1"), ErrorCode::kOptionType},
      {"level", std::string("low"), ErrorCode::kOptionType},
      {"cache", std::int64_t{1}, ErrorCode::kOptionType},
      {"cache", std::string("true"), ErrorCode::kOptionType},
      {"label", std::int64_t{1}, ErrorCode::kOptionType},
      {"label", false, ErrorCode::kOptionType},
      {"label", std::string("\xff"), ErrorCode::kOptionType},
      {"level", std::int64_t{4}, ErrorCode::kOptionValue},
      {"level", std::int64_t{2147483648}, ErrorCode::kOptionValue},
      {"level", HugeInteger{"99999999999999999999"}, ErrorCode::kOptionValue},
      {"cache", std::int64_t{-2147483649}, ErrorCode::kOptionValue},
      {"label", std::string(256, 'x'), ErrorCode::kOptionValue},
      {"label", std::string("a\0b", 3), ErrorCode::kOptionValue},
      {"", true, ErrorCode::kOptionValue},
      {k64, true, ErrorCode::kOptionValue},
      {std::string("a\0b", 3), true, ErrorCode::kOptionValue},
      {"levle", std::int64_t{1}, ErrorCode::kUnknownOption},
  };
  for (const OptionPath path : {kGlobal, kLoad}) {
    for (const Row& row : rows) {
      CAPTURE(row.key, requested_text(row.value));
      check_error(check({{"StubBackend", row.key, row.value, path, "c.json:/x (line 3)", 1}}), row.code,
                  option_name("StubBackend", row.key), "c.json:/x (line 3)");
    }
    check_error(check({{"StubBackend", "", MistypedJson{"the integer 1", true}, path, "c.json:/x (line 3)", 1}}),
                ErrorCode::kOptionType, "StubBackend", "c.json:/x (line 3)");
    check_error(check({{"Elsewhere", "", MistypedJson{"the integer 1", true}, path, "c.json:/x (line 3)", 1}}),
                ErrorCode::kUnknownBackend, "Elsewhere", "c.json:/x (line 3)");
  }
}

TEST_CASE("limits are checked first, then backend, key, path, type, range") {
  const std::string long_value(256, 'x');
  struct Row {
    OptionPath path;
    std::string text;
    ErrorCode code;
  };
  const Row rows[] = {
      {kLoad, "Elsewhere." + k64 + "=1", ErrorCode::kOptionValue},                // limit before backend
      {kLoad, "Elsewhere.k=" + long_value, ErrorCode::kOptionValue},              // limit before backend
      {kLoad, "Elsewhere.k=3000000000", ErrorCode::kOptionValue},                 // limit before backend
      {kGlobal, "StubBackend.cache_dir=" + long_value, ErrorCode::kOptionValue},  // limit before path
      {kLoad, "Elsewhere.k=1.5", ErrorCode::kUnknownBackend},                     // backend before key
      {kLoad, "StubBackend.k=1.5", ErrorCode::kUnknownOption},                    // key before type
      {kLoad, "StubBackend.log_level=1.5", ErrorCode::kOptionPath},               // path before type
      {kLoad, "StubBackend.level:bool=9", ErrorCode::kOptionType},                // type before range
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto result = check_flags({{row.path, row.text}});
    REQUIRE_FALSE(result);
    CHECK(error_code_name(result.error().code) == error_code_name(row.code));
  }
}

TEST_CASE("the limits of all options are checked before the names of any") {
  const auto result = check_flags({{kLoad, "Elsewhere.level=1"}, {kGlobal, "StubBackend." + k64 + "=1"}});
  check_error(result, ErrorCode::kOptionValue, option_name("StubBackend", k64), "--global-option #1");
}

TEST_CASE("an unknown key is a warning with allow_unknown and keeps the type that it looks like") {
  CheckSettings settings;
  settings.allow_unknown = true;
  const auto result = check_flags({{kLoad, "StubBackend.a=true"},
                                   {kLoad, "StubBackend.b=-3"},
                                   {kLoad, "StubBackend.c=1.5"},
                                   {kLoad, "StubBackend.d:str=7"},
                                   {kGlobal, "StubBackend.e:int=7"}},
                                  settings);
  REQUIRE(result);
  REQUIRE(result->load.size() == 4);
  CHECK(result->load[0].value == OptionValue(true));
  CHECK(result->load[1].value == OptionValue(-3));
  CHECK(result->load[2].value == OptionValue(std::string("1.5")));
  CHECK(result->load[3].value == OptionValue(std::string("7")));
  CHECK(result->global.at(0).value == OptionValue(7));
  CHECK_FALSE(result->load[0].known);
  REQUIRE(result->warnings.size() == 5);
  CHECK(result->warnings[0].code == "unknown_option");
  CHECK(result->warnings[0].message.find("StubBackend.a") != std::string::npos);

  check_error(check_flags({{kLoad, "Elsewhere.a=1"}}, settings), ErrorCode::kUnknownBackend, "Elsewhere.a",
              "--load-option #1");
  check_error(check_flags({{kLoad, "StubBackend.a:int=x"}}, settings), ErrorCode::kOptionType, "StubBackend.a",
              "--load-option #1");
  check_error(check_flags({{kLoad, "StubBackend.a=3000000000"}}, settings), ErrorCode::kOptionValue, "StubBackend.a",
              "--load-option #1");
}

TEST_CASE("raw options skip range and path checks, not types, limits and names") {
  CheckSettings raw;
  raw.raw = true;
  const auto result = check_flags({{kLoad, "StubBackend.level=9"},
                                   {kLoad, "StubBackend.log_level=1"},
                                   {kGlobal, "StubBackend.cache_dir=x"},
                                   {kLoad, "StubBackend.cache_dir=x"}},
                                  raw);
  REQUIRE(result);
  CHECK(result->load.at(0).value == OptionValue(9));
  CHECK(result->load.size() == 3);
  CHECK(result->global.at(0).key == "cache_dir");
  const std::pair<std::string, ErrorCode> rows[] = {{"StubBackend.level=x", ErrorCode::kOptionType},
                                                    {"StubBackend.level=3000000000", ErrorCode::kOptionValue},
                                                    {"StubBackend.k=1", ErrorCode::kUnknownOption},
                                                    {"Elsewhere.k=1", ErrorCode::kUnknownBackend}};
  for (const auto& [text, code] : rows) {
    CAPTURE(text);
    check_error(check_flags({{kLoad, text}}, raw), code, text.substr(0, text.find('=')), "--load-option #1");
  }
}

TEST_CASE("an option that requires another one looks at this load, then process-wide, then at what is in force") {
  const Flag directory = {kLoad, "StubBackend.cache_dir=x"};
  CheckSettings on;
  on.current = [](const std::string&, const std::string&) { return OptionValue(true); };
  CheckSettings off;
  off.current = [](const std::string&, const std::string&) { return OptionValue(false); };
  const std::string name = "StubBackend.cache_dir";

  check_error(check_flags({directory}), ErrorCode::kOptionValue, name, "--load-option #1");
  check_error(check_flags({directory}, off), ErrorCode::kOptionValue, name, "--load-option #1");
  CHECK(check_flags({directory}, on));
  CHECK(check_flags({directory, {kGlobal, "StubBackend.cache=true"}}, off));
  CHECK(check_flags({directory, {kLoad, "StubBackend.cache=true"}}, off));
  check_error(check_flags({directory, {kGlobal, "StubBackend.cache=false"}}, on), ErrorCode::kOptionValue, name,
              "--load-option #1");
  check_error(check_flags({directory, {kLoad, "StubBackend.cache=false"}, {kGlobal, "StubBackend.cache=true"}}, on),
              ErrorCode::kOptionValue, name, "--load-option #1");
  // Another backend's key does not count.
  check_error(check_flags({directory, {kLoad, "OtherBackend.cache=true"}}, off), ErrorCode::kOptionValue, name,
              "--load-option #1");
}

TEST_CASE("an action that is false does nothing and says so") {
  const auto result = check_flags({{kGlobal, "StubBackend.flush=false"}});
  REQUIRE(result);
  REQUIRE(result->warnings.size() == 1);
  CHECK(result->warnings[0].code == "inert_action");
}

TEST_CASE("only a process-wide value can be read") {
  const OptionTable table = test::stub_option_table("StubBackend");
  const OptionTable* tables[] = {&table};
  const auto readable = [&](std::string backend, std::string key) {
    return check_readable({std::move(backend), std::move(key), FlagText{}, kGlobal, "options get", 0}, tables);
  };
  REQUIRE(readable("StubBackend", "level"));
  CHECK((*readable("StubBackend", "level"))->key == "level");
  CHECK(readable("StubBackend", "cache_dir").error().code == ErrorCode::kOptionPath);
  CHECK(readable("StubBackend", "flush").error().code == ErrorCode::kOptionPath);
  CHECK(readable("StubBackend", "levle").error().code == ErrorCode::kUnknownOption);
  CHECK(readable("StubBakend", "level").error().code == ErrorCode::kUnknownBackend);
  CHECK(readable("StubBackend", k64).error().code == ErrorCode::kOptionValue);
}
