// What a config file says, and how it is refused.
#include <catch2/catch_test_macros.hpp>

#include "unit/config/plan_of.h"

using namespace pterun;
using namespace pterun::config;
using namespace pterun::test;

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

TEST_CASE("null in a config means not set") {
  write_config("base.json", R"({"threads": 2, "reference": "x.npz"})");
  const Plan plan = good_plan_of_config(R"({"extends": "base.json", "threads": null, "reference": null})");
  CHECK_FALSE(plan.threads.value);
  CHECK(plan.steps[0].reference.value.empty());
}
