// Outputs, and what they are compared with, as Markdown.
#include <fmt/format.h>

#include "report/formats/markdown/parts.h"

namespace pterun::report::md {

std::string comparisons_section(const RunReport& report) {
  MarkdownTable table({"output", "reference", "verdict", ">max abs", ">mean abs", ">max rel", ">RMSE", ">cosine",
                       ">SNR dB", "tolerance"});
  std::string notes;
  for (const ComparisonReport& item : report.comparisons) {
    const compare::Comparison& c = item.comparison;
    const std::string output = markdown(compared_name(item, true));
    if (!c.pass && c.metrics.elements == 0) {  // there was nothing to compare with
      table.add({output, markdown(reference_text(item)), "**FAIL**", "-", "-", "-", "-", "-", "-", ""});
      notes += fmt::format("\nOutput {}: {}\n", output, markdown(c.reason));
      continue;
    }
    table.add({output, markdown(reference_text(item)), c.pass ? "pass" : "**FAIL**", metric_text(c.metrics.max_abs),
               metric_text(c.metrics.mean_abs), metric_text(c.metrics.max_rel), metric_text(c.metrics.rmse),
               fmt::format("{:.6f}", c.metrics.cosine), metric_text(c.metrics.snr_db),
               markdown(tolerance_text(c.tolerance))});
    if (item.quanta) notes += fmt::format("\nOutput {}: {}\n", output, markdown(quanta_text(*item.quanta)));
    if (c.pass) continue;
    notes += fmt::format("\nOutput {}: {}\n\n", output, markdown(c.reason));
    for (const compare::WorstElement& element : c.worst) {
      notes += fmt::format("- at {}: got {}, want {}, error {}\n", markdown(element.index.to_string()), element.got,
                           element.want, metric_text(element.abs_error));
    }
  }
  return table.section("Comparison") + notes;
}

std::string node_section(const RunReport& report) {
  if (!report.node) return "";
  const NodeReport& node = *report.node;
  MarkdownTable inputs({"input", "source"});
  for (const IoReport& input : node.inputs)
    inputs.add({markdown(input.description), markdown(input.source)});
  return fmt::format("\n## Node\n\n{} ({})\n", markdown(node.name),
                     markdown(node_place(node.method, node.instruction, node.delegate, node.node))) +
         inputs.section("Inputs of the node");
}

std::string diverge_section(const RunReport& report) {
  if (!report.diverge) return "";
  const DivergeReport& diverge = *report.diverge;
  std::string text =
      fmt::format("\n## {}\n\nAgainst {}\n\n- {}\n- {}\n", diverge_title(diverge), markdown(diverge.reference),
                  markdown(diverge_counts_text(diverge)), markdown(diverge_watching_text(diverge)));
  if (diverge.first) text += fmt::format("\n**first**: {}\n", markdown(diverge_node_text(*diverge.first)));
  for (const std::string& line : diverge_mapping_lines(diverge))
    text += fmt::format("\n- {}", markdown(line));
  if (diverge.mapping) text += "\n";
  if (diverge.first) {
    text += fmt::format("\nIts inputs, got and want are in {}; again: {}\n", markdown_code(diverge.inputs_file),
                        markdown_code(diverge.command));
  }
  MarkdownTable nodes({"node", "place", "result", "counterpart", ">max abs", ">its share", "verdict", "arithmetic"});
  for (const DivergeNode& node : diverge.worst) {
    nodes.add({markdown(node.name), markdown(node_place(node.method, node.instruction, node.delegate, node.node)),
               markdown(node.output), markdown(node.reference), metric_text(node.max_abs), metric_text(node.allowed),
               node.pass ? "pass" : "**FAIL**", diverge_arithmetic_text(node)});
  }
  MarkdownTable skipped({"not compared", ">times", "because"});
  for (const DivergeSkipped& item : diverge.skipped)
    skipped.add({markdown(item.name), std::to_string(item.count), markdown(item.reason)});
  return text + nodes.section("Nodes furthest off") + skipped.section("Not compared");
}

std::string outputs_section(const RunReport& report) {
  MarkdownTable table({"output", "type", ">min", ">max", ">mean", ">stddev", ">NaN", ">inf"});
  for (const OutputReport& output : report.outputs) {
    const std::string name =
        markdown(output.method.empty() ? output.name : fmt::format("{} {}", output.method, output.index));
    if (!output.stats) {
      table.add({name, markdown(output.value.empty() ? output.dtype + shape_text(output.shape) : output.value), "", "",
                 "", "", "", ""});
      continue;
    }
    const TensorStats& s = *output.stats;
    table.add({name, markdown(output.dtype + shape_text(output.shape)), metric_text(s.min), metric_text(s.max),
               metric_text(s.mean), metric_text(s.stddev), std::to_string(s.nan), std::to_string(s.inf)});
  }
  return table.section("Outputs");
}

std::string accuracy_section(const RunReport& report) {
  MarkdownTable table({"output", "labels", ">correct", ">of"});
  for (const AccuracyReport& item : report.accuracy) {
    table.add({std::to_string(item.output), markdown_code(item.labels), std::to_string(item.correct),
               std::to_string(item.total)});
  }
  return table.section("Accuracy");
}

}  // namespace pterun::report::md
