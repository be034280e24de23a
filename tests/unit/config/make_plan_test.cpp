// Flags, config, environment and defaults as one plan, each value with its origin.
#include "config/make_plan.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pterun;
using namespace pterun::config;

// A file below a folder of this test program.
std::string write_config(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path("config_test_files") / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

Result<Plan> plan_of(std::vector<FlagValue> flags, const std::map<std::string, std::string>& environment = {},
                     Command command = Command::kRun) {
  PlanRequest request;
  request.command = command;
  request.flags = std::move(flags);
  request.environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  return make_plan(request);
}

Plan good_plan(std::vector<FlagValue> flags, Command command = Command::kRun) {
  auto plan = plan_of(std::move(flags), {}, command);
  if (!plan) FAIL(plan.error().to_string());
  return *std::move(plan);
}

Result<Plan> plan_of_config(const std::string& text, std::vector<FlagValue> flags = {}) {
  flags.insert(flags.begin(), {"--config", write_config("c.json", text)});
  return plan_of(std::move(flags));
}

Plan good_plan_of_config(const std::string& text, std::vector<FlagValue> flags = {}) {
  auto plan = plan_of_config(text, std::move(flags));
  if (!plan) FAIL(plan.error().to_string());
  return *std::move(plan);
}

}  // namespace

TEST_CASE("without anything the plan has the contract's defaults") {
  const Plan plan = good_plan({});
  CHECK(plan.models.empty());
  REQUIRE(plan.steps.size() == 1);
  CHECK(plan.steps[0].method.value.empty());
  CHECK_FALSE(plan.threads.value.has_value());
  CHECK(*plan.iterations == 1);
  CHECK(*plan.warmup == 0);
  CHECK(*plan.seed == 0);
  CHECK(*plan.verify == Verify::kFull);
  CHECK(*plan.output.print == PrintMode::kStats);
  CHECK(*plan.options.require_evidence == EvidenceLevel::kNone);
  CHECK(plan.threads.origin.describe() == "default");
}

TEST_CASE("flags of run arrive with their origin") {
  const Plan plan = good_plan({{"MODEL", "m.pte"},
                               {"--data", "a.ptd"},
                               {"--data", "b.ptd"},
                               {"--threads", "3"},
                               {"--verify", "minimal"},
                               {"--case", "2"},
                               {"--input", "x=zeros"},
                               {"--input", "1=dog.npy"},
                               {"--input", "uniform(0,1)"},
                               {"--inputs", "all.npz"},
                               {"--shape", "0=1x3x224"},
                               {"--input-dim-order", "0=0,2,1"},
                               {"--reference", "interpreter"},
                               {"--atol", "1e-3"},
                               {"--rtol", "logits:0.5"},
                               {"--tolerance", "1:cosine>=0.999,max_abs<=0.1"},
                               {"--iterations", "10"},
                               {"--warmup", "2"},
                               {"--require-evidence", "delivered"},
                               {"--print", "head"},
                               {"--json", "-"},
                               {"--verbose", "true"},
                               {"--verbose", "true"},
                               {"--no-progress", "true"}});
  CHECK(plan.models.at(0).value == "m.pte");
  CHECK(plan.models.at(0).origin.describe() == "MODEL");
  REQUIRE(plan.data_files.size() == 2);
  CHECK(plan.data_files[1].value == "b.ptd");
  CHECK(plan.data_files[1].origin.describe() == "--data #2");
  CHECK(plan.threads.value == 3);
  CHECK(plan.threads.origin.describe() == "--threads");
  CHECK(*plan.verify == Verify::kMinimal);
  CHECK(*plan.bundled_case == 2);
  const StepPlan& step = plan.steps.at(0);
  REQUIRE(step.inputs.size() == 3);
  CHECK(step.inputs[0].target == "x");
  CHECK(step.inputs[0].spec == "zeros");
  CHECK(step.inputs[1].target == "1");
  CHECK(step.inputs[2].target.empty());
  CHECK(step.inputs[2].origin.describe() == "--input #3");
  CHECK(*step.inputs_file == "all.npz");
  CHECK(step.shapes.at(0).sizes == std::vector<std::int64_t>{1, 3, 224});
  CHECK(step.input_dim_orders.at(0).order == std::vector<std::uint8_t>{0, 2, 1});
  CHECK(*step.reference == "interpreter");
  REQUIRE(step.tolerance.size() == 3);
  CHECK(step.tolerance[0].output.empty());
  CHECK(step.tolerance[0].atol == 1e-3);
  CHECK_FALSE(step.tolerance[0].rtol);
  CHECK(step.tolerance[1].output == "logits");
  CHECK(step.tolerance[1].rtol == 0.5);
  CHECK(step.tolerance[2].bounds == "cosine>=0.999,max_abs<=0.1");
  CHECK(*plan.iterations == 10);
  CHECK(*plan.warmup == 2);
  CHECK(*plan.options.require_evidence == EvidenceLevel::kDelivered);
  CHECK(*plan.output.print == PrintMode::kHead);
  CHECK(*plan.output.json == "-");
  CHECK(*plan.output.verbosity == 2);
  CHECK(*plan.output.progress == When::kNever);
}

TEST_CASE("wrong flag values are usage errors that name flag, expected and found") {
  const FlagValue rows[] = {{"--threads", "0"},
                            {"--threads", "1025"},
                            {"--threads", "two"},
                            {"--threads", ""},
                            {"--threads", "1.5"},
                            {"--iterations", "0"},
                            {"--warmup", "-1"},
                            {"--verify", "ful"},
                            {"--print", ""},
                            {"--atol", "nan"},
                            {"--atol", "x"},
                            {"--atol", "-1"},
                            {"--atol", "0:"},
                            {"--rtol", ":1"},
                            {"--tolerance", ""},
                            {"--shape", "0"},
                            {"--shape", "0=1xx2"},
                            {"--shape", "0=-1"},
                            {"--shape", "=1"},
                            {"--input", ""},
                            {"--input", "=x"},
                            {"--input-dim-order", "0=0,0"},
                            {"--inputs", "zeros"},
                            {"--config", ""},
                            {"--require-evidence", "all"},
                            {"--set", "x"},
                            {"--seed", "18446744073709551616"},
                            {"--case", "-1"}};
  for (const FlagValue& row : rows) {
    CAPTURE(row.flag, row.text);
    const auto plan = plan_of({row});
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == ErrorCode::kUsage);
    CHECK(exit_code(plan.error()) == 2);
    CHECK(plan.error().message.find(row.flag) == 0);
    CHECK(plan.error().message.find("expected") != std::string::npos);
    CHECK(plan.error().where.at("source").starts_with(row.flag));
  }
  CHECK(plan_of({{"--verify", "ful"}}).error().hint == "did you mean 'full'?");
}

TEST_CASE("a flag given twice, and flags that contradict each other, are usage errors") {
  CHECK(plan_of({{"--threads", "1"}, {"--threads", "1"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--quiet", "true"}, {"--verbose", "true"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--progress", "true"}, {"--no-progress", "true"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--input", "0=zeros"}, {"--input", "0=ones"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--shape", "0=1"}, {"--shape", "0=2"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--atol", "1"}, {"--atol", "2"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--atol", "1"}, {"--tolerance", "cosine>=0.9"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--atol", "1"}, {"--atol", "0:2"}}));
  CHECK(plan_of({{"MODEL", "a.pte"}, {"MODEL", "b.pte"}}).error().code == ErrorCode::kUsage);
  CHECK(good_plan({{"MODEL", "a.pte"}, {"MODEL", "b.pte"}}, Command::kBench).models.size() == 2);
}

TEST_CASE("the contract's example config reads as written") {
  const std::string path = write_config("folder/example.json", R"({ "schema": "pterun.config/1",
  "model": {"path": "m.pte", "data": ["w.ptd"], "method": "forward"},
  "global_options": {"XnnpackBackend": {"weight_cache_enabled": true}},
  "load_options":   {"XnnpackBackend": {"workspace_sharing_mode": 1}},
  "inputs": "m.inputs.npz",
  "reference": "m.expected.npz",
  "tolerance": {"atol": 1e-4, "rtol": 1e-4},
  "threads": 2, "seed": 0,
  "bench": {"warmup": 5, "min_runs": 30, "min_time_s": 1.0},
  "matrix": {"threads": [1, 2], "load_options.XnnpackBackend.workspace_sharing_mode": [0, 1, 2]} })");
  const Plan plan = good_plan({{"--config", path}}, Command::kBench);
  CHECK(plan.models.at(0).value == "config_test_files/folder/m.pte");
  CHECK(plan.data_files.at(0).value == "config_test_files/folder/w.ptd");
  CHECK(*plan.steps.at(0).method == "forward");
  CHECK(*plan.steps[0].inputs_file == "config_test_files/folder/m.inputs.npz");
  CHECK(*plan.steps[0].reference == "config_test_files/folder/m.expected.npz");
  CHECK(plan.steps[0].tolerance.at(0).atol == 1e-4);
  CHECK(plan.threads.value == 2);
  CHECK(plan.threads.origin.describe() == path + ":/threads (line 8)");
  CHECK(plan.bench.warmup.value == 5);
  CHECK(*plan.bench.min_runs == 30);
  REQUIRE(plan.bench.axes.size() == 2);
  CHECK(plan.bench.axes[0].name == "threads");
  CHECK(plan.bench.axes[1].values == std::vector<std::string>{"0", "1", "2"});
  REQUIRE(plan.options.requests.size() == 2);
  CHECK(plan.options.requests[1].source == path + ":/load_options/XnnpackBackend/workspace_sharing_mode (line 4)");
  CHECK(plan.options.requests[1].path == options::OptionPath::kLoad);
  CHECK(std::get<std::int64_t>(plan.options.requests[1].value) == 1);
  CHECK(*plan.config_file == path);
}

TEST_CASE("flags win over the config, the config over the environment, and what lost is kept") {
  const std::string path = write_config("c.json", R"({"threads": 2, "seed": 5})");
  auto plan = plan_of({{"--config", path}, {"--threads", "3"}}, {{"PTERUN_THREADS", "4"}});
  REQUIRE(plan);
  CHECK(plan->threads.value == 3);
  REQUIRE(plan->shadowed.size() == 2);
  CHECK(plan->shadowed[0].name == "/threads");
  CHECK(plan->shadowed[0].value == "4");
  CHECK(plan->shadowed[0].origin.describe() == "environment PTERUN_THREADS");
  CHECK(plan->shadowed[1].value == "2");
  CHECK(plan->shadowed[1].shadowed_by.describe() == "--threads");

  plan = plan_of({{"--config", path}}, {{"PTERUN_THREADS", "4"}});
  CHECK(plan->threads.value == 2);
  plan = plan_of({}, {{"PTERUN_THREADS", "4"}});
  CHECK(plan->threads.value == 4);
  CHECK(plan->threads.origin.describe() == "environment PTERUN_THREADS");
  plan = plan_of({}, {{"PTERUN_THREADS", "many"}});
  CHECK(plan.error().code == ErrorCode::kUsage);
  CHECK(plan.error().message.find("PTERUN_THREADS") != std::string::npos);
  plan = plan_of({}, {{"PTERUN_CONFIG", path}});
  CHECK(*plan->seed == 5);
  CHECK(plan->config_file.origin.describe() == "environment PTERUN_CONFIG");
  plan = plan_of({{"--config", write_config("d.json", "{}")}}, {{"PTERUN_CONFIG", path}});
  CHECK(*plan->seed == 0);
}

TEST_CASE("config errors name file, line and JSON pointer") {
  struct Row {
    std::string text;
    std::string pointer;
    std::string found;
  };
  const Row rows[] = {
      {R"({"threds": 1})", "/threds", "'threds'"},
      {R"({"model": {"pth": "m.pte"}})", "/model/pth", "'pth'"},
      {R"({"bench": {"warmup": 5, "min_run": 3}})", "/bench/min_run", "'min_run'"},
      {R"({"threads": "2"})", "/threads", "the string '2'"},
      {R"({"threads": 0})", "/threads", "the integer 0"},
      {R"({"threads": 1.0})", "/threads", "the float 1.0"},
      {R"({"threads": true})", "/threads", "the bool true"},
      {R"({"threads": 99999999999999999999})", "/threads", "99999999999999999999"},
      {R"({"model": "m.pte"})", "/model", "the string"},
      {R"({"model": {"path": 3}})", "/model/path", "the integer 3"},
      {R"({"schema": "pterun.config/2"})", "/schema", "'pterun.config/2'"},
      {R"({"verify": "none"})", "/verify", "'none'"},
      {R"({"raw_options": 1})", "/raw_options", "the integer 1"},
      {R"({"inputs": 3})", "/inputs", "the integer 3"},
      {R"({"inputs": {"x": 3}})", "/inputs/x", "the integer 3"},
      {R"({"inputs": {"x": {"file": "a", "gen": "zeros"}}})", "/inputs/x/gen", "two"},
      {R"({"inputs": {"x": {"gen": "a.npy"}}})", "/inputs/x/gen", "'a.npy'"},
      {R"({"inputs": {"x": {"fil": "a.npy"}}})", "/inputs/x/fil", "'fil'"},
      {R"({"inputs": {"x": {"gen": "zeros", "seed": -1}}})", "/inputs/x/seed", "-1"},
      {R"({"shapes": {"0": "1y2"}})", "/shapes/0", "'1y2'"},
      {R"({"shapes": {"0": [1, -2]}})", "/shapes/0", "an array"},
      {R"({"input_dim_orders": {"0": [1, 1]}})", "/input_dim_orders/0", "an array"},
      {R"({"reference": 1})", "/reference", "the integer 1"},
      {R"({"tolerance": {"atol": "x"}})", "/tolerance/atol", "the string 'x'"},
      {R"({"tolerance": {"atoll": 1}})", "/tolerance/atoll", "'atoll'"},
      {R"({"tolerance": {"atol": 1, "bounds": "cosine>=1"}})", "/tolerance/bounds", "both"},
      {R"({"tolerance": {"outputs": {"0": 1}}})", "/tolerance/outputs/0", "the integer 1"},
      {R"({"steps": []})", "/steps", "none"},
      {R"({"steps": [{"method": 1}]})", "/steps/0/method", "the integer 1"},
      {R"({"steps": [{"methd": "a"}]})", "/steps/0/methd", "'methd'"},
      {R"({"steps": [{}], "inputs": "x.npz"})", "/inputs", "beside"},
      {R"({"matrix": {"threads": 1}})", "/matrix/threads", "the integer 1"},
      {R"({"matrix": {"threads": [[1]]}})", "/matrix/threads/0", "an array"},
      {R"({"matrix": {"exclude": [1]}})", "/matrix/exclude/0", "the integer 1"},
      {R"({"profiles": {"p": {"threds": 1}}})", "/profiles/p/threds", "'threds'"},
      {R"({"profiles": {"p": {"extends": "x"}}})", "/profiles/p/extends", "'extends'"},
      {R"({"output": {"print": "some"}})", "/output/print", "'some'"},
      {R"({"bench": {"until_ci": "x%"}})", "/bench/until_ci", "'x%'"},
      {R"([1])", "/", "an array"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto plan = plan_of_config("\n" + row.text);
    REQUIRE_FALSE(plan);
    const Error& error = plan.error();
    CHECK(error_code_name(error.code) == "config");
    CHECK(exit_code(error) == 2);
    CHECK(error.where.at("file") == "config_test_files/c.json");
    CHECK(error.where.at("pointer") == row.pointer);
    CHECK(error.where.at("line") == "2");
    CHECK(error.message.find(row.found) != std::string::npos);
  }
  CHECK(plan_of_config(R"({"threds": 1})").error().hint == "did you mean 'threads'?");
}

TEST_CASE("option maps of a config become requests with their source, malformed ones are option errors") {
  const Plan plan = good_plan_of_config(
      "{\"load_options\": {\"B\": {\"a\": 1.5, \"b\": null, \"c\": [1], \"d\": {}, \"e\": \"s\", \"f\": true,\n"
      "\"g\": 99999999999999999999}, \"C\": 1}, \"raw_options\": true}");
  const auto& requests = plan.options.requests;
  REQUIRE(requests.size() == 8);
  CHECK(options::requested_text(requests[0].value) == "the float 1.5");
  CHECK(options::requested_text(requests[1].value) == "null");
  CHECK(options::requested_text(requests[2].value) == "an array");
  CHECK(options::requested_text(requests[3].value) == "an object");
  CHECK(std::get<std::string>(requests[4].value) == "s");
  CHECK(std::get<bool>(requests[5].value));
  CHECK(std::get<options::HugeInteger>(requests[6].value).digits == "99999999999999999999");
  CHECK(requests[6].source == "config_test_files/c.json:/load_options/B/g (line 2)");
  CHECK(requests[7].key.empty());
  CHECK(std::get<options::MistypedJson>(requests[7].value).in_place_of_keys);
  CHECK(*plan.options.raw);

  const Error twice = plan_of_config(R"({"load_options": {"B": {"k": 1}, "B": {"j": 1}}})").error();
  CHECK(twice.code == ErrorCode::kDuplicateOption);
  CHECK(twice.where.at("option") == "B");
  const Error list = plan_of_config(R"({"global_options": [1]})").error();
  CHECK(list.code == ErrorCode::kOptionType);
  CHECK(list.where.at("source") == "config_test_files/c.json:/global_options (line 1)");
}

TEST_CASE("an option of a flag is in a higher layer than one of the config") {
  const Plan plan = good_plan_of_config(R"({"load_options": {"B": {"k": 1}}})", {{"--load-option", "B.k=2"}});
  REQUIRE(plan.options.requests.size() == 2);
  CHECK(plan.options.requests[0].layer < plan.options.requests[1].layer);
  CHECK(plan.options.requests[1].source == "--load-option #1");
  CHECK(plan_of({{"--load-option", "B=1"}}).error().code == ErrorCode::kOptionSyntax);
}

TEST_CASE("inputs come in every form that the config allows") {
  Plan plan = good_plan_of_config(R"({"inputs": ["a.npy", "zeros", {"file": "ones"}]})");
  REQUIRE(plan.steps[0].inputs.size() == 3);
  CHECK(plan.steps[0].inputs[0].spec == "config_test_files/a.npy");
  CHECK(plan.steps[0].inputs[1].spec == "zeros");
  CHECK(plan.steps[0].inputs[2].spec == "config_test_files/ones");

  plan = good_plan_of_config(
      R"json({"inputs": {"*": "all.npz", "x": "/abs/x.npy", "1": {"gen": "int(0,5)", "seed": 7, "shape": [1, 128]}}})json");
  CHECK(*plan.steps[0].inputs_file == "config_test_files/all.npz");
  REQUIRE(plan.steps[0].inputs.size() == 2);
  CHECK(plan.steps[0].inputs[0].spec == "/abs/x.npy");
  CHECK(plan.steps[0].inputs[1].target == "1");
  CHECK(plan.steps[0].inputs[1].seed == 7);
  CHECK(plan.steps[0].shapes.at(0).target == "1");
  CHECK(plan.steps[0].shapes.at(0).sizes == std::vector<std::int64_t>{1, 128});

  plan = good_plan_of_config(R"({"input_dim_orders": [null, [0, 2, 1]], "shapes": {"0": "2x3"}})");
  CHECK(plan.steps[0].input_dim_orders.at(0).target == "1");

  // Flags replace the config's inputs as a whole.
  plan = good_plan_of_config(R"({"inputs": "all.npz"})", {{"--input", "0=ones"}});
  CHECK(plan.steps[0].inputs_file.value.empty());
  CHECK(plan.steps[0].inputs.at(0).spec == "ones");
}

TEST_CASE("the interpreter for live references comes from a flag, the config or the environment") {
  CHECK(*plan_of({})->python == "python3");
  CHECK(*plan_of({}, {{"PTERUN_PYTHON", "/v/bin/python"}})->python == "/v/bin/python");
  CHECK(*plan_of({{"--python", "p"}}, {{"PTERUN_PYTHON", "q"}})->python == "p");
  CHECK(*good_plan_of_config(R"({"python": "p", "python_timeout_s": 2.5})").python_timeout_s == 2.5);
  CHECK_FALSE(plan_of({{"--python-timeout", "0"}}));
}

TEST_CASE("what a reference file holds is one of two words, in a step as well") {
  CHECK(*good_plan_of_config(R"({"reference_kind": "float_eager"})").steps[0].reference_kind == "float_eager");
  CHECK(*good_plan_of_config(R"({"steps": [{"reference_kind": "converted_graph"}]})").steps[0].reference_kind ==
        "converted_graph");
  CHECK_FALSE(plan_of({{"--reference-kind", "exact"}}));
}

TEST_CASE("references keep their schemes and get the config's folder") {
  for (const auto& [spec, want] : std::map<std::string, std::string>{{"bundled", "bundled"},
                                                                     {"executorch", "executorch"},
                                                                     {"interpreter", "interpreter"},
                                                                     {"pte:o.pte", "pte:config_test_files/o.pte"},
                                                                     {"eager:/o.pt2", "eager:/o.pt2"},
                                                                     {"o.npz", "config_test_files/o.npz"}}) {
    CHECK(*good_plan_of_config("{\"reference\": \"" + spec + "\"}").steps[0].reference == want);
  }
}

TEST_CASE("bounds on elements and on metrics replace each other between layers") {
  Plan plan = good_plan_of_config(R"({"tolerance": {"atol": 1, "rtol": 2}})", {{"--atol", "3"}});
  REQUIRE(plan.steps[0].tolerance.size() == 1);
  CHECK(plan.steps[0].tolerance[0].atol == 3);
  CHECK(plan.steps[0].tolerance[0].rtol == 2);

  plan = good_plan_of_config(R"({"tolerance": {"atol": 1, "rtol": 2}})", {{"--tolerance", "cosine>=0.9"}});
  REQUIRE(plan.steps[0].tolerance.size() == 1);
  CHECK(plan.steps[0].tolerance[0].bounds == "cosine>=0.9");
  CHECK_FALSE(plan.steps[0].tolerance[0].atol);

  plan = good_plan_of_config(R"({"tolerance": {"outputs": {"0": "cosine>=0.9"}}})", {{"--atol", "0:1"}});
  REQUIRE(plan.steps[0].tolerance.size() == 1);
  CHECK(plan.steps[0].tolerance[0].output == "0");
  CHECK(plan.steps[0].tolerance[0].bounds.empty());
  CHECK(plan.steps[0].tolerance[0].atol == 1);
}

TEST_CASE("several methods make several steps") {
  Plan plan = good_plan({{"--method", "a,b"}, {"--input", "0=zeros"}, {"--reference", "interpreter"}});
  REQUIRE(plan.steps.size() == 2);
  CHECK(*plan.steps[0].method == "a");
  CHECK(*plan.steps[1].method == "b");
  CHECK(*plan.steps[1].reference == "interpreter");

  CHECK(plan_of({{"--method", "a,b"}, {"--inputs", "x.npz"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--method", "a,b"}, {"--input", "0=x.npy"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--method", "a,b"}, {"--reference", "x.npz"}}).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--method", "a,"}}).error().code == ErrorCode::kUsage);
}

TEST_CASE("steps of a config keep their own inputs and inherit the tolerance; flags win in each") {
  const std::string text = R"({"tolerance": {"atol": 1}, "steps": [
      {"method": "a", "inputs": "a.npz", "reference": "a.out.npz"},
      {"method": "b", "tolerance": {"atol": 2}},
      {"method": "a", "inputs": {"0": "zeros"}}]})";
  Plan plan = good_plan_of_config(text);
  REQUIRE(plan.steps.size() == 3);
  CHECK(*plan.steps[0].inputs_file == "config_test_files/a.npz");
  CHECK(*plan.steps[0].reference == "config_test_files/a.out.npz");
  CHECK(plan.steps[0].tolerance.at(0).atol == 1);
  CHECK(plan.steps[1].tolerance.at(0).atol == 2);
  CHECK(plan.steps[2].inputs.at(0).spec == "zeros");

  plan = good_plan_of_config(text, {{"--atol", "3"}, {"--reference", "interpreter"}});
  CHECK(plan.steps[1].tolerance.at(0).atol == 3);
  CHECK(*plan.steps[0].reference == "interpreter");
  CHECK(plan_of_config(text, {{"--inputs", "x.npz"}}).error().code == ErrorCode::kUsage);

  plan = good_plan_of_config(text, {{"--method", "c"}});
  REQUIRE(plan.steps.size() == 1);
  CHECK(*plan.steps[0].method == "c");
}

TEST_CASE("a config extends others: later ones win, paths stay relative to their own file") {
  write_config("base/base.json",
               R"({"threads": 1, "seed": 1, "model": {"path": "m.pte"}, "bench": {"warmup": 3, "min_runs": 9},
     "load_options": {"B": {"k": 1, "j": 1}}})");
  write_config("other.json", R"({"seed": 2})");
  const std::string path = write_config(
      "derived.json", R"({"extends": ["base/base.json", "other.json"], "threads": 4, "bench": {"warmup": 5},
     "load_options": {"B": {"k": 2}}})");
  const Plan plan = good_plan({{"--config", path}});
  CHECK(plan.threads.value == 4);
  CHECK(*plan.seed == 2);
  CHECK(plan.models.at(0).value == "config_test_files/base/m.pte");
  CHECK(plan.bench.warmup.value == 5);
  CHECK(*plan.bench.min_runs == 9);
  REQUIRE(plan.options.requests.size() == 3);
  CHECK(plan.options.requests[0].layer < plan.options.requests[2].layer);

  const std::string loop = write_config("loop.json", R"({"extends": "loop2.json"})");
  write_config("loop2.json", R"({"extends": "loop.json"})");
  CHECK(plan_of({{"--config", loop}}).error().code == ErrorCode::kConfig);
  CHECK(plan_of_config(R"({"extends": "missing.json"})").error().code == ErrorCode::kConfig);
  CHECK(plan_of_config(R"({"extends": [1]})").error().code == ErrorCode::kConfig);
}

TEST_CASE("a profile wins over all files, --set over the profile, flags over --set") {
  const std::string text = R"({"threads": 1, "seed": 1, "profiles": {
     "ci": {"threads": 2, "load_options": {"B": {"k": 2}}}, "big": {"threads": 64}}})";
  CHECK(good_plan_of_config(text).threads.value == 1);
  Plan plan = good_plan_of_config(text, {{"--config-profile", "ci"}});
  CHECK(plan.threads.value == 2);
  CHECK(plan.options.requests.size() == 1);
  plan = good_plan_of_config(text, {{"--config-profile", "ci"}, {"--set", "threads=3"}, {"--set", "/seed=9"}});
  CHECK(plan.threads.value == 3);
  CHECK(*plan.seed == 9);
  CHECK(plan.threads.origin.describe() == "--set #1:/threads");
  plan = good_plan_of_config(text, {{"--config-profile", "ci"}, {"--set", "threads=3"}, {"--threads", "5"}});
  CHECK(plan.threads.value == 5);

  const Error error = plan_of_config(text, {{"--config-profile", "cj"}}).error();
  CHECK(error.code == ErrorCode::kUsage);
  CHECK(error.hint == "did you mean 'ci'?");
  CHECK(error.message.find("ci, big") != std::string::npos);
}

TEST_CASE("--set takes JSON or text, options and axes, and refuses what a config would refuse") {
  Plan plan = good_plan({{"--set", "bench.min_runs=50"},
                         {"--set", "model.path=x.pte"},
                         {"--set", "load_options.B.k=true"},
                         {"--set", "matrix.load_options.B.k=[1, 2]"},
                         {"--set", "inputs=all.npz"}},
                        Command::kBench);
  CHECK(*plan.bench.min_runs == 50);
  CHECK(plan.models.at(0).value == "x.pte");
  CHECK(std::get<bool>(plan.options.requests.at(0).value));
  CHECK(plan.options.requests[0].source == "--set #3:/load_options/B/k");
  CHECK(plan.bench.axes.at(0).name == "load_options.B.k");
  CHECK(*plan.steps[0].inputs_file == "all.npz");

  for (const std::string text : {"threds=1", "threads=x", "threads=0", "threads.x=1", "=1", "bench=1"}) {
    CAPTURE(text);
    const auto bad = plan_of({{"--set", text}});
    REQUIRE_FALSE(bad);
    CHECK(bad.error().code == ErrorCode::kUsage);
    CHECK(bad.error().message.find("--set #1") != std::string::npos);
  }
}

TEST_CASE("axes of flags have the names of a config's matrix") {
  const Plan plan = good_plan({{"--axis", "threads=1,2"},
                               {"--axis", "XnnpackBackend.workspace_sharing_mode=disabled,per_model"},
                               {"--axis", "global:XnnpackBackend.weight_cache_enabled=true"}},
                              Command::kBench);
  REQUIRE(plan.bench.axes.size() == 3);
  CHECK(plan.bench.axes[0].values == std::vector<std::string>{"1", "2"});
  CHECK(plan.bench.axes[1].name == "load_options.XnnpackBackend.workspace_sharing_mode");
  CHECK(plan.bench.axes[2].name == "global_options.XnnpackBackend.weight_cache_enabled");
  CHECK(plan_of({{"--axis", "threads"}}, {}, Command::kBench).error().code == ErrorCode::kUsage);
  CHECK(plan_of({{"--axis", "threads=1,,2"}}, {}, Command::kBench).error().code == ErrorCode::kUsage);
}

TEST_CASE("shares are percentages or numbers") {
  CHECK(good_plan({{"--until-ci", "1%"}}, Command::kBench).bench.until_ci.value == 0.01);
  CHECK(good_plan({{"--until-ci", "0.5"}}, Command::kBench).bench.until_ci.value == 0.5);
  const std::string path = write_config("c.json", R"({"bench": {"until_ci": "2%", "margin": 0.1}})");
  const Plan plan = good_plan({{"--config", path}}, Command::kBench);
  CHECK(plan.bench.until_ci.value == 0.02);
  CHECK(*plan.bench.margin == 0.1);
}

TEST_CASE("null in a config means not set") {
  write_config("base.json", R"({"threads": 2, "reference": "x.npz"})");
  const Plan plan = good_plan_of_config(R"({"extends": "base.json", "threads": null, "reference": null})");
  CHECK_FALSE(plan.threads.value);
  CHECK(plan.steps[0].reference.value.empty());
}

TEST_CASE("a config's report files are those that the command writes") {
  const std::string path =
      write_config("outputs.json", R"({"output": {"json": "r.json", "junit": "r.xml", "export_hyperfine": "h.json"}})");
  const Plan run = good_plan({{"--config", path}}, Command::kRun);
  CHECK(run.output.json.value == "config_test_files/r.json");
  CHECK(run.output.junit.value == "config_test_files/r.xml");
  CHECK(run.output.export_hyperfine.value.empty());
  const Plan inspect = good_plan({{"--config", path}}, Command::kInspect);
  CHECK(inspect.output.json.value == "config_test_files/r.json");
  CHECK(inspect.output.junit.value.empty());
}
