// What the sections of the Markdown report are built from, and the sections that have a file of their own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats/escape.h"
#include "report/formats/wording.h"
#include "report/run_report.h"

namespace pterun::report::md {

// Cells are Markdown already. Columns whose name starts with '>' are aligned to the right.
class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> columns) {
    text_ = "|";
    std::string rule = "|";
    for (const std::string& column : columns) {
      const bool right = column.starts_with('>');
      text_ += " " + column.substr(right ? 1 : 0) + " |";
      rule += right ? " ---: |" : " --- |";
    }
    text_ += "\n" + rule + "\n";
  }
  void add(const std::vector<std::string>& cells) {
    text_ += "|";
    for (const std::string& cell : cells)
      text_ += " " + cell + " |";
    text_ += "\n";
    empty_ = false;
  }
  std::string section(std::string_view title) const { return empty_ ? "" : fmt::format("\n## {}\n\n{}", title, text_); }

 private:
  std::string text_;
  bool empty_ = true;
};

// Of a time that cannot be absent.
std::string nanoseconds(std::int64_t elapsed_ns);

// Each is "" when the report has nothing for it.
std::string comparisons_section(const RunReport& report);
std::string node_section(const RunReport& report);
std::string diverge_section(const RunReport& report);
std::string outputs_section(const RunReport& report);
std::string accuracy_section(const RunReport& report);
std::string memory_section(const std::map<std::string, std::int64_t>& memory);
std::string bench_sections(const BenchReport& bench);

}  // namespace pterun::report::md
