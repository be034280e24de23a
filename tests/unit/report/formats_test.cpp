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
#include "report/formats/text.h"
#include "samples.h"

namespace pterun::report {
namespace {

// Every format of both kinds of report.
TEST_CASE("reports are as their golden files") {
  check_golden("report.json", to_json(sample_run()));
  check_golden("report.txt", to_text(sample_run(), {}));
  check_golden("bench.txt", to_text(sample_bench(), {}));
  check_golden("run.csv", to_csv(sample_run()));
  check_golden("bench.csv", to_csv(sample_bench()));
  check_golden("run.md", to_markdown(sample_run()));
  check_golden("bench.md", to_markdown(sample_bench()));
  check_golden("run.junit.xml", to_junit(sample_run()));
  check_golden("bench.junit.xml", to_junit(sample_bench()));
  check_golden("run.hyperfine.json", to_hyperfine(sample_run()));
  check_golden("bench.google-benchmark.json", to_google_benchmark(sample_bench()));
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
