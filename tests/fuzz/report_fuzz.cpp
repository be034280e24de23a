// Any bytes read as a saved report, as a process's report and as a line of a --resume file. What was accepted is
// written in every format, and its JSON is read back: the second reading must give the same document.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "report/formats/bench.h"
#include "report/formats/csv.h"
#include "report/formats/exports.h"
#include "report/formats/html.h"
#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "report/formats/markdown.h"
#include "report/formats/read.h"
#include "report/formats/text.h"

namespace {

using namespace pterun;

void write_all(const report::RunReport& report) {
  for (const int verbosity : {-1, 0, 1})
    (void)report::to_text(report, {.color = verbosity > 0, .verbosity = verbosity});
  (void)report::to_csv(report);
  (void)report::to_junit(report);
  (void)report::to_markdown(report);
  (void)report::to_html(report);
  (void)report::to_hyperfine(report);
  (void)report::to_google_benchmark(report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)report::parse_process_report(text, "input");
  if (const auto record = report::parse_record(text, "input")) {
    if (!report::parse_record(report::record_line(*record), "line")) std::abort();
  }
  const auto report = report::read_report(text, "input");
  if (!report) return 0;
  write_all(*report);
  const std::string once = report::to_json(*report);
  const auto again = report::read_report(once, "written");
  if (!again || report::to_json(*again) != once) std::abort();
  return 0;
}
