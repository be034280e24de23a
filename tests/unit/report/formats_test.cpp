// Golden files of the report's formats. A change of a format is a change of tests/golden, the schema and CHANGELOG.md.
// To renew them: PTERUN_RENEW_GOLDEN=1 test_report, then read the difference.
#include <catch2/catch_test_macros.hpp>

#include "report/formats/csv.h"
#include "report/formats/escape.h"
#include "report/formats/exports.h"
#include "report/formats/html.h"
#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "report/formats/markdown.h"
#include "report/formats/option_list.h"
#include "report/formats/text.h"
#include "samples.h"

namespace pterun::report {
namespace {

struct Sample {
  std::string name;
  RunReport report;
};

// Every kind of report, as it comes from a command.
std::vector<Sample> samples() {
  return {{"run", sample_run()},         {"bench", sample_bench()},     {"sweep", sample_sweep()},
          {"compare", sample_compare()}, {"options", sample_options()}, {"error", sample_error()}};
}

// HTML is judged in a browser instead: tests/cli/html_test.py.
TEST_CASE("every kind of report is in every format as its golden file") {
  for (const auto& [name, report] : samples()) {
    check_golden(name + ".txt", to_text(report, {}));
    check_golden(name + ".json", to_json(report));
    check_golden(name + ".csv", to_csv(report));
    check_golden(name + ".md", to_markdown(report));
    check_golden(name + ".junit.xml", to_junit(report));
    if (report.timing.steady_ns.empty() && !report.bench) continue;  // nothing to export
    check_golden(name + ".hyperfine.json", to_hyperfine(report));
    check_golden(name + ".google-benchmark.json", to_google_benchmark(report));
  }
}

TEST_CASE("the list of options is as its golden files") {
  const std::vector<BackendOptions> backends = sample_option_list();
  check_golden("options_list.names.txt", option_list_text(backends, -1));
  check_golden("options_list.txt", option_list_text(backends, 0));
  check_golden("options_list.examples.txt", option_list_text(backends, 1));
  check_golden("options_list.json", option_list_json(backends));
}

TEST_CASE("every format can show a report that holds nothing, and cells without measurements") {
  RunReport hollow;
  hollow.bench.emplace().cells.resize(2);
  hollow.bench->cells[0].processes.resize(1);
  hollow.bench->cells[1].comparison.emplace();
  hollow.bench->control.emplace();
  hollow.comparisons.resize(1);
  for (const RunReport& report : {RunReport(), hollow}) {
    CHECK_FALSE(to_text(report, {}).empty());
    CHECK_FALSE(to_json(report).empty());
    CHECK_FALSE(to_csv(report).empty());
    CHECK_FALSE(to_markdown(report).empty());
    CHECK_FALSE(to_junit(report).empty());
    CHECK(to_html(report).ends_with("</html>\n"));
    CHECK_FALSE(to_hyperfine(report).empty());
    CHECK_FALSE(to_google_benchmark(report).empty());
  }
}

TEST_CASE("formats that judge say what kind the reference is and the error in steps of the output's scale") {
  for (const auto format : {&to_markdown, &to_junit, &to_html}) {
    std::string text = format(sample_run());
    for (std::size_t at = text.find("&#39;"); at != std::string::npos; at = text.find("&#39;"))
      text.replace(at, 5, "'");
    CHECK(text.find("m.expected.npz (converted graph)") != std::string::npos);
    CHECK(text.find("in steps of the output's scale 0.25: max 2, mean 1.5") != std::string::npos);
  }
  CHECK(to_csv(sample_run()).find(",converted_graph,2,") != std::string::npos);
}

TEST_CASE("the quiet text report is one line") {
  CHECK(to_text(sample_run(), {false, -1}) == "FAIL (1 of 2 outputs differ)\n");
  RunReport passed = sample_run();
  passed.status = Status::kPass;
  CHECK(to_text(passed, {false, -1}) == "PASS (2 outputs compared, all within tolerance)\n");
}

TEST_CASE("bytes that are not UTF-8 do not break the JSON") {
  RunReport report;
  report.manifest.argv = {"\xff"};
  CHECK(to_json(report).find("\xEF\xBF\xBD") != std::string::npos);
}

TEST_CASE("a percentile that the sample cannot support is absent") {
  std::vector<std::int64_t> samples(49);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::int64_t>(i + 1);
  CHECK_FALSE(summarize(samples).p90_ns);
  CHECK(summarize(samples).p50_ns == 25);
  samples.push_back(50);
  CHECK(summarize(samples).p90_ns == 45);
  CHECK_FALSE(summarize(samples).p99_ns);
  samples.resize(500, 60);
  CHECK(summarize(samples).p99_ns == 60);
  CHECK(summarize({}).runs == 0);
}

TEST_CASE("text of any bytes is escaped for its format") {
  CHECK(markup("a<b>&\"'\x01\xff") == "a&lt;b&gt;&amp;&quot;&#39;\\x01\\xFF");
  CHECK(markup("\xEF\xBF\xBF\xC3\xA9") == "\xEF\xBF\xBD\xC3\xA9");
  CHECK(markdown("a|b*c_d`<e>\n#") == "a\\|b\\*c\\_d\\`&lt;e\\>\\\\x0A\\#");
  CHECK(markdown_code("a`b|c") == "`` a`b\\|c ``");
  CHECK(markdown_code("").empty());
  CHECK(csv_field("a b") == "a b");
  CHECK(csv_field("a,\"b\"") == "\"a,\"\"b\"\"\"");
  CHECK(csv_field("a\nb") == "a\\x0Ab");
}

TEST_CASE("durations and sizes have a unit that fits") {
  CHECK(duration_text(410) == "410 ns");
  CHECK(duration_text(12345) == "12.3 us");
  CHECK(duration_text(2.5e9) == "2.5 s");
  CHECK(size_text(512) == "512 B");
  CHECK(size_text(1536) == "1.5 KiB");
  CHECK(size_text(14e6) == "13.4 MiB");
}

}  // namespace
}  // namespace pterun::report
