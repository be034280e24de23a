// Which of several layers wins: flags, --set, profiles, files, the environment; and steps of their own.
#include <catch2/catch_test_macros.hpp>

#include "unit/config/plan_of.h"

using namespace pterun;
using namespace pterun::config;
using namespace pterun::test;

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
