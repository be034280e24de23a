// The ladder of evidence: how far each option provably got, and the receipts.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/formats/html/parts.h"
#include "report/formats/html/sections.h"

namespace pterun::report::html {
namespace {

constexpr std::array kLevels = {Evidence::kParsed, Evidence::kAccepted, Evidence::kStored, Evidence::kDelivered,
                                Evidence::kEffective};

// Values of load options are not stored, process-wide ones not delivered, actions neither.
bool applies(const OptionReport& option, Evidence level) {
  if (level == Evidence::kStored) return option.path == options::OptionPath::kGlobal && !option.action;
  if (level == Evidence::kDelivered) return option.path == options::OptionPath::kLoad;
  return true;
}

std::string ladder(const OptionReport& option, const std::optional<Evidence>& required) {
  std::string text = fmt::format("<ol class=\"ladder\" aria-label=\"evidence: {}\">", evidence_name(option.evidence));
  for (const Evidence level : kLevels) {
    const bool reached = option.evidence >= level;
    std::string kind = !applies(option, level) ? "skip" : reached ? "reached" : "open";
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
  text += ladder(option, required);
  for (const ShadowedRequest& request : option.shadowed) {
    text += fmt::format("<p class=\"note\">over <s>{}</s> from {}</p>\n", markup(request.value.to_string()),
                        markup(request.source));
  }
  return text + receipts(option) + effects(option) + "</article>\n";
}

}  // namespace

std::string options_section(const RunReport& report) {
  std::string body;
  for (const OptionReport& option : report.options)
    body += one_option(option, report.required_evidence);
  const std::string lead = report.required_evidence ? fmt::format("How far each option provably got. Required: {}.",
                                                                  evidence_name(*report.required_evidence))
                                                    : std::string("How far each option provably got.");
  return section("Options", lead, body);
}

}  // namespace pterun::report::html
