// What the sections of the HTML page are built from: tables with aligned numbers, and plots whose shapes are SVG and
// whose words are HTML beside it, so that a plot can be stretched to any width without distorting text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats/escape.h"
#include "report/formats/wording.h"

namespace pterun::report::html {

// A unit for a column or an axis, so that its numbers can be compared by eye.
struct Scale {
  double unit = 1;        // in nanoseconds or bytes
  std::string_view name;  // "ms"
  int digits = 0;         // behind the point

  std::string number(double value) const;     // "1.25"
  std::string with_unit(double value) const;  // "1.25 ms"
};
// Units in which the largest value has one to three digits before the point, about three significant ones in all.
Scale duration_scale(std::span<const double> values_ns);
Scale size_scale(std::span<const double> values_bytes);
// One value in its own unit.
std::string duration(double elapsed_ns);
// "threads=1 workspace_sharing_mode=per_model": axes without the path in front of their names.
std::string cell_label(std::string_view name);

// <section> with a heading; "" when the body is empty. `lead` is one sentence under the heading, escaped here.
std::string section(std::string_view title, std::string_view lead, const std::string& body);
// <details> with a summary, which is escaped here; "" when the body is empty.
std::string details(std::string_view summary, const std::string& body);
// <span class="badge KIND">text</span>: "good", "bad", "calm", "mild".
std::string badge(std::string_view kind, std::string_view text);
std::string_view badge_kind(bench::Verdict verdict);

// Columns whose title starts with '>' hold numbers: right-aligned, equally wide digits. Titles are escaped here, cells
// are HTML already.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string to_string() const;  // "" without rows

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// An interval of an axis, mapped to 0..1.
struct Range {
  double low = 0;
  double high = 1;
  double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};
// Round numbers inside the range, at most `most` of them.
std::vector<double> ticks(const Range& range, std::size_t most);

// Shapes in the coordinates of two ranges; what lies outside is moved to the edge. Classes choose the colours.
class Plot {
 public:
  Plot(Range x, Range y) : x_(x), y_(y) {}
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void box(double x1, double y1, double x2, double y2, std::string_view style, std::string_view title = "");
  void dot(double x, double y, std::string_view style, std::string_view title = "");
  void dots(std::span<const std::pair<double, double>> points, std::string_view style);
  void path(std::span<const std::pair<double, double>> points, std::string_view style);
  // `label` says what the picture shows, for those who cannot see it.
  std::string to_string(std::string_view style, std::string_view label) const;

 private:
  double across(double x) const;
  double down(double y) const;

  Range x_;
  Range y_;
  std::string shapes_;
};

struct Mark {
  double at = 0;
  std::string text;
};
// Words below a plot, at places of its x range.
std::string x_axis(const Range& range, const std::vector<Mark>& marks);
// Words to the left of a plot; the result holds both, side by side.
std::string with_y_axis(const Range& range, const std::vector<Mark>& marks, const std::string& plot);

std::vector<double> to_doubles(std::span<const std::int64_t> values);

}  // namespace pterun::report::html
