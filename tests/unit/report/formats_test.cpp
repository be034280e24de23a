// Golden files of the report's formats. A change of a format is a change of tests/golden, the schema and CHANGELOG.md.
// To renew them: PTERUN_RENEW_GOLDEN=1 test_report, then read the difference.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "report/formats/json.h"
#include "report/formats/text.h"
#include "report/run_report.h"

namespace pterun::report {
namespace {

void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(PTERUN_TEST_DATA) + "/../golden/" + name;
  if (std::getenv("PTERUN_RENEW_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  CHECK(text == std::string(std::istreambuf_iterator<char>(file), {}));
}

OptionReport load_option() {
  OptionReport option;
  option.backend = "XnnpackBackend";
  option.key = "workspace_sharing_mode";
  option.path = options::OptionPath::kLoad;
  option.requested = options::OptionValue(1);
  option.source = "--load-option #1";
  option.shadowed.push_back(
      {options::OptionValue(2), "m.json:/load_options/XnnpackBackend/workspace_sharing_mode (line 4)"});
  option.receipts.push_back(
      {"XnnpackBackend", "forward", 0, "workspace_sharing_mode", options::OptionValue(1), 1200, "Ok"});
  option.effects.push_back(
      {"forward", 0, options::OptionValue(1), "per_model: workspace 1, 640 bytes, used by 1 delegate"});
  option.evidence = Evidence::kEffective;
  return option;
}

OptionReport process_wide_option() {
  OptionReport option;
  option.backend = "XnnpackBackend";
  option.key = "weight_cache_enabled";
  option.requested = options::OptionValue(true);
  option.source = "--global-option #1";
  option.original = options::OptionValue(false);
  option.stored = options::OptionValue(true);
  option.stored_after = options::OptionValue(true);
  option.evidence = Evidence::kStored;
  return option;
}

// A run with one output that fails, and every section filled.
RunReport sample() {
  RunReport report;
  report.status = Status::kFail;
  report.exit_code = 1;
  report.error = make_error(ErrorCode::kMismatch, "output 0 of 'forward': 1 of 2 elements are outside");
  report.manifest.argv = {"pterun", "run", "m.pte"};
  report.manifest.versions = {{"pterun", "0.1.0"}};
  report.manifest.files = {{"model", "m.pte", 2048, std::string(64, 'a')}};
  report.manifest.threads = 2;
  report.manifest.verification = "full";
  report.options = {process_wide_option(), load_option()};
  report.load = {1000, 2000, {{"forward", 0, "XnnpackBackend", 1024, 1500, 1, {}, {{"packed_bytes", 256}}}}};
  MethodReport method;
  method.name = "forward";
  method.load_ns = 2000;
  method.inputs = {{"tensor", "float32", {1, 2}, "float32[1, 2]", "uniform(0,1), seed 0", ""}};
  method.outputs = {{"tensor", "float32", {1, 2}, "float32[1, 2]", "", ""}};
  method.planned_bytes = {64};
  method.delegates = 1;
  method.delegate_calls = 1;
  report.methods = {method};
  OutputReport output;
  output.method = "forward";
  output.name = "output_0";
  output.dtype = "float32";
  output.shape = {1, 2};
  output.sha256 = std::string(64, 'b');
  output.stats = TensorStats{-1, 2.5, 0.75, 1.75, 0, 1};
  report.outputs = {output};
  ComparisonReport comparison;
  comparison.method = "forward";
  comparison.reference = "m.expected.npz";
  comparison.comparison.reason = "1 of 2 elements are outside atol 0.0001 + rtol 0.0001 x |want|";
  comparison.comparison.metrics.elements = 2;
  comparison.comparison.metrics.max_abs = 0.5;
  comparison.comparison.metrics.max_rel = std::numeric_limits<double>::infinity();
  comparison.comparison.metrics.max_ulp = 7;
  comparison.comparison.metrics.mismatches = 1;
  comparison.comparison.metrics.mismatch_fraction = 0.5;
  comparison.comparison.worst = {{Shape{0, 1}, 2.5, std::numeric_limits<double>::quiet_NaN(), 0.5}};
  comparison.comparison.tolerance = {1e-4, 1e-4, {}};
  comparison.comparison.histogram = {1, 0, 1};
  comparison.reference_kind = "converted_graph";
  comparison.quanta = Quanta{0.25, 2, 1.5};
  report.comparisons = {comparison};
  report.accuracy = {{0, "forward", 0, "labels.npy", 9, 10}};
  report.timing = {3000, 500, {100, 110, 120}};
  report.memory = {{"peak_rss_bytes", 1048576}, {"planned_bytes", 64}};
  report.warnings = {{"no_delegate", "method 'forward' runs without any delegate", "export it for XNNPACK"}};
  return report;
}

TEST_CASE("the JSON report is as its golden file") {
  check_golden("report.json", to_json(sample()));
}

TEST_CASE("the text report is as its golden file") {
  check_golden("report.txt", to_text(sample(), {}));
}

TEST_CASE("the quiet text report is one line") {
  CHECK(to_text(sample(), {false, -1}) == "FAIL (1 of 1 outputs differ)\n");
  RunReport passed = sample();
  passed.status = Status::kPass;
  CHECK(to_text(passed, {false, -1}) == "PASS (1 output compared, all within tolerance)\n");
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
