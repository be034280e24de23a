// Saved reports survive being read back; what does not fit is refused with its place.
#include "report/formats/read.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "report/formats/csv.h"
#include "report/formats/exports.h"
#include "report/formats/html.h"
#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "report/formats/markdown.h"
#include "report/formats/text.h"
#include "samples.h"

using namespace pterun;
using namespace pterun::report;
using nlohmann::json;

TEST_CASE("a report that is read back says the same again") {
  for (const RunReport& report :
       {sample_run(), sample_bench(), sample_sweep(), sample_compare(), sample_options(), sample_error()}) {
    const std::string text = to_json(report);
    const auto read = read_report(text, "r.json");
    REQUIRE(read.has_value());
    CHECK(to_json(*read) == text);
    CHECK(to_text(*read, {}) == to_text(report, {}));
    CHECK(to_csv(*read) == to_csv(report));
    CHECK(to_markdown(*read) == to_markdown(report));
    CHECK(to_junit(*read) == to_junit(report));
    CHECK(to_html(*read) == to_html(report));
    CHECK(to_hyperfine(*read) == to_hyperfine(report));
    CHECK(to_google_benchmark(*read) == to_google_benchmark(report));
  }
}

TEST_CASE("what ran by itself is read back, a node of a delegate and an operator") {
  RunReport report;
  NodeReport& node = report.node.emplace();
  node = {"forward", 3, 1, 7, "Conv2d", {}};
  node.inputs.push_back({"tensor", "float32", {1, 4}, "input_0 float32[1, 4]", "in.npz:input_0", "ab"});
  const auto read = read_report(to_json(report), "r.json");
  REQUIRE(read.has_value());
  CHECK(to_json(*read) == to_json(report));
  const std::string text = to_text(*read, {});
  CHECK(text.find("Conv2d (method forward, instruction 3, delegate 1, node 7)\n"
                  "  input_0 float32[1, 4]  in.npz:input_0\n") != std::string::npos);
  for (const std::string& page : {to_markdown(*read), to_html(*read)}) {
    CHECK(page.find("Conv2d (method forward, instruction 3, delegate 1, node 7)") != std::string::npos);
    CHECK(page.find("in.npz:input") != std::string::npos);
  }
  node = {"forward", 4, {}, {}, "aten::add.out", {}};
  CHECK(json::parse(to_json(report))["node"]["delegate"].is_null());
  CHECK(to_text(report, {}).find("aten::add.out (method forward, instruction 4)\n") != std::string::npos);
}

TEST_CASE("a summary of more runs than are kept survives as it was") {
  RunReport report;
  for (int i = 0; i < 4500; ++i)
    report.timing.steady_ns.push_back(100 + i % 7);
  const std::string text = to_json(report);
  const json steady = json::parse(text)["timing"]["steady"];
  CHECK(steady["samples_ns"].size() == 1500);
  CHECK(steady["sample_stride"] == 3);
  CHECK(steady["runs"] == 4500);
  const auto read = read_report(text, "r.json");
  REQUIRE(read.has_value());
  CHECK(to_json(*read) == text);
}

TEST_CASE("parts that are absent or null keep their defaults, unknown ones are skipped") {
  const auto read =
      read_report(R"({"schema": "pterun.report/1", "kind": "run", "status": "pass", "timing": null, "new": 1})", "r");
  REQUIRE(read.has_value());
  CHECK(read->comparisons.empty());
  CHECK_FALSE(read->bench.has_value());
  CHECK(read->exit_code == 0);
}

TEST_CASE("a comparison without its newer parts is read") {
  const auto read = read_report(R"({"schema": "pterun.report/1", "kind": "run", "status": "pass",
                                    "comparisons": [{"output": 2, "pass": true}]})",
                                "r");
  REQUIRE(read.has_value());
  CHECK(read->comparisons.at(0).output == 2);
  CHECK(read->comparisons.at(0).comparison.histogram.empty());
}

TEST_CASE("what is no report is refused, naming the file") {
  for (const std::string text : {"", "[", "[]", "3", "{}", R"({"schema": 3})", R"({"schema": "pterun.config/1"})"}) {
    CAPTURE(text);
    const auto read = read_report(text, "r.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == ErrorCode::kInput);
    CHECK(read.error().message.starts_with("'r.json': "));
    CHECK(read.error().where.at("file") == "r.json");
  }
}

TEST_CASE("a value of another type is refused with its JSON pointer, what was expected and what was found") {
  const auto error_with = [](const std::string& pointer, const json& value) {
    json document = json::parse(to_json(sample_sweep()));
    document[json::json_pointer(pointer)] = value;
    const auto read = read_report(document.dump(), "r.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().where.at("pointer").starts_with(pointer.substr(0, pointer.rfind('/'))));
    return read.error().message;
  };
  CHECK(error_with("/status", "maybe") == "'r.json': expected one of pass fail error at /status, found 'maybe'");
  CHECK(error_with("/kind", 3) == "'r.json': expected one of run bench inspect options compare at /kind, found 3");
  CHECK(error_with("/bench/cells", json::object()) == "'r.json': expected an array at /bench/cells, found object");
  CHECK(error_with("/bench/cells/1/name", 1.5) == "'r.json': expected a string at /bench/cells/1/name, found 1.5");
  CHECK(error_with("/bench/cells/0/processes/1/steady/runs", -1) ==
        "'r.json': expected an integer of at least 0 at /bench/cells/0/processes/1/steady/runs, found -1");
  CHECK(error_with("/bench/cells/0/processes/1/steady/cv", "x") ==
        "'r.json': expected a number at /bench/cells/0/processes/1/steady/cv, found 'x'");
  CHECK(error_with("/bench/cells/1/comparison/interval", json::array({1})) ==
        "'r.json': expected two numbers at /bench/cells/1/comparison/interval, found array");
  CHECK(error_with("/bench/cells/1/comparison/verdict", "better") ==
        "'r.json': expected faster, slower, equivalent or inconclusive at /bench/cells/1/comparison/verdict, found "
        "'better'");
  CHECK(error_with("/memory", 1) == "'r.json': expected an object at /memory, found 1");
  CHECK(error_with("/memory/a~1b", "1") == "'r.json': expected an integer at /memory/a~1b, found '1'");
  CHECK(error_with("/exit_code", 1ull << 40) ==
        "'r.json': expected a 32-bit integer at /exit_code, found 1099511627776");
  CHECK(error_with("/options", json::array({json::object()})) ==
        "'r.json': expected a value at /options/0/backend, found nothing");
}
