// `pterun inspect` as text and JSON, from a report made by hand.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "report/formats/inspect.h"
#include "report/formats/json.h"
#include "report/run_report.h"

using namespace pterun::report;

namespace {

InspectReport sample() {
  InspectMethod method;
  method.name = "forward";
  method.inputs = {{"tensor", "float32[2] (dynamic, at most these sizes)", "float32", {2}, {0}, true, false, ""},
                   {"int", "int 3", "", {}, {}, false, false, "3"}};
  method.outputs = {{"tensor", "float32[2]", "float32", {2}, {0}, false, true, ""}};
  method.buffers = {{1024, 2}};
  method.delegates = {{"NoSuchBackend", false, 10, 1, {{"mode", 4, "fast"}, {"blob", 100, ""}}, {}, {}, {}, ""},
                      {"NoSuchBackend", false, 20, 1, {}, {}, {}, {}, ""},
                      {"XnnpackBackend",
                       true,
                       30,
                       2,
                       {},
                       {{"Add", 2}, {"Conv2d", 1}},
                       {{"Add", "fp32[2]"}},
                       {{"w", "program"}, {"b", ""}},
                       "it is damaged"}};
  method.chain = {{0, 0, "aten::add.out", {}}, {0, 2, "XnnpackBackend", 2}};
  method.operators = {{"aten::add.out", 2, true}, {"aten::none.out", 1, false}};
  method.externals = {{"weight", "float32[4]", "", ""}, {"bias", "float32[4]", "w.ptd", "float32[5] there"}};
  method.values = 12;
  method.chains = 1;
  method.kernel_calls = 3;
  method.delegate_calls = 4;
  method.constants = 1;
  method.constant_bytes = 16;
  InspectReport report;
  report.path = "m.pte";
  report.file_bytes = 2048;
  report.verification = "full";
  report.methods = {method};
  report.named_data = {{"key", 64}};
  report.data_files = {{"w.ptd", {{"bias", 20, "float32[5]"}, {"raw", 3, ""}}}};
  report.suites = {{"forward", {{2, 1}}}};
  report.operators = {{{"aten::add.out", {"float32", "int64"}}}};
  return report;
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the text names every part of a program once") {
  const std::string text = inspect_text(sample(), 0);
  CHECK(contains(text, "m.pte: program, 2.0 KiB, verification full"));
  CHECK(contains(text, "method forward: 12 values, 3 operator calls, 4 delegate calls in 1 chain"));
  CHECK(contains(text, "float32[2] (dynamic, at most these sizes)"));
  CHECK(contains(text, "int 3"));
  CHECK(contains(text, "float32[2] (constant)"));
  CHECK(contains(text, "1.0 KiB  2 tensors"));
  CHECK(contains(text, "2 compile specs"));
  CHECK(contains(text, "2 named constants"));
  CHECK(contains(text, "2  nodes: 2 Add, 1 Conv2d"));
  CHECK(contains(text, "2  it is damaged"));
  CHECK(contains(text, "aten::none.out  1 use   not in this build"));
  CHECK(contains(text, "missing here: constant b, NoSuchBackend, aten::none.out (1 use), weight, bias\n"));
  CHECK(contains(text, "named data: 1 blob, 64 B (-v lists them)"));
  CHECK(contains(text, "data file w.ptd: 2 keys"));
  CHECK(contains(text, "test cases for forward: 1"));
  CHECK(contains(text, "aten::add.out  float32 int64"));
}

TEST_CASE("more detail shows compile specs and named data") {
  const std::string text = inspect_text(sample(), 1);
  CHECK(contains(text, "mode=fast, blob=100 B"));
  CHECK(contains(text, "key  64 B"));
  CHECK(contains(text,
                 "instructions and nodes (run --node)\n    0    aten::add.out\n    2    delegate 2 (XnnpackBackend)\n"
                 "    2:0  Add                          fp32[2]\n"));
}

TEST_CASE("a complete program misses nothing") {
  InspectReport report = sample();
  report.methods[0].delegates.resize(0);
  report.methods[0].operators.resize(1);
  report.methods[0].externals.clear();
  CHECK(contains(inspect_text(report, 0), "missing here: nothing\n"));
}

TEST_CASE("the JSON report has an inspect part with the same facts") {
  RunReport report;
  report.kind = Kind::kInspect;
  report.inspect = sample();
  const auto document = nlohmann::json::parse(to_json(report));
  CHECK(document["kind"] == "inspect");
  const auto& inspect = document["inspect"];
  CHECK(inspect["format"] == "pte");
  CHECK(inspect["verification"] == "full");
  const auto& method = inspect["methods"][0];
  CHECK(method["inputs"][0]["dynamic"] == true);
  CHECK(method["inputs"][1]["value"] == "3");
  CHECK(method["missing"]["backends"] == nlohmann::json::parse(R"([{"name": "NoSuchBackend", "uses": 2}])"));
  CHECK(method["missing"]["operators"] == nlohmann::json::parse(R"([{"name": "aten::none.out", "uses": 1}])"));
  CHECK(method["delegates"][0]["compile_specs"][1]["bytes"] == 100);
  CHECK(method["delegates"][2]["nodes"]["Add"] == 2);
  CHECK(method["delegates"][2]["graph"] == nlohmann::json::parse(R"([{"kind": "Add", "output": "fp32[2]"}])"));
  CHECK(method["instructions"]["list"][0]["delegate"].is_null());
  CHECK(method["instructions"]["list"][1]["index"] == 2);
  CHECK(method["instructions"]["list"][1]["delegate"] == 2);
  CHECK(method["delegates"][2]["constants"][0]["found"] == "program");
  CHECK(method["delegates"][2]["constants"][1]["found"].is_null());
  CHECK(method["delegates"][2]["problem"] == "it is damaged");
  CHECK(method["delegates"][1]["problem"].is_null());
  CHECK(method["externals"][0]["file"].is_null());
  CHECK(method["externals"][1]["problem"] == "float32[5] there");
  CHECK(inspect["data_files"][0]["entries"][1]["description"].is_null());
  CHECK(inspect["bundled_cases"][0]["cases"][0]["inputs"] == 2);
  CHECK(inspect["operators"][0]["dtypes"].size() == 2);
}

TEST_CASE("a run's report has no inspect part") {
  CHECK_FALSE(nlohmann::json::parse(to_json(RunReport{})).contains("inspect"));
}
