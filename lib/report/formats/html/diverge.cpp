// Single nodes: what --diverge found (the first that is off, whose fault it is, those furthest off), and that of
// --node.
#include <fmt/format.h>

#include "report/formats/html/parts.h"
#include "report/formats/html/sections.h"

namespace pterun::report::html {
namespace {

// Whose fault it is, one paragraph a sentence.
std::string mapping_notes(const DivergeReport& diverge) {
  std::string text;
  for (const std::string& line : diverge_mapping_lines(diverge))
    text += fmt::format("<p>{}</p>\n", markup(line));
  return text;
}

std::string first_node(const DivergeReport& diverge) {
  if (!diverge.first) return mapping_notes(diverge);
  return fmt::format(
      "<article>\n<h3>{} the first that is off</h3>\n<p class=\"reason\">{}</p>\n{}<p class=\"note\">Its inputs, got "
      "and want are in <code>{}</code>. Again:</p>\n<pre class=\"command\">{}</pre>\n</article>\n",
      badge("bad", "fail"), markup(diverge_node_text(*diverge.first)), mapping_notes(diverge),
      markup(diverge.inputs_file), markup(diverge.command));
}

std::string nodes_table(const DivergeReport& diverge) {
  bool mapped = false;
  for (const DivergeNode& node : diverge.worst)
    mapped = mapped || !node.reference.empty() || node.arithmetic;
  std::vector<std::string> columns = {"node", "verdict", ">max abs", ">its share", "result", "place"};
  if (mapped) columns.insert(columns.end(), {"counterpart", "its own arithmetic"});
  Table table(std::move(columns));
  for (const DivergeNode& node : diverge.worst) {
    std::vector<std::string> row = {markup(node.name),
                                    badge(node.pass ? "good" : "bad", node.pass ? "pass" : "fail"),
                                    metric_text(node.max_abs),
                                    metric_text(node.allowed),
                                    markup(node.output),
                                    "<span class=\"place\">" +
                                        markup(node_place(node.method, node.instruction, node.delegate, node.node)) +
                                        "</span>"};
    if (mapped) {
      row.push_back(markup(node.reference));
      row.push_back(diverge_arithmetic_text(node));
    }
    table.add(std::move(row));
  }
  if (table.empty()) return "";
  return "<figure><figcaption>Nodes furthest off, by share of what is allowed</figcaption>\n" + table.to_string() +
         "</figure>\n";
}

}  // namespace

std::string node_section(const RunReport& report) {
  if (!report.node) return "";
  const NodeReport& node = *report.node;
  Table inputs({"input", "source"});
  for (const IoReport& input : node.inputs)
    inputs.add({markup(input.description), markup(input.source)});
  const std::string place = node_place(node.method, node.instruction, node.delegate, node.node);
  return section("Node", "", fmt::format("<p>{} ({})</p>\n", markup(node.name), markup(place)) + inputs.to_string());
}

std::string diverge_section(const RunReport& report) {
  if (!report.diverge) return "";
  const DivergeReport& diverge = *report.diverge;
  std::string body = fmt::format("<p>{}</p>\n<p class=\"note\">{}</p>\n", markup(diverge_counts_text(diverge)),
                                 markup(diverge_watching_text(diverge)));
  body += first_node(diverge);
  Table skipped({"not compared", ">times", "because"});
  for (const DivergeSkipped& item : diverge.skipped)
    skipped.add({markup(item.name), std::to_string(item.count), markup(item.reason)});
  return section(diverge_title(diverge), "Against " + diverge.reference,
                 body + nodes_table(diverge) + skipped.to_string());
}

}  // namespace pterun::report::html
