// Words and numbers.
#include "report/formats/wording.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/shell.h"

namespace pterun::report {

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kRun: return "run";
    case Kind::kBench: return "bench";
    case Kind::kInspect: return "inspect";
    case Kind::kOptions: return "options";
    case Kind::kCompare: return "compare";
  }
  return "run";
}

std::string_view status_name(Status status) {
  switch (status) {
    case Status::kPass: return "pass";
    case Status::kFail: return "fail";
    case Status::kError: return "error";
  }
  return "error";
}

std::string duration_text(double elapsed_ns) {
  if (elapsed_ns < 1e3) return fmt::format("{:.3g} ns", elapsed_ns);
  if (elapsed_ns < 1e6) return fmt::format("{:.3g} us", elapsed_ns / 1e3);
  if (elapsed_ns < 1e9) return fmt::format("{:.3g} ms", elapsed_ns / 1e6);
  return fmt::format("{:.4g} s", elapsed_ns / 1e9);
}

std::string duration_or_dash(const std::optional<double>& elapsed_ns) {
  return elapsed_ns ? duration_text(*elapsed_ns) : "-";
}

std::string size_text(double size_bytes) {
  if (size_bytes < 1024) return fmt::format("{} B", size_bytes);
  if (size_bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", size_bytes / 1024);
  return fmt::format("{:.1f} MiB", size_bytes / (1024 * 1024));
}

std::string metric_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.3g}", value);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return Shape(std::span(shape)).to_string();
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string memory_label(std::string_view name) {
  std::string label(name.ends_with("_bytes") ? name.substr(0, name.size() - 6) : name);
  std::ranges::replace(label, '_', ' ');
  return label;
}

std::string evidence_detail(const OptionReport& option) {
  if (option.path == options::OptionPath::kLoad) {
    if (option.receipts.empty()) return "no delegate of that backend";
    std::string text = plural(option.receipts.size(), "receipt");
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const backend::Receipt& receipt : option.receipts) {
      if (counts.empty() || counts.back().first != receipt.method) counts.emplace_back(receipt.method, 0);
      ++counts.back().second;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      text += fmt::format("{}{} x{}", i == 0 ? ": " : ", ", counts[i].first, counts[i].second);
    }
    return text;
  }
  if (!option.stored) return option.action ? "action" : "";
  return "was " + (option.original ? option.original->to_string() : "unset") + ", read back " +
         option.stored->to_string();
}

std::string compared_name(const ComparisonReport& item, bool with_method) {
  if (!item.name.empty()) return item.name;
  return with_method && !item.method.empty() ? fmt::format("{} {}", item.method, item.output)
                                             : std::to_string(item.output);
}

std::string reference_text(const ComparisonReport& item) {
  if (item.reference_kind == "float_eager" && item.reference.find("float eager") == std::string::npos) {
    return item.reference + " (float eager)";
  }
  if (item.reference_kind == "converted_graph" && item.reference.find("converted graph") == std::string::npos) {
    return item.reference + " (converted graph)";
  }
  return item.reference;
}

std::string quanta_text(const Quanta& quanta) {
  return fmt::format("in steps of the output's scale {}: max {}, mean {}", metric_text(quanta.scale),
                     metric_text(quanta.max_abs), metric_text(quanta.mean_abs));
}

std::string tolerance_text(const compare::Tolerance& tolerance) {
  if (tolerance.bounds.empty()) return fmt::format("atol {}, rtol {}", tolerance.atol, tolerance.rtol);
  std::string text;
  for (const compare::Bound& bound : tolerance.bounds)
    text += (text.empty() ? "" : ", ") + bound.to_string();
  return text;
}

std::string ratio_text(const CellComparison& comparison) {
  std::string text = fmt::format("x{:.3f}", comparison.test.ratio);
  if (comparison.test.interval) {
    text += fmt::format(" [{:.3f}, {:.3f}]", comparison.test.interval->low, comparison.test.interval->high);
  }
  return text;
}

std::string outputs_text(const CellReport& cell) {
  if (cell.is_baseline) return "baseline";
  if (!cell.outputs) return "-";
  if (cell.outputs->identical) return "identical";
  return cell.outputs->pass ? fmt::format("within tolerance, max abs {:.3g}", cell.outputs->max_abs)
                            : "DIFFER: " + cell.outputs->reason;
}

std::string gate_change_text(const GateReport& gate) {
  std::string change;
  if (gate.baseline && *gate.baseline > 0) change = fmt::format("{:+.2f} %", (gate.value / *gate.baseline - 1) * 100);
  if (gate.interval) {
    change += fmt::format(" [{:+.2f}, {:+.2f}]", (gate.interval->low - 1) * 100, (gate.interval->high - 1) * 100);
  }
  return change;
}

std::string_view result_word(Status status) {
  switch (status) {
    case Status::kPass: return "PASS";
    case Status::kFail: return "FAIL";
    case Status::kError: return "ERROR";
  }
  return "ERROR";
}

std::string result_text(const RunReport& report) {
  const auto failed = static_cast<std::size_t>(
      std::ranges::count_if(report.comparisons, [](const ComparisonReport& item) { return !item.comparison.pass; }));
  const std::size_t total = report.comparisons.size();
  std::string text(result_word(report.status));
  switch (report.status) {
    case Status::kPass:
      if (total > 0) return text + fmt::format(" ({} compared, all within tolerance)", plural(total, "output"));
      return report.kind == Kind::kRun ? text + " (nothing was compared: no --reference)" : text;
    case Status::kFail: return text + (failed > 0 ? fmt::format(" ({} of {} outputs differ)", failed, total) : "");
    case Status::kError: return text;
  }
  return text;
}

std::string percentile_text(const bench::Percentile& percentile) {
  if (percentile.value_ns) return duration_text(static_cast<double>(*percentile.value_ns));
  return fmt::format("needs {} runs", percentile.needed_runs);
}

std::string_view diverge_cause_name(DivergeCause cause) {
  switch (cause) {
    case DivergeCause::kNone: return "none";
    case DivergeCause::kProgram: return "program";
    case DivergeCause::kKernel: return "kernel";
    case DivergeCause::kUnknown: return "unknown";
  }
  return "none";
}

std::string node_place(const std::string& method, std::size_t instruction, std::optional<std::size_t> delegate,
                       std::optional<std::size_t> node) {
  std::string place = fmt::format("method {}, instruction {}", method, instruction);
  if (node && delegate) place += fmt::format(", delegate {}, node {}", *delegate, *node);
  return place;
}

std::string diverge_title(const DivergeReport& diverge) {
  return diverge.mapping ? "Operator by operator" : "Node by node";
}

std::string diverge_watching_text(const DivergeReport& diverge) {
  if (!diverge.watching_changed) return "watching changed nothing: the outputs are the run's, bit for bit";
  return fmt::format("watching changed the outputs, by {} at most: nodes are not fused then",
                     metric_text(diverge.watching_max_abs));
}

std::string diverge_node_text(const DivergeNode& node) {
  return fmt::format("{} ({}) {}{}: max abs {}, its share is {}", node.name,
                     node_place(node.method, node.instruction, node.delegate, node.node), node.output,
                     node.reference.empty() ? "" : " against " + node.reference, metric_text(node.max_abs),
                     metric_text(node.allowed));
}

std::string diverge_arithmetic_text(const DivergeNode& node) {
  if (!node.arithmetic) return "";
  return fmt::format("{}, max abs {}", node.arithmetic->pass ? "right" : "WRONG",
                     metric_text(node.arithmetic->max_abs));
}

namespace {

std::string off_text(std::size_t count) {
  if (count == 0) return "none off by more than its share";
  return fmt::format("{} off by more than {} share", count, count == 1 ? "its" : "their");
}

}  // namespace

std::string diverge_counts_text(const DivergeReport& diverge) {
  std::string off = off_text(diverge.diverging);
  if (diverge.diverging == 0) off += " of the tolerance";
  if (!diverge.mapping) return fmt::format("{} compared, {}", plural(diverge.compared, "result"), off);
  const DivergeMapping& mapping = *diverge.mapping;
  return fmt::format("{} of the program: {} equal one of the {} of the .pt2, {} without a counterpart, {}",
                     plural(mapping.mapped + mapping.unmapped + diverge.diverging, "result"), mapping.mapped,
                     mapping.traced, mapping.unmapped, off);
}

std::vector<std::string> diverge_mapping_lines(const DivergeReport& diverge) {
  std::vector<std::string> lines;
  if (!diverge.mapping) return lines;
  const DivergeMapping& mapping = *diverge.mapping;
  if (mapping.mapped == 0) {
    lines.push_back(diverge.first ? "no result equals one of the .pt2: the place is only the likeliest"
                                  : "no result equals one of the .pt2: this says nothing about single operators");
  }
  if (diverge.first && !mapping.first_disagreeing.empty()) {
    lines.push_back(fmt::format(
        "{} should equal {} of the .pt2{}",
        mapping.through.empty() ? "it" : "it and what follows up to " + mapping.through, mapping.first_disagreeing,
        mapping.last_agreeing.empty() ? "" : "; up to " + mapping.last_agreeing + " all agrees"));
  }
  switch (mapping.cause) {
    case DivergeCause::kNone: break;
    case DivergeCause::kProgram:
      lines.push_back(
          "its own arithmetic is right: the interpreter agrees on the same inputs. The program differs from the .pt2, "
          "in a weight, an operator or by a fault of the export");
      break;
    case DivergeCause::kKernel:
      lines.push_back("its own arithmetic is wrong: the interpreter disagrees on the same inputs");
      break;
    case DivergeCause::kUnknown:
      lines.push_back(
          "whether the program or the operator is at fault is not known: nothing computes it a second time");
      break;
  }
  if (!diverge.first && !mapping.outputs_agree) {
    lines.push_back("the outputs differ although every result is within its share: small errors add up");
  }
  if (mapping.arithmetic_compared != 0) {
    lines.push_back(fmt::format("{} of the program's delegates computed again by the interpreter: {}",
                                plural(mapping.arithmetic_compared, "node"), off_text(mapping.arithmetic_diverging)));
  }
  return lines;
}

std::string command_text(const Manifest& manifest) {
  std::string text;
  for (const std::string& argument : manifest.argv)
    text += (text.empty() ? "" : " ") + shell_quoted(argument);
  return text;
}

const std::optional<double>& metric_of(const CellReport& cell, bench::GateMetric metric) {
  return cell.metrics[static_cast<std::size_t>(metric)];
}

}  // namespace pterun::report
