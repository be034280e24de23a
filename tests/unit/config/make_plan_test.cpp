// Flags and defaults as one plan, each value with its origin.
#include <catch2/catch_test_macros.hpp>

#include "unit/config/plan_of.h"

using namespace pterun;
using namespace pterun::config;
using namespace pterun::test;

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

TEST_CASE("an option of a flag is in a higher layer than one of the config") {
  const Plan plan = good_plan_of_config(R"({"load_options": {"B": {"k": 1}}})", {{"--load-option", "B.k=2"}});
  REQUIRE(plan.options.requests.size() == 2);
  CHECK(plan.options.requests[0].layer < plan.options.requests[1].layer);
  CHECK(plan.options.requests[1].source == "--load-option #1");
  CHECK(plan_of({{"--load-option", "B=1"}}).error().code == ErrorCode::kOptionSyntax);
}

TEST_CASE("the interpreter for live references comes from a flag, the config or the environment") {
  CHECK(*plan_of({})->python == "python3");
  CHECK(*plan_of({}, {{"PTERUN_PYTHON", "/v/bin/python"}})->python == "/v/bin/python");
  CHECK(*plan_of({{"--python", "p"}}, {{"PTERUN_PYTHON", "q"}})->python == "p");
  CHECK(*good_plan_of_config(R"({"python": "p", "python_timeout_s": 2.5})").python_timeout_s == 2.5);
  CHECK_FALSE(plan_of({{"--python-timeout", "0"}}));
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
