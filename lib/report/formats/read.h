// A saved JSON report back into a RunReport: the one reader that `pterun report`, `pterun compare`, --baseline and the
// parent of a sweep use. What an older pterun did not write keeps its default; what it does not know is skipped.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "report/formats/json_view.h"
#include "report/run_report.h"

namespace pterun::report {

// Errors: kInput naming the file and, for what has another type than the schema says, the JSON pointer, what was
// expected and what was found. `inspect` parts are not read.
Result<RunReport> read_report(std::string_view text, const std::string& file);

// Parses `text`, checks its "schema" and calls `read`, whose ReadFailure becomes the error. For readers of this folder.
Result<void> read_document(std::string_view text, const std::string& file, std::string_view schema,
                           const std::function<void(const JsonView& document)>& read);

// Parts that several documents have.
BenchReport read_bench(const JsonView& value);
Evidence read_evidence(const JsonView& value);
std::vector<Warning> read_warnings(const JsonView& document);

}  // namespace pterun::report
