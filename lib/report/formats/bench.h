// A BenchReport as text, as the "bench" part of the JSON report, and the records of its processes,
// which the parent of a sweep reads from their reports and --resume keeps in a file.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "report/bench_report.h"
#include "report/formats/text.h"

namespace pterun::report {

nlohmann::json bench_json(const BenchReport& report);

// What one process of a sweep said. `failure` or `process`.
struct ProcessRecord {
  std::string command;  // of its cell
  std::size_t block = 0;
  bool control = false;
  std::optional<CellFailure> failure;
  ProcessReport process;
  std::vector<CellOption> options;
  std::vector<ProfileEntry> profile;
  std::vector<Warning> warnings;
};

// The JSON report of a process as a record: the cell and warnings of it, or the error in it. Errors: see read_report.
Result<ProcessRecord> parse_process_report(std::string_view text, const std::string& file);

// One line of a --resume file ({"schema": "pterun.bench-record/1", ...}), with the final newline, and back.
std::string record_line(const ProcessRecord& record);
Result<ProcessRecord> parse_record(std::string_view line, const std::string& file);

// For a person at a terminal.
std::string bench_text(const BenchReport& report, const TextStyle& style);

}  // namespace pterun::report
