// The sections of the HTML page; each is "" when the report has nothing for it.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report::html {

std::string style_sheet();

std::string head_section(const RunReport& report);         // what it is, the verdict, the figures that matter
std::string options_section(const RunReport& report);      // the ladder of evidence
std::string comparisons_section(const RunReport& report);  // metrics, error histograms, worst elements
std::string node_section(const RunReport& report);         // of --node: where it is, its inputs
std::string diverge_section(const RunReport& report);      // the first node that is off, and what was compared
std::string outputs_section(const RunReport& report);
std::string latency_section(const RunReport& report);  // distribution, and drift over time
std::string sweep_section(const RunReport& report);    // heat map, cells, intervals of ratios
std::string gates_section(const RunReport& report);
std::string profile_section(const RunReport& report);
std::string memory_section(const RunReport& report);
std::string program_section(const RunReport& report);   // methods, inputs, delegates
std::string manifest_section(const RunReport& report);  // command, files, versions, host

}  // namespace pterun::report::html
