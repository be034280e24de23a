// Outputs against their reference: metrics in one table, then the errors of each output by decade and the worst ones.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/formats/html/parts.h"
#include "report/formats/html/sections.h"

namespace pterun::report::html {
namespace {

// Bin i holds errors in [10^(i-17), 10^(i-16)), bin 0 what is smaller: see compare::Comparison.
constexpr double kFirstDecade = -17;

std::string output_name(const ComparisonReport& item, bool with_method) {
  return item.name.empty() ? "output " + compared_name(item, with_method) : item.name;
}

std::string decade_text(int decade) {
  return decade == 0 ? "1" : fmt::format("1e{}", decade);
}

std::string histogram(const compare::Comparison& comparison) {
  const std::vector<std::int64_t>& counts = comparison.histogram;
  std::int64_t most = 0;
  for (const std::int64_t count : counts)
    most = std::max(most, count);
  if (most == 0) return "";
  const Range x{0, static_cast<double>(counts.size())};
  const Range y{0, std::log10(static_cast<double>(most)) + 1};
  Plot plot(x, y);
  const compare::Tolerance& tolerance = comparison.tolerance;
  const double limit = tolerance.bounds.empty() && tolerance.atol > 0 ? std::log10(tolerance.atol) - kFirstDecade : -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto left = static_cast<double>(i);
    const int decade = static_cast<int>(i) + static_cast<int>(kFirstDecade);
    const std::string where = i == 0 ? fmt::format("below {}", decade_text(decade + 1))
                                     : fmt::format("{} to {}", decade_text(decade), decade_text(decade + 1));
    const bool beyond = limit >= 0 && left >= limit - 1e-9;
    plot.box(left + 0.06, 0, left + 0.94, std::log10(static_cast<double>(counts[i])) + 1, beyond ? "bar bad" : "bar",
             fmt::format("{}: {}", where, plural(static_cast<std::size_t>(counts[i]), "element")));
  }
  if (limit >= 0 && limit < x.high) plot.line(limit, y.low, limit, y.high, "limit");
  std::vector<Mark> marks = {{0.5, "0"}};
  for (int decade = -12; decade <= 3; decade += 3)
    marks.push_back({decade - kFirstDecade, decade_text(decade)});
  return fmt::format(
      "<figure><figcaption>Elements by |error|, in decades; heights are logarithmic{}</figcaption>\n{}{}"
      "</figure>\n",
      limit >= 0 ? ", the line is the absolute tolerance" : "",
      plot.to_string("medium", "histogram of absolute errors by decade"), x_axis(x, marks));
}

std::string worst_elements(const compare::Comparison& comparison) {
  Table table({"index", ">got", ">want", ">error"});
  for (const compare::WorstElement& element : comparison.worst) {
    table.add({fmt::format("<code>{}</code>", markup(element.index.to_string())), fmt::format("{:.8g}", element.got),
               fmt::format("{:.8g}", element.want), metric_text(element.abs_error)});
  }
  if (table.empty()) return "";
  return "<figure><figcaption>Worst elements</figcaption>\n" + table.to_string() + "</figure>\n";
}

std::string counts_note(const compare::Metrics& m) {
  std::string text = fmt::format("{} elements", m.elements);
  if (m.mismatches > 0) text += fmt::format(", {} outside ({:.3g} %)", m.mismatches, m.mismatch_fraction * 100);
  if (!m.nan_agree || m.nan_got > 0) {
    text += fmt::format(", NaN {} got, {} wanted{}", m.nan_got, m.nan_want, m.nan_agree ? "" : ", at other places");
  }
  if (!m.inf_agree || m.inf_got > 0) {
    text += fmt::format(", infinities {} got, {} wanted{}", m.inf_got, m.inf_want,
                        m.inf_agree ? "" : ", at other places or of the other sign");
  }
  return text;
}

std::string one_output(const ComparisonReport& item, bool with_method) {
  const compare::Comparison& c = item.comparison;
  std::string body = histogram(c) + worst_elements(c);
  std::string text =
      fmt::format("<article>\n<h3>{} {}</h3>\n<p class=\"note\">{} · {}</p>\n", markup(output_name(item, with_method)),
                  badge(c.pass ? "good" : "bad", c.pass ? "pass" : "fail"), markup(counts_note(c.metrics)),
                  markup(tolerance_text(c.tolerance)));
  if (item.quanta) {
    text += fmt::format("<p class=\"note\">{}</p>\n", markup(quanta_text(*item.quanta)));
  }
  if (!c.pass && !c.reason.empty()) text += fmt::format("<p class=\"reason\">{}</p>\n", markup(c.reason));
  if (!body.empty()) text += "<div class=\"pair\">\n" + body + "</div>\n";
  return text + "</article>\n";
}

}  // namespace

std::string comparisons_section(const RunReport& report) {
  bool several = false;
  bool ulp = false;
  bool argmax = false;
  for (const ComparisonReport& item : report.comparisons) {
    several = several || item.method != report.comparisons.front().method;
    ulp = ulp || item.comparison.metrics.max_ulp.has_value();
    argmax = argmax || item.comparison.metrics.argmax_agree.has_value();
  }
  std::vector<std::string> columns = {"output",   "verdict", ">max abs", ">mean abs",
                                      ">max rel", ">RMSE",   ">cosine",  ">SNR, dB"};
  if (ulp) columns.emplace_back(">max ULP");
  if (argmax) columns.emplace_back(">argmax agrees");
  Table table(std::move(columns));
  std::string articles;
  std::vector<std::string> references;
  for (const ComparisonReport& item : report.comparisons) {
    const compare::Metrics& m = item.comparison.metrics;
    std::vector<std::string> row = {
        markup(output_name(item, several)),
        badge(item.comparison.pass ? "good" : "bad", item.comparison.pass ? "pass" : "fail"),
        metric_text(m.max_abs),
        metric_text(m.mean_abs),
        metric_text(m.max_rel),
        metric_text(m.rmse),
        fmt::format("{:.6f}", m.cosine),
        metric_text(m.snr_db)};
    // There was nothing to compare with.
    if (!item.comparison.pass && m.elements == 0) std::fill(row.begin() + 2, row.end(), "–");
    if (ulp) row.push_back(m.max_ulp ? metric_text(*m.max_ulp) : "");
    if (argmax) row.push_back(m.argmax_agree ? fmt::format("{:.4g} %", *m.argmax_agree * 100) : "");
    table.add(std::move(row));
    articles += one_output(item, several);
    const std::string reference = reference_text(item);
    if (std::ranges::find(references, reference) == references.end()) references.push_back(reference);
  }
  std::string lead;
  for (const std::string& reference : references)
    lead += (lead.empty() ? "Against " : ", ") + reference;
  return section("Comparison", lead, table.empty() ? "" : table.to_string() + articles);
}

std::string outputs_section(const RunReport& report) {
  Table table({"output", "type", ">min", ">max", ">mean", ">stddev", ">NaN", ">inf"});
  const bool several = report.methods.size() > 1;
  for (const OutputReport& output : report.outputs) {
    const std::string name =
        several ? fmt::format("{} · {}", output.method, output.index) : std::to_string(output.index);
    const std::string type = output.value.empty() ? output.dtype + shape_text(output.shape) : output.value;
    if (!output.stats) {
      table.add({markup(name), markup(type), "", "", "", "", "", ""});
      continue;
    }
    const TensorStats& s = *output.stats;
    table.add({markup(name), markup(type), metric_text(s.min), metric_text(s.max), metric_text(s.mean),
               metric_text(s.stddev), std::to_string(s.nan), std::to_string(s.inf)});
  }
  std::string accuracy;
  for (const AccuracyReport& item : report.accuracy) {
    const double share =
        item.total == 0 ? 0 : 100.0 * static_cast<double>(item.correct) / static_cast<double>(item.total);
    accuracy += fmt::format("<p>Accuracy of output {}: <strong>{:.2f} %</strong>, {} of {} labels in {}</p>\n",
                            item.output, share, item.correct, item.total, markup(item.labels));
  }
  return section("Outputs", "", table.to_string() + accuracy);
}

}  // namespace pterun::report::html
