// The report as text for a person at a terminal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "report/formats/wording.h"
#include "report/run_report.h"

namespace pterun::report {

struct TextStyle {
  bool color = false;
  int verbosity = 0;  // -1: one line of result, 0: the report, 1: with every receipt and delegate
};

// The report of a run, ending with one line of result.
std::string to_text(const RunReport& report, const TextStyle& style);

// The memory of a report: a line with what belongs to no phase, after `heading`, and a table with a row for each phase
// (names like "workspace_after_load_bytes"). Empty when there is none.
std::string memory_text(const std::map<std::string, std::int64_t>& memory, const std::string& heading);

// Lines of left-aligned columns, two spaces apart, each line indented by two.
class TextTable {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace pterun::report
