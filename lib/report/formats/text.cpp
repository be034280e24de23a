// Sections of the text report, in the order in which a run goes.
#include "report/formats/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/formats/bench.h"

namespace pterun::report {
namespace {

std::string paint(const TextStyle& style, std::string_view code, std::string_view text) {
  if (!style.color) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string heading(const TextStyle& style, std::string_view text) {
  return paint(style, "1", text) + "\n";
}

// Length as a terminal shows it: UTF-8 continuation bytes take no column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string model_section(const RunReport& report, const TextStyle& style) {
  std::string text;
  for (const FileIdentity& file : report.manifest.files) {
    if (file.role != "model") continue;
    text += fmt::format("{}  {} ({}, {} verification{})\n", paint(style, "1", "Model"), file.path,
                        size_text(static_cast<double>(file.bytes)), report.manifest.verification,
                        report.manifest.threads == 0 ? "" : ", " + plural(report.manifest.threads, "thread"));
  }
  for (const MethodReport& method : report.methods) {
    text +=
        fmt::format("  method {}: {}, {} outside delegates, planned memory {}\n", method.name,
                    plural(method.delegates, "delegate"), plural(method.kernel_calls, "operator call"), size_text([&] {
                      double sum = 0;
                      for (const std::uint64_t bytes : method.planned_bytes)
                        sum += static_cast<double>(bytes);
                      return sum;
                    }()));
  }
  return text;
}

std::string options_section(const RunReport& report, const TextStyle& style) {
  if (report.options.empty()) return "";
  std::string text = heading(style, "Options");
  TextTable table;
  for (const OptionReport& option : report.options) {
    table.add({option.backend + "." + option.key, std::string(options::option_path_name(option.path)),
               option.requested.to_string(), std::string(evidence_name(option.evidence)), evidence_detail(option),
               "from " + option.source});
    for (const ShadowedRequest& request : option.shadowed) {
      table.add({"", "", request.value.to_string(), "shadowed", "", "from " + request.source});
    }
  }
  text += table.to_string();
  TextTable details;
  for (const OptionReport& option : report.options) {
    const std::size_t shown =
        style.verbosity > 0 ? option.receipts.size() : std::min<std::size_t>(option.receipts.size(), 4);
    for (std::size_t i = 0; i < shown; ++i) {
      const backend::Receipt& receipt = option.receipts[i];
      details.add({"receipt", option.key, fmt::format("method {} delegate {}", receipt.method, receipt.delegate),
                   fmt::format("{} {}", options::option_type_name(receipt.value.type()), receipt.value.to_string()),
                   "init: " + receipt.result});
    }
    if (shown < option.receipts.size()) {
      details.add({"receipt", option.key, fmt::format("and {} more (-v lists them)", option.receipts.size() - shown)});
    }
    const std::size_t effects =
        style.verbosity > 0 ? option.effects.size() : std::min<std::size_t>(option.effects.size(), 2);
    for (std::size_t i = 0; i < effects; ++i) {
      details.add({"effect", option.key,
                   fmt::format("method {} delegate {}", option.effects[i].method, option.effects[i].delegate),
                   option.effects[i].value.to_string(), option.effects[i].detail});
    }
  }
  return text + details.to_string();
}

std::string node_section(const RunReport& report, const TextStyle& style) {
  if (!report.node) return "";
  const NodeReport& node = *report.node;
  TextTable table;
  for (const IoReport& input : node.inputs)
    table.add({input.description, input.source});
  return heading(style, fmt::format("{} ({})", node.name,
                                    node_place(node.method, node.instruction, node.delegate, node.node))) +
         table.to_string();
}

std::string inputs_section(const RunReport& report, const TextStyle& style) {
  TextTable table;
  for (const MethodReport& method : report.methods) {
    for (std::size_t i = 0; i < method.inputs.size(); ++i) {
      const IoReport& input = method.inputs[i];
      table.add({report.methods.size() > 1 ? method.name : "", std::to_string(i),
                 input.kind == "tensor" ? input.dtype + shape_text(input.shape) : input.description, input.source});
    }
  }
  return table.empty() ? "" : heading(style, "Inputs") + table.to_string();
}

std::string outputs_section(const RunReport& report, const TextStyle& style) {
  if (report.outputs.empty()) return "";
  std::string text = heading(style, "Outputs");
  TextTable table;
  for (const OutputReport& output : report.outputs) {
    std::vector<std::string> row = {report.methods.size() > 1 ? output.method : "", std::to_string(output.index),
                                    output.value.empty() ? output.dtype + shape_text(output.shape) : output.value};
    if (output.stats) {
      row.push_back("min " + metric_text(output.stats->min));
      row.push_back("max " + metric_text(output.stats->max));
      row.push_back("mean " + metric_text(output.stats->mean));
      if (output.stats->nan + output.stats->inf > 0) {
        row.push_back(fmt::format("NaN {} inf {}", output.stats->nan, output.stats->inf));
      }
    }
    table.add(std::move(row));
  }
  text += table.to_string();
  for (const OutputReport& output : report.outputs) {
    if (!output.preview.empty()) text += fmt::format("  {}: {}\n", output.index, output.preview);
  }
  return text;
}

std::string comparison_section(const RunReport& report, const TextStyle& style) {
  std::string text;
  std::string last_reference;
  for (const ComparisonReport& item : report.comparisons) {
    const compare::Comparison& c = item.comparison;
    if (item.reference != last_reference) text += heading(style, "Compared with " + reference_text(item));
    last_reference = item.reference;
    const std::string verdict = c.pass ? paint(style, "32", "pass") : paint(style, "31", "FAIL");
    if (!c.pass && c.metrics.elements == 0) {  // there was nothing to compare with
      text += fmt::format("  {}  {}  {}\n", compared_name(item, report.methods.size() > 1), verdict, c.reason);
      continue;
    }
    text += fmt::format("  {}  {}  max abs {}, mean abs {}, max rel {}, RMSE {}, cosine {:.6f}, SNR {} dB",
                        compared_name(item, report.methods.size() > 1), verdict, metric_text(c.metrics.max_abs),
                        metric_text(c.metrics.mean_abs), metric_text(c.metrics.max_rel), metric_text(c.metrics.rmse),
                        c.metrics.cosine, metric_text(c.metrics.snr_db));
    if (c.metrics.max_ulp) text += fmt::format(", max ULP {}", metric_text(*c.metrics.max_ulp));
    if (c.metrics.argmax_agree) text += fmt::format(", argmax agrees in {:.4g} %", *c.metrics.argmax_agree * 100);
    text += "\n";
    if (item.quanta) {
      text += fmt::format("     {}\n", quanta_text(*item.quanta));
    }
    if (c.pass && style.verbosity < 1) continue;
    if (!c.pass) text += fmt::format("     {}\n", c.reason);
    for (const compare::WorstElement& element : c.worst) {
      text += fmt::format("     at {}: got {}, want {}, error {}\n", element.index.to_string(), element.got,
                          element.want, metric_text(element.abs_error));
    }
  }
  return text;
}

std::string diverge_section(const RunReport& report, const TextStyle& style) {
  if (!report.diverge) return "";
  const DivergeReport& diverge = *report.diverge;
  std::string text = heading(style, diverge_title(diverge) + " against " + diverge.reference);
  text += "  " + diverge_watching_text(diverge) + "\n  " + diverge_counts_text(diverge) + "\n";
  if (diverge.first) text += fmt::format("  first: {}\n", diverge_node_text(*diverge.first));
  for (const std::string& line : diverge_mapping_lines(diverge))
    text += "  " + line + "\n";
  if (diverge.first) {
    text += fmt::format("  its inputs, got and want: {}\n  again: {}\n", diverge.inputs_file, diverge.command);
  }
  for (const DivergeNode& node : diverge.worst) {
    if (style.verbosity > 0) text += "  worst: " + diverge_node_text(node) + "\n";
  }
  for (const DivergeSkipped& item : diverge.skipped)
    text += fmt::format("  not compared: {} x{} ({})\n", item.name, item.count, item.reason);
  return text;
}

std::string accuracy_section(const RunReport& report, const TextStyle& style) {
  std::string text;
  for (const AccuracyReport& item : report.accuracy) {
    const double share =
        item.total == 0 ? 0 : 100.0 * static_cast<double>(item.correct) / static_cast<double>(item.total);
    text += fmt::format("{}  {:.2f} % of output {} ({} of {} labels in {})\n", paint(style, "1", "Accuracy"), share,
                        item.output, item.correct, item.total, item.labels);
  }
  return text;
}

std::string timing_section(const RunReport& report, const TextStyle& style) {
  if (report.timing.load_ns == 0) return "";
  std::string text =
      fmt::format("{}  load {}", paint(style, "1", "Time"), duration_text(static_cast<double>(report.timing.load_ns)));
  if (report.timing.first_ns > 0)
    text += fmt::format(", first {}", duration_text(static_cast<double>(report.timing.first_ns)));
  const TimingSummary s = steady_summary(report.timing);
  if (s.runs > 0) {
    text += fmt::format(", steady {} median of {} (min {}", duration_text(static_cast<double>(s.p50_ns.value_or(0))),
                        plural(s.runs, "run"), duration_text(static_cast<double>(s.min_ns)));
    if (s.p90_ns) text += fmt::format(", p90 {}", duration_text(static_cast<double>(*s.p90_ns)));
    if (s.p99_ns) text += fmt::format(", p99 {}", duration_text(static_cast<double>(*s.p99_ns)));
    text += ")";
  }
  return text + "\n";
}

std::string result_line(const RunReport& report, const TextStyle& style) {
  const std::string_view word = result_word(report.status);
  const std::string rest = result_text(report).substr(word.size());
  return paint(style, report.status == Status::kPass ? "32" : "31", word) +
         (report.status == Status::kFail && rest.empty() ? " (see above)" : rest) + "\n";
}

}  // namespace

std::string memory_text(const std::map<std::string, std::int64_t>& memory, const std::string& heading) {
  if (memory.empty()) return "";
  constexpr std::array<std::string_view, 4> kPhases = {"before_load", "after_load", "after_first", "steady"};
  constexpr std::array<std::string_view, 6> kColumns = {"rss", "peak_rss", "planned", "workspace", "packed", "mapped"};
  std::map<std::string, std::int64_t> others = memory;
  TextTable table;
  table.add({"", "resident", "peak", "planned", "workspaces", "packed weights", "mapped weights"});
  bool has_phases = false;
  for (const std::string_view phase : kPhases) {
    std::vector<std::string> row = {std::string(phase)};
    std::ranges::replace(row.front(), '_', ' ');
    for (const std::string_view column : kColumns) {
      const auto entry = others.extract(fmt::format("{}_{}_bytes", column, phase));
      row.push_back(entry.empty() ? "" : size_text(static_cast<double>(entry.mapped())));
    }
    if (std::ranges::all_of(row.begin() + 1, row.end(), [](const std::string& cell) { return cell.empty(); })) continue;
    has_phases = true;
    table.add(std::move(row));
  }
  std::string text = heading;
  bool first = true;
  for (const auto& [name, bytes] : others) {
    text += fmt::format("{} {} {}", first ? " " : ",", memory_label(name), size_text(static_cast<double>(bytes)));
    first = false;
  }
  return text + "\n" + (has_phases ? table.to_string() : "");
}

std::string TextTable::to_string() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      line += "  " + row[i] + std::string(widths[i] - columns(row[i]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string to_text(const RunReport& report, const TextStyle& style) {
  if (style.verbosity < 0) return result_line(report, style);
  if (report.bench) {
    return model_section(report, style) + options_section(report, style) + inputs_section(report, style) +
           comparison_section(report, style) + bench_text(*report.bench, style) + result_line(report, style);
  }
  return model_section(report, style) + options_section(report, style) + node_section(report, style) +
         inputs_section(report, style) + outputs_section(report, style) + comparison_section(report, style) +
         diverge_section(report, style) + accuracy_section(report, style) + timing_section(report, style) +
         memory_text(report.memory, paint(style, "1", "Memory")) + result_line(report, style);
}

}  // namespace pterun::report
