// Printed plans: every value with its origin, defaults that are the plan's, and a text that reads back as the same
// plan.
#include "config/print_config.h"

#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>

#include "config/document.h"
#include "config/settings.h"

namespace {

using namespace pterun;
using namespace pterun::config;

Plan plan_of(std::vector<FlagValue> flags, Command command) {
  auto plan = make_plan({command, std::move(flags), {}});
  if (!plan) FAIL(plan.error().to_string());
  return *std::move(plan);
}

Plan plan_of_text(const std::string& text, Command command) {
  const std::filesystem::path path = "print_config_test.json";
  std::ofstream(path, std::ios::binary) << text;
  return plan_of({{"--config", path.string()}}, command);
}

options::CheckedOptions sample_options() {
  options::CheckedOptions checked;
  checked.load.push_back({"B",
                          "k",
                          options::OptionPath::kLoad,
                          options::OptionValue(2),
                          "'high'",
                          "--load-option #1",
                          true,
                          {{options::OptionValue(1), "c.json:/load_options/B/k (line 3)"}}});
  checked.global.push_back({"B",
                            "name",
                            options::OptionPath::kGlobal,
                            options::OptionValue(std::string("a\"b")),
                            "'a'",
                            "--global-option #1",
                            true,
                            {}});
  return checked;
}

}  // namespace

TEST_CASE("the defaults that are printed are those of the plan") {
  for (const Command command : {Command::kRun, Command::kBench, Command::kInspect, Command::kOptions}) {
    const Plan given = plan_of_text(annotated_config(plan_of({}, command), command, {}), command);
    const Plan plain = plan_of({}, command);
    CHECK(given.seed.value == plain.seed.value);
    CHECK(given.verify.value == plain.verify.value);
    CHECK(given.python.value == plain.python.value);
    CHECK(given.iterations.value == plain.iterations.value);
    CHECK(given.warmup.value == plain.warmup.value);
    CHECK(given.fresh_state.value == plain.fresh_state.value);
    CHECK(given.bundled_case.value == plain.bundled_case.value);
    CHECK(given.options.raw.value == plain.options.raw.value);
    CHECK(given.options.allow_unknown.value == plain.options.allow_unknown.value);
    CHECK(given.output.print.value == plain.output.print.value);
    CHECK(given.bench.min_runs.value == plain.bench.min_runs.value);
    CHECK(given.bench.min_time_s.value == plain.bench.min_time_s.value);
    CHECK(given.bench.max_time_s.value == plain.bench.max_time_s.value);
    CHECK(given.bench.processes.value == plain.bench.processes.value);
    CHECK(given.bench.profile.value == plain.bench.profile.value);
    CHECK(given.bench.input_seeds.value == plain.bench.input_seeds.value);
    CHECK(given.bench.margin.value == plain.bench.margin.value);
    CHECK(given.bench.order_seed.value == plain.bench.order_seed.value);
  }
}

TEST_CASE("every value is followed by its origin") {
  const Plan plan =
      plan_of({{"MODEL", "m.pte"}, {"--threads", "2"}, {"--set", "seed=7"}, {"--input", "0=ones"}}, Command::kRun);
  const std::string text = annotated_config(plan, Command::kRun, sample_options());
  for (const std::string line :
       {"\"threads\": 2,  // --threads\n", "\"seed\": 7,  // --set #1:/seed\n", "\"iterations\": 1,  // default\n",
        "\"path\": [\"m.pte\"],  // MODEL\n",
        "\"k\": 2  // --load-option #1, over 1 of c.json:/load_options/B/k (line 3)\n",
        "\"name\": \"a\\\"b\"  // --global-option #1\n", "\"spec\": \"ones\"  // --input #1\n"}) {
    CAPTURE(line, text);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("a printed config reads back as the same plan") {
  const std::vector<FlagValue> flags = {{"MODEL", "m.pte"},
                                        {"--method", "a"},
                                        {"--inputs", "/x.npz"},
                                        {"--input", "1=uniform(0,1)"},
                                        {"--shape", "0=1x2"},
                                        {"--input-dim-order", "0=1,0"},
                                        {"--reference", "pte:/o.pte"},
                                        {"--atol", "1e-3"},
                                        {"--tolerance", "0:cosine>=0.9"},
                                        {"--verbose", "true"}};
  const Plan first = plan_of(flags, Command::kRun);
  const std::string text = annotated_config(first, Command::kRun, sample_options());
  const Plan second = plan_of_text(text, Command::kRun);
  CHECK(second.models.at(0).value == first.models.at(0).value);
  CHECK(*second.steps.at(0).method == "a");
  CHECK(*second.steps[0].inputs_file == "/x.npz");
  CHECK(second.steps[0].inputs.at(0).spec == "uniform(0,1)");
  CHECK(second.steps[0].inputs.at(0).target == "1");
  CHECK(second.steps[0].shapes.at(0).sizes == first.steps[0].shapes.at(0).sizes);
  CHECK(second.steps[0].input_dim_orders.at(0).order == first.steps[0].input_dim_orders.at(0).order);
  CHECK(*second.steps[0].reference == "pte:/o.pte");
  REQUIRE(second.steps[0].tolerance.size() == 2);
  CHECK(second.steps[0].tolerance[0].atol == 1e-3);
  CHECK(second.steps[0].tolerance[1].bounds == "cosine>=0.9");
  CHECK(*second.output.verbosity == 1);
  REQUIRE(second.options.requests.size() == 2);
  CHECK(std::get<std::string>(second.options.requests[0].value) == "a\"b");
  CHECK(std::get<std::int64_t>(second.options.requests[1].value) == 2);
}

TEST_CASE("the resolved config of a manifest is JSON with the options in it") {
  const Plan plan = plan_of({{"--threads", "2"}}, Command::kRun);
  const auto parsed = parse_document(resolved_config(plan, sample_options()), "r.json");
  REQUIRE(parsed);
  CHECK(find_pointer(*parsed, "/threads")->integer == 2);
  CHECK(find_pointer(*parsed, "/load_options/B/k")->integer == 2);
}
