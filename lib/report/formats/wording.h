// Words and numbers as people read them, shared by the formats that are for people: text, Markdown and HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/run_report.h"

namespace pterun::report {

std::string_view kind_name(Kind kind);        // "run"
std::string_view status_name(Status status);  // "pass"

// "12.3 ms", "410 ns": three significant digits with a unit.
std::string duration_text(double elapsed_ns);
// The same, "-" for none.
std::string duration_or_dash(const std::optional<double>& elapsed_ns);
// "13.4 MiB", "512 B".
std::string size_text(double size_bytes);
// Three significant digits, "NaN", "inf", "-inf".
std::string metric_text(double value);
// "[1, 3]".
std::string shape_text(const std::vector<std::int64_t>& shape);
// "1 run", "2 runs".
std::string plural(std::size_t count, std::string_view noun);
// "peak rss" of "peak_rss_bytes".
std::string memory_label(std::string_view name);

// What the evidence of an option rests on: "2 receipts: forward x2", "was false, read back true".
std::string evidence_detail(const OptionReport& option);
// "output_0" of `pterun compare`, else "0", or "forward 0" with the method.
std::string compared_name(const ComparisonReport& item, bool with_method);
// "m.npz (converted graph)": a live reference says itself what it is; of a file it is said where its kind was given.
std::string reference_text(const ComparisonReport& item);
// "in steps of the output's scale 0.1: max 1, mean 0.2".
std::string quanta_text(const Quanta& quanta);
// "atol 0.0001, rtol 0.0001", or the bounds.
std::string tolerance_text(const compare::Tolerance& tolerance);
// "x1.040 [1.020, 1.060]".
std::string ratio_text(const CellComparison& comparison);
// "identical", "within tolerance, max abs 0.1", "DIFFER: …", "baseline", "-".
std::string outputs_text(const CellReport& cell);
// "+4.00 % [+2.00, +6.00]"; "" for an absolute gate.
std::string gate_change_text(const GateReport& gate);

// "PASS (2 outputs compared, all within tolerance)".
std::string result_text(const RunReport& report);
// The word before the parenthesis: "PASS", "FAIL" or "ERROR".
std::string_view result_word(Status status);

// Nearest-rank percentile or the number of runs that it needs: "1.2 ms", "needs 500 runs".
std::string percentile_text(const bench::Percentile& percentile);

// "program": what the report names the cause of a divergence.
std::string_view diverge_cause_name(DivergeCause cause);
// "method forward, instruction 1, delegate 0, node 2".
std::string node_place(const std::string& method, std::size_t instruction, std::optional<std::size_t> delegate,
                       std::optional<std::size_t> node);
// "Node by node", or "Operator by operator" against a .pt2.
std::string diverge_title(const DivergeReport& diverge);
// Whether watching the nodes changed the outputs, one sentence.
std::string diverge_watching_text(const DivergeReport& diverge);
// "Conv2d (method forward, instruction 0, delegate 0, node 1) float32[1, 2]: max abs 1, its share is 0.1".
std::string diverge_node_text(const DivergeNode& node);
// "right, max abs 0": what the interpreter says of its arithmetic; "" where it says nothing.
std::string diverge_arithmetic_text(const DivergeNode& node);
// What was compared, as a sentence without its full stop: "12 results: 10 equal one of the 14 of the .pt2, …".
std::string diverge_counts_text(const DivergeReport& diverge);
// Where the divergence lies among the operators of a .pt2 and whose fault it is, one sentence each; none without a
// mapping.
std::vector<std::string> diverge_mapping_lines(const DivergeReport& diverge);

// The command line of a report, quoted for a shell.
std::string command_text(const Manifest& manifest);

const std::optional<double>& metric_of(const CellReport& cell, bench::GateMetric metric);

}  // namespace pterun::report
