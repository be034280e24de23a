// Building blocks.
#include "report/formats/html/parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace pterun::report::html {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

Scale choose(std::span<const double> values, std::span<const Unit> units) {
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  Unit best = units.front();
  for (const Unit& unit : units) {
    if (largest >= unit.size) best = unit;
  }
  const double shown = largest / best.size;
  return {best.size, best.name, best.size == 1 || shown >= 100 ? 0 : shown >= 10 ? 1 : 2};
}

constexpr double kWide = 1000;  // of the view box; the height is 100

}  // namespace

std::string Scale::number(double value) const {
  if (!std::isfinite(value)) return metric_text(value);
  return fmt::format("{:.{}f}", value / unit, digits);
}

std::string Scale::with_unit(double value) const {
  return fmt::format("{} {}", number(value), name);
}

Scale duration_scale(std::span<const double> values_ns) {
  static constexpr std::array<Unit, 4> kUnits = {{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  return choose(values_ns, kUnits);
}

std::string duration(double elapsed_ns) {
  return duration_scale(std::span(&elapsed_ns, 1)).with_unit(elapsed_ns);
}

std::string cell_label(std::string_view name) {
  std::string label;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find(' ', begin), name.size());
    std::string word(name.substr(begin, end - begin));
    const std::size_t equals = word.find('=');
    const std::size_t dot = equals == std::string::npos ? equals : word.rfind('.', equals);
    if (dot != std::string::npos) word = word.substr(dot + 1);
    label += (label.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return label;
}

Scale size_scale(std::span<const double> values_bytes) {
  static constexpr std::array<Unit, 4> kUnits = {
      {{1, "B"}, {1024, "KiB"}, {1024.0 * 1024, "MiB"}, {1024.0 * 1024 * 1024, "GiB"}}};
  return choose(values_bytes, kUnits);
}

std::string section(std::string_view title, std::string_view lead, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<section>\n<h2>{}</h2>\n{}{}</section>\n", markup(title),
                     lead.empty() ? "" : fmt::format("<p class=\"lead\">{}</p>\n", markup(lead)), body);
}

std::string details(std::string_view summary, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", markup(summary), body);
}

std::string badge(std::string_view kind, std::string_view text) {
  return fmt::format("<span class=\"badge {}\">{}</span>", kind, markup(text));
}

std::string_view badge_kind(bench::Verdict verdict) {
  switch (verdict) {
    case bench::Verdict::kFaster: return "good";
    case bench::Verdict::kSlower: return "bad";
    case bench::Verdict::kEquivalent: return "calm";
    case bench::Verdict::kInconclusive: return "mild";
  }
  return "mild";
}

std::string Table::to_string() const {
  if (rows_.empty()) return "";
  std::string text = "<div class=\"scroll\"><table>\n<thead><tr>";
  const auto is_number = [this](std::size_t i) { return i < columns_.size() && columns_[i].starts_with('>'); };
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    text += fmt::format("<th{}>{}</th>", is_number(i) ? " class=\"n\"" : "",
                        markup(std::string_view(columns_[i]).substr(is_number(i) ? 1 : 0)));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows_) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += fmt::format("<td{}>{}</td>", is_number(i) ? " class=\"n\"" : "", row[i]);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::vector<double> ticks(const Range& range, std::size_t most) {
  const double width = range.high - range.low;
  if (!(width > 0) || most == 0) return {range.low};
  const double rough = width / static_cast<double>(most);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= rough) break;
  }
  std::vector<double> places;
  for (double i = std::ceil(range.low / step); i * step <= range.high && places.size() <= most; i += 1)
    places.push_back(i * step);
  return places;
}

double Plot::across(double x) const {
  return std::clamp(x_.share(x), 0.0, 1.0) * kWide;
}

double Plot::down(double y) const {
  return 100 - std::clamp(y_.share(y), 0.0, 1.0) * 100;
}

void Plot::line(double x1, double y1, double x2, double y2, std::string_view style) {
  shapes_ += fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", style, across(x1),
                         down(y1), across(x2), down(y2));
}

void Plot::box(double x1, double y1, double x2, double y2, std::string_view style, std::string_view title) {
  shapes_ += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}")", style, across(x1),
                         down(y2), across(x2) - across(x1), down(y1) - down(y2));
  shapes_ += title.empty() ? "/>" : fmt::format("><title>{}</title></rect>", markup(title));
}

// A line without length: its round ends stay round when the picture is stretched.
void Plot::dot(double x, double y, std::string_view style, std::string_view title) {
  shapes_ += fmt::format(R"(<path class="dot {}" d="M{:.1f} {:.1f}h0")", style, across(x), down(y));
  shapes_ += title.empty() ? "/>" : fmt::format("><title>{}</title></path>", markup(title));
}

void Plot::dots(std::span<const std::pair<double, double>> points, std::string_view style) {
  std::string way;
  for (const auto& [x, y] : points)
    way += fmt::format("M{:.1f} {:.1f}h0", across(x), down(y));
  if (!way.empty()) shapes_ += fmt::format(R"(<path class="dot {}" d="{}"/>)", style, way);
}

void Plot::path(std::span<const std::pair<double, double>> points, std::string_view style) {
  std::string way;
  for (const auto& [x, y] : points)
    way += fmt::format("{}{:.1f} {:.1f}", way.empty() ? "M" : "L", across(x), down(y));
  if (!way.empty()) shapes_ += fmt::format(R"(<path class="{}" d="{}"/>)", style, way);
}

std::string Plot::to_string(std::string_view style, std::string_view label) const {
  return fmt::format(
      "<svg class=\"plot {}\" viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">{}</svg>\n",
      style, kWide, markup(label), shapes_);
}

std::string x_axis(const Range& range, const std::vector<Mark>& marks) {
  std::string text = "<div class=\"x-axis\" aria-hidden=\"true\">";
  for (const Mark& mark : marks) {
    const double share = std::clamp(range.share(mark.at), 0.0, 1.0);
    // Words at the ends stay inside.
    const std::string_view side = share < 0.04 ? " first" : share > 0.96 ? " last" : "";
    text +=
        fmt::format("<span class=\"tick{}\" style=\"left:{:.2f}%\">{}</span>", side, share * 100, markup(mark.text));
  }
  return text + "</div>\n";
}

std::string with_y_axis(const Range& range, const std::vector<Mark>& marks, const std::string& plot) {
  std::string text = "<div class=\"framed\"><div class=\"y-axis\" aria-hidden=\"true\">";
  std::size_t widest = 0;
  for (const Mark& mark : marks) {
    widest = std::max(widest, mark.text.size());
    text += fmt::format("<span style=\"bottom:{:.2f}%\">{}</span>", std::clamp(range.share(mark.at), 0.0, 1.0) * 100,
                        markup(mark.text));
  }
  // The words are placed absolutely; this one, which is not seen, gives the column its width.
  return text + fmt::format("<b>{}</b></div>{}</div>\n", std::string(widest, '0'), plot);
}

std::vector<double> to_doubles(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}

}  // namespace pterun::report::html
