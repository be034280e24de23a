// The ladder of evidence: how far each option provably got, and the receipts.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "report/formats/html/parts.h"
#include "report/formats/html/sections.h"

namespace pterun::report::html {
namespace {

constexpr std::array kLevels = {Evidence::kParsed, Evidence::kAccepted, Evidence::kStored, Evidence::kDelivered,
                                Evidence::kEffective};

// Which levels an option can have: values of load options are not stored, process-wide ones not delivered, actions
// neither.
struct Levels {
  bool stored = false;
  bool delivered = false;

  bool has(Evidence level) const {
    return level == Evidence::kStored ? stored : level == Evidence::kDelivered ? delivered : true;
  }
};

std::string ladder(Evidence evidence, const Levels& levels, const std::optional<Evidence>& required) {
  std::string text = fmt::format("<ol class=\"ladder\" aria-label=\"evidence: {}\">", evidence_name(evidence));
  for (const Evidence level : kLevels) {
    const bool reached = evidence >= level;
    std::string kind = !levels.has(level) ? "skip" : reached ? "reached" : "open";
    if (required == level) kind += reached ? " wanted" : " missed";
    text += fmt::format("<li class=\"{}\">{}</li>", kind, evidence_name(level));
  }
  return text + "</ol>\n";
}

std::string receipts(const OptionReport& option) {
  Table table({"method", ">delegate", "type", "value", "init returned", ">after"});
  std::vector<double> times;
  for (const backend::Receipt& receipt : option.receipts)
    times.push_back(static_cast<double>(receipt.at_ns));
  const Scale scale = duration_scale(times);
  for (const backend::Receipt& receipt : option.receipts) {
    table.add({markup(receipt.method), std::to_string(receipt.delegate),
               std::string(options::option_type_name(receipt.value.type())), markup(receipt.value.to_string()),
               markup(receipt.result), scale.with_unit(static_cast<double>(receipt.at_ns))});
  }
  return details(plural(option.receipts.size(), "receipt"), table.to_string());
}

std::string effects(const OptionReport& option) {
  Table table({"method", ">delegate", "value in force", "what the backend did"});
  for (const EffectReport& effect : option.effects) {
    table.add({markup(effect.method), std::to_string(effect.delegate), markup(effect.value.to_string()),
               markup(effect.detail)});
  }
  return details(plural(option.effects.size(), "effect"), table.to_string());
}

std::string one_option(const OptionReport& option, const std::optional<Evidence>& required) {
  std::string text =
      fmt::format("<article class=\"option\">\n<h3><code>{}.<wbr>{}</code> <span class=\"value\">{}</span></h3>\n",
                  markup(option.backend), markup(option.key), markup(option.requested.to_string()));
  const std::string because = evidence_detail(option);
  text += fmt::format("<p class=\"note\">{} · from {}{}{}</p>\n", options::option_path_name(option.path),
                      markup(option.source), because.empty() ? "" : " · ", markup(because));
  const bool process_wide = option.path == options::OptionPath::kGlobal;
  text += ladder(option.evidence, {process_wide && !option.action, !process_wide}, required);
  for (const ShadowedRequest& request : option.shadowed) {
    text += fmt::format("<p class=\"note\">over <s>{}</s> from {}</p>\n", markup(request.value.to_string()),
                        markup(request.source));
  }
  return text + receipts(option) + effects(option) + "</article>\n";
}

// An option over all cells of a sweep.
struct SweptOption {
  const CellOption* option = nullptr;  // of the first cell
  std::vector<std::string> values;     // without repetition
  std::map<Evidence, std::size_t> reached;
};

std::vector<SweptOption> swept_options(const BenchReport& bench) {
  std::vector<SweptOption> swept;
  for (const CellReport& cell : bench.cells) {
    for (const CellOption& option : cell.options) {
      const auto same = [&option](const SweptOption& item) {
        return item.option->backend == option.backend && item.option->key == option.key &&
               item.option->path == option.path;
      };
      auto found = std::ranges::find_if(swept, same);
      if (found == swept.end()) found = swept.insert(swept.end(), {&option, {}, {}});
      if (std::ranges::find(found->values, option.value) == found->values.end()) found->values.push_back(option.value);
      ++found->reached[option.evidence];
    }
  }
  return swept;
}

std::string one_swept_option(const SweptOption& swept) {
  std::string values;
  for (const std::string& value : swept.values)
    values += fmt::format(" <span class=\"value\">{}</span>", markup(value));
  std::string cells;
  for (const auto& [evidence, count] : swept.reached)
    cells += fmt::format(" · {} in {}", evidence_name(evidence), plural(count, "cell"));
  const CellOption& option = *swept.option;
  const bool load = option.path == options::option_path_name(options::OptionPath::kLoad);
  return fmt::format(
      "<article class=\"option\">\n<h3><code>{}.<wbr>{}</code>{}</h3>\n<p class=\"note\">{}{}</p>\n{}</article>\n",
      markup(option.backend), markup(option.key), values, markup(option.path), cells,
      ladder(swept.reached.begin()->first, {!load, load}, std::nullopt));
}

// Of a sweep: each option once, with the least that any process of any cell reached, then cell by cell.
std::string cells_options(const BenchReport& bench) {
  std::string body;
  for (const SweptOption& swept : swept_options(bench))
    body += one_swept_option(swept);
  Table table({"cell", "option", "path", "value", "evidence"});
  for (const CellReport& cell : bench.cells) {
    for (const CellOption& option : cell.options) {
      table.add({markup(cell_label(cell.name)),
                 fmt::format("<code>{}.{}</code>", markup(option.backend), markup(option.key)), markup(option.path),
                 markup(option.value), std::string(evidence_name(option.evidence))});
    }
  }
  return body + details("Cell by cell", table.to_string());
}

}  // namespace

std::string options_section(const RunReport& report) {
  if (report.bench && report.options.empty()) {
    return section("Options", "How far each option provably got: the least that a process of a sweep's cells reached.",
                   cells_options(*report.bench));
  }
  std::string body;
  for (const OptionReport& option : report.options)
    body += one_option(option, report.required_evidence);
  const std::string lead = report.required_evidence ? fmt::format("How far each option provably got. Required: {}.",
                                                                  evidence_name(*report.required_evidence))
                                                    : std::string("How far each option provably got.");
  return section("Options", lead, body);
}

}  // namespace pterun::report::html
