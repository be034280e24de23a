// The injected faults: requests made from a backend's own table, and backends that lie.
#include "pterun/session/option_self_test.h"

#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "options/check.h"
#include "pterun/session/option_round_trip.h"
#include "pterun/session/option_session.h"

namespace pterun::app {
namespace {

using options::OptionPath;
using options::OptionRequest;
using options::OptionSpec;
using options::OptionTable;
using options::OptionType;
using options::OptionValue;

constexpr char kAccepted[] = "accepted";

enum class Manner { kHonest, kDrops, kOkToAnything };

// A backend with somebody else's table. Its delegates cannot be made: a self-test loads no program.
class ScriptedBackend final : public backend::Backend {
 public:
  ScriptedBackend(OptionTable table, Manner manner) : table_(std::move(table)), manner_(manner) {
    for (const OptionSpec& spec : table_.specs) {
      if (spec.default_value) values_.emplace(spec.key, *spec.default_value);
    }
  }
  const OptionTable& option_table() const override { return table_; }
  Result<void> set_option(std::span<const options::Option> options) override {
    for (const options::Option& option : options) {
      if (manner_ == Manner::kHonest) values_.insert_or_assign(option.key, option.value);
    }
    return {};
  }
  Result<OptionValue> get_option(std::string_view key) const override {
    const auto found = values_.find(std::string(key));
    if (manner_ == Manner::kOkToAnything) return OptionValue(std::string("ok"));
    if (found == values_.end()) return fail(ErrorCode::kNotFound, "no value");
    return found->second;
  }
  Result<std::unique_ptr<backend::Delegate>> init(const backend::InitContext&, Bytes,
                                                  std::span<const backend::CompileSpec>) override {
    return fail(ErrorCode::kNotSupported, "a scripted backend runs nothing");
  }

 private:
  OptionTable table_;
  Manner manner_;
  std::map<std::string, OptionValue> values_;
};

std::string found_of(const Error& error) {
  return std::string(error_code_name(error.code));
}

class SelfTest {
 public:
  SelfTest(const backend::BackendRegistry& registry, const OptionTable& table) : table_(table) {
    for (const std::string& name : registry.names())
      tables_.push_back(&registry.find(name)->option_table());
  }

  std::vector<SelfTestCase> run() {
    for (const OptionPath path : {OptionPath::kGlobal, OptionPath::kLoad})
      check_names(path);
    for (const OptionSpec& spec : table_.specs)
      check_key(spec);
    check_ninth_backend();
    for (const OptionSpec& spec : table_.specs) {
      if (spec.process_wide && !spec.action) check_liars(spec);
      if (spec.load && spec.requires_true.empty()) check_undelivered(spec);
      if (spec.action) check_idle(spec);
    }
    return std::move(cases_);
  }

 private:
  std::string name(const std::string& key) const { return table_.backend + "." + key; }

  // Each text is one use of the path's flag.
  void flags(const std::string& what, OptionPath path, const std::vector<std::string>& texts, const char* expected) {
    SelfTestCase result{what, "", expected, kAccepted};
    std::vector<OptionRequest> requests;
    for (const std::string& text : texts) {
      result.given += fmt::format("{}{} {}", requests.empty() ? "" : " ", options::option_flag(path), printable(text));
      auto request = options::parse_flag(text, path, requests.size() + 1);
      if (!request) {
        result.found = found_of(request.error());
        cases_.push_back(std::move(result));
        return;
      }
      requests.push_back(*std::move(request));
    }
    judge(std::move(result), requests);
  }

  void json(const std::string& what, OptionPath path, const std::string& key, options::RequestedValue value,
            const char* expected) {
    const std::string source = fmt::format(
        "config:/{}/{}/{}", path == OptionPath::kGlobal ? "global_options" : "load_options", table_.backend, key);
    const std::vector<OptionRequest> requests = {{table_.backend, key, std::move(value), path, source, 1}};
    judge({what, fmt::format("{} is {}", source, options::requested_text(requests[0].value)), expected, kAccepted},
          requests);
  }

  void judge(SelfTestCase result, const std::vector<OptionRequest>& requests) {
    const auto checked = options::check_options(requests, tables_, {});
    if (!checked) result.found = found_of(checked.error());
    cases_.push_back(std::move(result));
  }

  void check_names(OptionPath path) {
    const std::string long_name(options::kMaxNameBytes + 1, 'k');
    flags("text without a value", path, {table_.backend + ".key"}, "option_syntax");
    flags("text without a key", path, {table_.backend + "=1"}, "option_syntax");
    flags("unknown backend", path, {table_.backend + "x.key=1"}, "unknown_backend");
    flags("unknown key", path, {name("no_such_key=1")}, "unknown_option");
    flags("key of 64 bytes", path, {name(long_name + "=1")}, "option_value");
    flags("empty key", path, {name("=1")}, "option_value");
    json("keys that are no object", path, "", options::MistypedJson{"an integer", true}, "option_type");
  }

  void check_key(const OptionSpec& spec) {
    const OptionPath path = spec.load ? OptionPath::kLoad : OptionPath::kGlobal;
    if (!spec.load || !spec.process_wide) {
      const OptionPath wrong = spec.load ? OptionPath::kGlobal : OptionPath::kLoad;
      flags("key on a path that it does not have", wrong, {good_text(spec)}, "option_path");
    }
    flags("the same key twice", path, {good_text(spec), good_text(spec)}, "duplicate_option");
    json("a float", path, spec.key, options::MistypedJson{"the float 1.5", false}, "option_type");
    json("null", path, spec.key, options::MistypedJson{"null", false}, "option_type");
    json("an int of 33 bit", path, spec.key, std::int64_t{1} << 32, "option_value");
    switch (spec.type) {
      case OptionType::kBool:
        flags("a number for a bool", path, {name(spec.key + "=1")}, "option_type");
        json("an int for a bool", path, spec.key, std::int64_t{1}, "option_type");
        break;
      case OptionType::kInt: check_int(spec, path); break;
      case OptionType::kString:
        flags("string of 256 bytes", path, {name(spec.key + "=" + std::string(256, 'x'))}, "option_value");
        json("a bool for a string", path, spec.key, true, "option_type");
        break;
    }
    if (!spec.requires_true.empty()) {
      flags("key without the option that it needs", path, {good_text(spec), name(spec.requires_true + "=false")},
            "option_value");
    }
  }

  void check_int(const OptionSpec& spec, OptionPath path) {
    flags("text for an int", path, {name(spec.key + "=many")}, "option_type");
    flags("a float for an int", path, {name(spec.key + "=1.5")}, "option_type");
    flags("stated type against the table", path, {name(spec.key + ":str=1")}, "option_type");
    json("a bool for an int", path, spec.key, true, "option_type");
    json("a string for an int", path, spec.key, std::string("1"), "option_type");
    if (spec.max != INT32_MAX) {
      flags("int above the range", path, {fmt::format("{}={}", name(spec.key), spec.max + 1)}, "option_value");
    }
    if (spec.min != INT32_MIN) {
      flags("int below the range", path, {fmt::format("{}={}", name(spec.key), spec.min - 1)}, "option_value");
    }
  }

  void check_ninth_backend() {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i <= options::kMaxLoadBackends; ++i)
      texts.push_back(fmt::format("Backend{}.key=1", i));
    flags("a ninth backend", OptionPath::kLoad, texts, "option_value");
  }

  // A text that the table accepts, whatever the path.
  std::string good_text(const OptionSpec& spec) const {
    const char* value = spec.type == OptionType::kBool ? "true" : "x";
    return spec.type == OptionType::kInt ? fmt::format("{}={}", name(spec.key), spec.min)
                                         : name(spec.key + "=" + value);
  }

  void round_trip(const std::string& what, const OptionSpec& spec, Manner manner, OptionPath path,
                  config::EvidenceLevel level, const char* expected) {
    backend::BackendRegistry registry;
    CollectingLog log;
    config::OptionsPlan plan;
    plan.require_evidence.value = level;
    plan.requests.push_back(*options::parse_flag(good_text(spec), path, 1));
    SelfTestCase result{what, fmt::format("{} {}", options::option_flag(path), good_text(spec)), expected, kAccepted};
    std::vector<report::OptionReport> reports;
    auto checked = registry.add(std::make_unique<ScriptedBackend>(table_, manner));
    if (checked) checked = check_round_trip(plan, registry, log, reports);
    if (!checked) result.found = found_of(checked.error());
    cases_.push_back(std::move(result));
  }

  void check_liars(const OptionSpec& spec) {
    const auto none = config::EvidenceLevel::kNone;
    const OptionPath path = OptionPath::kGlobal;
    round_trip("control: a backend that keeps what it is given", spec, Manner::kHonest, path, none, kAccepted);
    round_trip("a backend that accepts and drops", spec, Manner::kDrops, path, none, "evidence");
    round_trip("a backend that answers Ok to anything", spec, Manner::kOkToAnything, path, none, "evidence");
  }

  void check_undelivered(const OptionSpec& spec) {
    round_trip("a load option that no program receives, with --require-evidence delivered", spec, Manner::kHonest,
               OptionPath::kLoad, config::EvidenceLevel::kDelivered, "evidence");
  }

  void check_idle(const OptionSpec& spec) {
    round_trip("an action that finds nothing to act on, with --require-evidence effective", spec, Manner::kHonest,
               OptionPath::kGlobal, config::EvidenceLevel::kEffective, "evidence");
  }

  const OptionTable& table_;
  std::vector<const OptionTable*> tables_;
  std::vector<SelfTestCase> cases_;
};

}  // namespace

std::vector<SelfTestCase> self_test_options(const backend::BackendRegistry& registry) {
  std::vector<SelfTestCase> cases;
  for (const std::string& name : registry.names()) {
    for (SelfTestCase& result : SelfTest(registry, registry.find(name)->option_table()).run()) {
      cases.push_back(std::move(result));
    }
  }
  return cases;
}

std::string self_test_text(const std::vector<SelfTestCase>& cases) {
  std::string text;
  std::size_t caught = 0;
  for (const SelfTestCase& result : cases) {
    caught += result.caught();
    const char* verdict = !result.caught() ? "MISSED" : result.expected == kAccepted ? "passed" : "caught";
    text += fmt::format("{}  {:<18}  {}: {}\n", verdict, result.found, result.what, result.given);
  }
  return text + fmt::format("{} of {} as expected\n", caught, cases.size());
}

std::string self_test_json(const std::vector<SelfTestCase>& cases) {
  nlohmann::json list = nlohmann::json::array();
  std::size_t caught = 0;
  for (const SelfTestCase& result : cases) {
    caught += result.caught();
    list.push_back({{"what", result.what},
                    {"given", result.given},
                    {"expected", result.expected},
                    {"found", result.found},
                    {"caught", result.caught()}});
  }
  return nlohmann::json{{"schema", "pterun.selftest/1"}, {"caught", caught}, {"cases", list}}.dump(2) + "\n";
}

}  // namespace pterun::app
