// Options from request to evidence, with backends that tell the truth and backends that lie. The stub takes the place
// of XnnpackBackend, so that real programs hand their delegates to it.
#include "pterun/session/option_session.h"

#include <algorithm>
#include <memory>

#include <catch2/catch_test_macros.hpp>

#include "base/thread_pool.h"
#include "operators/families/families.h"
#include "options/option_request.h"
#include "pterun/session/option_round_trip.h"
#include "runtime/loader.h"
#include "support/stub_backend.h"

namespace {

using namespace pterun;
using namespace pterun::app;
using options::OptionPath;
using options::OptionValue;
using report::Evidence;
using test::StubManner;

constexpr OptionPath kGlobal = OptionPath::kGlobal;
constexpr OptionPath kLoad = OptionPath::kLoad;
const std::string kName = "XnnpackBackend";

config::OptionsPlan plan_of(const std::vector<std::pair<OptionPath, std::string>>& flags) {
  config::OptionsPlan plan;
  for (const auto& [path, text] : flags) {
    auto request = options::parse_flag(kName + "." + text, path, plan.requests.size() + 1);
    REQUIRE(request);
    plan.requests.push_back(*std::move(request));
  }
  return plan;
}

// A registry with one stub, which stays known to the test.
struct Stage {
  explicit Stage(StubManner manner = StubManner::kHonest, const std::string& name = kName) {
    auto owned = std::make_unique<test::StubBackend>(name, manner);
    stub = owned.get();
    REQUIRE(registry.add(std::move(owned)));
  }
  OptionValue value(const std::string& key) { return *registry.get_option(kName, key); }

  backend::BackendRegistry registry;
  test::StubBackend* stub = nullptr;
  CollectingLog log;
};

// Applies the options, loads the methods of a program of tests/data and collects the evidence.
std::vector<report::OptionReport> load_with(Stage& stage, OptionSession& session, const std::string& file,
                                            const std::vector<std::string>& methods) {
  const auto operators = operators::make_operator_registry();
  ThreadPool threads(1);
  runtime::Loader loader(stage.registry, operators, threads, stage.log);
  REQUIRE(session.apply_process_wide());
  runtime::LoadRequest request;
  request.path = std::string(PTERUN_TEST_DATA) + "/" + file;
  auto options = session.load_options();
  REQUIRE(options);
  request.options = *std::move(options);
  auto program = loader.load(request);
  if (!program) FAIL(program.error().to_string());
  for (const std::string& method : methods) {
    const auto loaded = (*program)->load_method(method);
    if (!loaded) FAIL(loaded.error().to_string());
  }
  REQUIRE(session.apply_actions());
  session.collect(**program, true);
  return session.reports();
}

std::vector<report::OptionReport> evidence_of(Stage& stage,
                                              const std::vector<std::pair<OptionPath, std::string>>& flags,
                                              const std::string& file = "tiny_add.pte",
                                              const std::vector<std::string>& methods = {"forward"}) {
  auto session = OptionSession::check(plan_of(flags), stage.registry, stage.log);
  if (!session) FAIL(session.error().to_string());
  return load_with(stage, *session, file, methods);
}

bool warned(const Stage& stage, const std::string& code) {
  return std::ranges::any_of(stage.log.warnings, [&](const Warning& warning) { return warning.code == code; });
}

}  // namespace

TEST_CASE("an honest backend takes both paths to the top of the ladder") {
  Stage stage;
  const auto reports = evidence_of(stage, {{kGlobal, "level=3"}, {kLoad, "cache=true"}, {kLoad, "label=x"}});
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].evidence == Evidence::kEffective);
  CHECK(reports[0].original == OptionValue(1));
  CHECK(reports[0].stored == OptionValue(3));
  CHECK(reports[0].stored_after == OptionValue(3));
  CHECK(reports[1].evidence == Evidence::kEffective);
  REQUIRE(reports[1].receipts.size() == 1);
  CHECK(reports[1].receipts[0].value == OptionValue(true));
  CHECK(reports[1].receipts[0].result == "Ok");
  REQUIRE(stage.stub->inits().size() == 1);
  CHECK(stage.stub->inits()[0].load_options.size() == 2);
}

TEST_CASE("every delegate of every loaded method gets the load options, a receipt each") {
  Stage stage;
  const auto reports = evidence_of(stage, {{kLoad, "level=2"}}, "multi.pte", {"forward", "encode"});
  CHECK(reports[0].evidence == Evidence::kEffective);
  CHECK(reports[0].receipts.size() == stage.stub->inits().size());
  for (const std::string method : {"forward", "encode"}) {
    CHECK(std::ranges::any_of(reports[0].receipts, [&](const auto& receipt) { return receipt.method == method; }));
  }
  for (const test::StubInit& init : stage.stub->inits()) {
    CHECK(init.load_options == std::vector<options::Option>{{"level", OptionValue(2)}});
  }
}

TEST_CASE("a load option wins over the process-wide value for this program only") {
  Stage stage;
  const auto reports = evidence_of(stage, {{kGlobal, "level=0"}, {kLoad, "level=2"}});
  CHECK(reports[0].evidence == Evidence::kStored);
  CHECK(reports[1].evidence == Evidence::kEffective);
  CHECK(warned(stage, "global_option_overridden"));
  CHECK(stage.value("level") == OptionValue(0));

  const auto plain = evidence_of(stage, {{kGlobal, "level=0"}});
  CHECK(plain[0].evidence == Evidence::kEffective);
}

TEST_CASE("a backend that accepts and drops is noticed") {
  Stage stage(StubManner::kDrops);
  const auto reports = evidence_of(stage, {{kGlobal, "level=3"}});
  CHECK(reports[0].evidence == Evidence::kAccepted);
  CHECK(reports[0].stored == OptionValue(1));
}

TEST_CASE("a backend that stores and ignores is noticed, on both paths") {
  Stage stage(StubManner::kIgnores);
  const auto reports = evidence_of(stage, {{kGlobal, "level=3"}, {kLoad, "cache=true"}});
  CHECK(reports[0].evidence == Evidence::kStored);
  CHECK(reports[1].evidence == Evidence::kDelivered);
}

TEST_CASE("a backend that answers Ok to anything is noticed") {
  Stage stage(StubManner::kOkToAnything);
  const auto reports = evidence_of(stage, {{kGlobal, "level=3"}, {kGlobal, "cache=true"}});
  CHECK(reports[0].evidence == Evidence::kAccepted);
  CHECK(reports[1].evidence == Evidence::kAccepted);
}

TEST_CASE("a load option for a backend that the program does not use stays accepted and is warned about") {
  Stage stage;
  auto other = std::make_unique<test::StubBackend>("OtherBackend");
  REQUIRE(stage.registry.add(std::move(other)));
  config::OptionsPlan plan;
  plan.requests.push_back(*options::parse_flag("OtherBackend.level=2", kLoad, 1));
  auto session = OptionSession::check(plan, stage.registry, stage.log);
  REQUIRE(session);
  const auto reports = load_with(stage, *session, "tiny_add.pte", {"forward"});
  CHECK(reports[0].evidence == Evidence::kAccepted);
  CHECK(reports[0].receipts.empty());
  CHECK(warned(stage, "load_option_unused"));
}

TEST_CASE("less than the required evidence is an error that names option, level and source") {
  Stage stage(StubManner::kIgnores);
  auto session =
      OptionSession::check(plan_of({{kGlobal, "level=3"}, {kLoad, "cache=true"}}), stage.registry, stage.log);
  REQUIRE(session);
  load_with(stage, *session, "tiny_add.pte", {"forward"});
  CHECK(session->require(config::EvidenceLevel::kStored));
  const auto wanted = session->require(config::EvidenceLevel::kEffective);
  REQUIRE_FALSE(wanted);
  CHECK(wanted.error().code == ErrorCode::kEvidence);
  CHECK(exit_code(wanted.error()) == 5);
  CHECK(wanted.error().message.find("XnnpackBackend.level (from --global-option #1) reached 'stored'") !=
        std::string::npos);
  CHECK(wanted.error().message.find("XnnpackBackend.cache (from --load-option #2) reached 'delivered'") !=
        std::string::npos);
}

TEST_CASE("nothing is applied when one of several options is wrong") {
  for (const auto& [path, text] :
       {std::pair(kLoad, "level=9"), std::pair(kLoad, "nope=1"), std::pair(kGlobal, "cache=1"),
        std::pair(kGlobal, "cache_dir=x"), std::pair(kLoad, "cache_dir=x")}) {
    Stage stage;
    const auto session = OptionSession::check(plan_of({{kGlobal, "level=3"}, {path, text}}), stage.registry, stage.log);
    CHECK_FALSE(session);
    CHECK(stage.stub->set_calls() == 0);
    CHECK(stage.value("level") == OptionValue(1));
  }
}

TEST_CASE("a value that the backend refuses takes back those set before it") {
  Stage stage;
  config::OptionsPlan plan = plan_of({{kGlobal, "cache=true"}, {kGlobal, "level=9"}});
  plan.raw.value = true;
  auto session = OptionSession::check(plan, stage.registry, stage.log);
  REQUIRE(session);
  const auto applied = session->apply_process_wide();
  REQUIRE_FALSE(applied);
  CHECK(applied.error().code == ErrorCode::kInvalidArgument);
  CHECK(exit_code(applied.error()) == 6);
  CHECK(applied.error().where.at("option") == "XnnpackBackend.level");
  CHECK(applied.error().where.at("source") == "--global-option #2");
  CHECK(stage.value("cache") == OptionValue(false));
}

TEST_CASE("a raw load value that the backend refuses fails inside init, which proves that it travelled") {
  Stage stage;
  config::OptionsPlan plan = plan_of({{kLoad, "level=9"}});
  plan.raw.value = true;
  auto session = OptionSession::check(plan, stage.registry, stage.log);
  REQUIRE(session);
  const auto operators = operators::make_operator_registry();
  ThreadPool threads(1);
  runtime::Loader loader(stage.registry, operators, threads, stage.log);
  runtime::LoadRequest request;
  request.path = std::string(PTERUN_TEST_DATA) + "/tiny_add.pte";
  request.options = *session->load_options();
  auto program = loader.load(request);
  REQUIRE(program);
  const auto method = (*program)->load_method("forward");
  REQUIRE_FALSE(method);
  CHECK(method.error().code == ErrorCode::kInvalidArgument);
  CHECK(stage.stub->inits().size() == 1);
}

TEST_CASE("an action is set once, after loading, and warned about when no delegate says that it was done") {
  Stage stage;
  const auto reports = evidence_of(stage, {{kGlobal, "flush=true"}});
  CHECK(stage.stub->flushes() == 1);
  CHECK(reports[0].action);
  CHECK(reports[0].evidence == Evidence::kAccepted);
  CHECK_FALSE(reports[0].stored);
  REQUIRE(stage.log.warnings.size() == 1);
  CHECK(stage.log.warnings[0].code == "action_idle");
  CHECK(stage.log.warnings[0].message.find("XnnpackBackend.flush") != std::string::npos);
}

TEST_CASE("a round trip sets, reads back and restores") {
  Stage stage;
  std::vector<report::OptionReport> reports;
  REQUIRE(check_round_trip(plan_of({{kGlobal, "level=3"}, {kGlobal, "label=x"}, {kLoad, "level=0"}}), stage.registry,
                           stage.log, reports));
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].original == OptionValue(1));
  CHECK(reports[0].stored == OptionValue(3));
  CHECK(reports[0].restored == OptionValue(1));
  CHECK(reports[1].restored == OptionValue(std::string("none")));
  CHECK(reports[2].evidence == Evidence::kAccepted);
  CHECK(stage.value("level") == OptionValue(1));
  CHECK(stage.value("label") == OptionValue(std::string("none")));
}

TEST_CASE("a round trip notices each way of lying that it can see") {
  for (const StubManner manner : {StubManner::kDrops, StubManner::kOkToAnything}) {
    Stage stage(manner);
    std::vector<report::OptionReport> reports;
    const auto checked = check_round_trip(plan_of({{kGlobal, "level=3"}}), stage.registry, stage.log, reports);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == ErrorCode::kEvidence);
    CHECK(exit_code(checked.error()) == 5);
    CHECK(checked.error().message.find("XnnpackBackend.level") != std::string::npos);
    CHECK(reports.size() == 1);
  }
}

TEST_CASE("a value equal to the one in force proves nothing against a backend that drops") {
  Stage stage(StubManner::kDrops);
  std::vector<report::OptionReport> reports;
  const auto checked = check_round_trip(plan_of({{kGlobal, "level=1"}}), stage.registry, stage.log, reports);
  CHECK_FALSE(checked);
}
