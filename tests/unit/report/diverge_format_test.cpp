// The section of a report about the first node that is off.
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "report/formats/html.h"
#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "report/formats/markdown.h"
#include "report/formats/read.h"
#include "report/formats/text.h"
#include "report/formats/wording.h"
#include "samples.h"
#include "samples_diverge.h"

using namespace pterun;
using namespace pterun::report;

namespace {

RunReport report_with(DivergeReport diverge) {
  RunReport report = sample_run();
  report.diverge = std::move(diverge);
  return report;
}

bool says(const DivergeReport& diverge, const std::string& part) {
  for (const std::string& line : diverge_mapping_lines(diverge))
    if (line.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a divergence from a .pt2 is written and read back") {
  const RunReport report = report_with(sample_diverge_from_pt2());
  check_golden("diverge.json", to_json(report));
  check_golden("diverge.txt", to_text(report, {}));
  check_golden("diverge.md", to_markdown(report));
  check_golden("diverge.junit.xml", to_junit(report));
  const auto read = read_report(to_json(report), "r.json");
  REQUIRE(read.has_value());
  CHECK(to_json(*read) == to_json(report));
  CHECK(to_text(*read, {}) == to_text(report, {}));
  CHECK(to_markdown(*read) == to_markdown(report));
  CHECK(to_junit(*read) == to_junit(report));
  CHECK(to_html(*read) == to_html(report));
}

TEST_CASE("a divergence without a mapping is read back without one") {
  DivergeReport diverge = sample_diverge_from_pt2();
  diverge.mapping.reset();
  diverge.first->arithmetic.reset();
  const RunReport report = report_with(diverge);
  const auto read = read_report(to_json(report), "r.json");
  REQUIRE(read.has_value());
  CHECK_FALSE(read->diverge->mapping.has_value());
  CHECK_FALSE(read->diverge->first->arithmetic.has_value());
  CHECK(to_json(*read) == to_json(report));
  CHECK(diverge_mapping_lines(diverge).empty());
}

TEST_CASE("whose fault a divergence is, is said in words") {
  DivergeReport diverge = sample_diverge_from_pt2();
  CHECK(says(diverge, "its own arithmetic is right"));
  diverge.mapping->cause = DivergeCause::kKernel;
  CHECK(says(diverge, "its own arithmetic is wrong"));
  diverge.mapping->cause = DivergeCause::kUnknown;
  CHECK(says(diverge, "is not known"));
}

TEST_CASE("where nothing could be paired, or errors add up, the text claims no agreement") {
  DivergeReport diverge = sample_diverge_from_pt2();
  diverge.first.reset();
  diverge.mapping->cause = DivergeCause::kNone;
  CHECK(says(diverge, "small errors add up"));
  diverge.mapping->outputs_agree = true;
  CHECK_FALSE(says(diverge, "small errors add up"));
  CHECK_FALSE(says(diverge, "says nothing"));
  diverge.mapping->mapped = 0;
  CHECK(says(diverge, "says nothing about single operators"));
}
