// Columns by name, filled row by row.
#include "report/formats/csv.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/formats/escape.h"
#include "report/formats/wording.h"

namespace pterun::report {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

template <typename T>
std::string whole(const T& value) {
  return fmt::format("{}", value);
}

std::string optional_number(const std::optional<double>& value) {
  return value ? number(*value) : "";
}

std::string optional_whole(const std::optional<std::int64_t>& value) {
  return value ? whole(*value) : "";
}

// The columns are those of all rows, in the order in which they first appear.
class CsvTable {
 public:
  void begin_row() { rows_.emplace_back(); }
  void set(const std::string& column, std::string value) {
    const auto found = std::ranges::find(columns_, column);
    const auto index = static_cast<std::size_t>(found - columns_.begin());
    if (found == columns_.end()) columns_.push_back(column);
    std::vector<std::string>& row = rows_.back();
    if (row.size() <= index) row.resize(index + 1);
    row[index] = std::move(value);
  }
  std::string to_string() const {
    std::string text = line(columns_);
    for (const auto& row : rows_)
      text += line(row);
    return text;
  }

 private:
  std::string line(const std::vector<std::string>& fields) const {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) text += ',';
      if (i < fields.size()) text += csv_field(fields[i]);
    }
    return text + "\n";
  }

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

void set_common(const RunReport& report, CsvTable& table) {
  table.set("kind", std::string(kind_name(report.kind)));
  table.set("status", std::string(status_name(report.status)));
  table.set("exit_code", whole(report.exit_code));
  table.set("error", report.error ? std::string(error_code_name(report.error->code)) : "");
}

void set_model(const RunReport& report, CsvTable& table) {
  const auto model = std::ranges::find(report.manifest.files, "model", &FileIdentity::role);
  table.set("model", model == report.manifest.files.end() ? "" : model->path);
}

void set_times(const RunReport& report, CsvTable& table) {
  const TimingSummary s = steady_summary(report.timing);
  const bool any = s.runs > 0;
  table.set("load_ns", whole(report.timing.load_ns));
  table.set("first_ns", whole(report.timing.first_ns));
  table.set("runs", whole(s.runs));
  table.set("min_ns", any ? whole(s.min_ns) : "");
  table.set("p50_ns", optional_whole(s.p50_ns));
  table.set("p90_ns", optional_whole(s.p90_ns));
  table.set("p99_ns", optional_whole(s.p99_ns));
  table.set("mean_ns", any ? number(s.mean_ns) : "");
  table.set("stddev_ns", any ? number(s.stddev_ns) : "");
  const auto peak = report.memory.find("peak_rss_bytes");
  table.set("peak_rss_bytes", peak == report.memory.end() ? "" : whole(peak->second));
}

void set_output(const OutputReport& output, CsvTable& table) {
  table.set("name", output.name);
  table.set("dtype", output.dtype);
  table.set("shape", output.value.empty() ? shape_text(output.shape) : "");
  table.set("value", output.value);
  table.set("sha256", output.sha256);
  if (!output.stats) return;
  table.set("min", number(output.stats->min));
  table.set("max", number(output.stats->max));
  table.set("mean", number(output.stats->mean));
  table.set("stddev", number(output.stats->stddev));
  table.set("nan", whole(output.stats->nan));
  table.set("inf", whole(output.stats->inf));
}

void set_comparison(const ComparisonReport& item, CsvTable& table) {
  const compare::Metrics& m = item.comparison.metrics;
  if (!item.name.empty()) table.set("name", item.name);
  table.set("reference", item.reference);
  table.set("pass", item.comparison.pass ? "true" : "false");
  table.set("reason", item.comparison.reason);
  table.set("tolerance", tolerance_text(item.comparison.tolerance));
  table.set("elements", whole(m.elements));
  table.set("max_abs", number(m.max_abs));
  table.set("mean_abs", number(m.mean_abs));
  table.set("max_rel", number(m.max_rel));
  table.set("mean_rel", number(m.mean_rel));
  table.set("rmse", number(m.rmse));
  table.set("cosine", number(m.cosine));
  table.set("snr_db", number(m.snr_db));
  table.set("max_ulp", optional_number(m.max_ulp));
  table.set("mismatches", whole(m.mismatches));
  table.set("argmax_agree", optional_number(m.argmax_agree));
  table.set("reference_kind", item.reference_kind);
  table.set("max_quanta", item.quanta ? number(item.quanta->max_abs) : "");
}

// Outputs and comparisons of the same step and output share a row; each may lack the other.
void add_output_rows(const RunReport& report, CsvTable& table) {
  struct Row {
    std::size_t step;
    std::size_t output;
    std::string method;
    const OutputReport* value;
    const ComparisonReport* comparison;
  };
  std::vector<Row> rows;
  for (const OutputReport& output : report.outputs)
    rows.push_back({output.step, output.index, output.method, &output, nullptr});
  for (const ComparisonReport& item : report.comparisons) {
    const auto same = std::ranges::find_if(rows, [&](const Row& row) {
      return row.step == item.step && row.output == item.output && row.comparison == nullptr;
    });
    if (same != rows.end()) {
      same->comparison = &item;
    } else {
      rows.push_back({item.step, item.output, item.method, nullptr, &item});
    }
  }
  if (rows.empty()) rows.push_back({0, 0, "", nullptr, nullptr});
  for (const Row& row : rows) {
    const bool any = row.value != nullptr || row.comparison != nullptr;
    table.begin_row();
    set_common(report, table);
    set_model(report, table);
    table.set("step", any ? whole(row.step) : "");
    table.set("method", row.method);
    table.set("output", any ? whole(row.output) : "");
    if (row.value != nullptr) set_output(*row.value, table);
    if (row.comparison != nullptr) set_comparison(*row.comparison, table);
    set_times(report, table);
  }
}

void set_cell(const RunReport& report, const CellReport& cell, CsvTable& table) {
  table.begin_row();
  set_common(report, table);
  table.set("cell", cell.name);
  table.set("model", cell.model);
  table.set("baseline", cell.is_baseline ? "true" : "false");
  for (const auto& [name, value] : cell.axes)
    table.set(name, value);
  for (const CellOption& option : cell.options) {
    table.set(fmt::format("{}.{} {} evidence", option.backend, option.key, option.path),
              std::string(evidence_name(option.evidence)));
  }
}

void set_process(const ProcessReport& process, CsvTable& table) {
  const bench::Statistics& s = process.steady;
  table.set("block", whole(process.block));
  table.set("load_ns", whole(process.load_ns));
  table.set("first_ns", whole(process.first_ns));
  table.set("warmup_runs", whole(process.warmup_runs));
  table.set("runs", whole(s.runs));
  table.set("min_ns", whole(s.min_ns));
  table.set("p50_ns", optional_whole(s.p50.value_ns));
  table.set("p90_ns", optional_whole(s.p90.value_ns));
  table.set("p99_ns", optional_whole(s.p99.value_ns));
  table.set("max_ns", whole(s.max_ns));
  table.set("mean_ns", number(s.mean_ns));
  table.set("stddev_ns", number(s.stddev_ns));
  table.set("mad_ns", number(s.mad_ns));
  table.set("p50_low_ns", s.median_ci ? number(s.median_ci->low) : "");
  table.set("p50_high_ns", s.median_ci ? number(s.median_ci->high) : "");
  table.set("outliers", whole(s.outliers));
  table.set("drift", number(s.drift.relative));
  for (const auto& [name, bytes] : process.memory)
    table.set(name, whole(bytes));
}

void set_verdict(const CellReport& cell, CsvTable& table) {
  table.set("outputs", outputs_text(cell));
  if (!cell.comparison) return;
  const bench::RatioTest& test = cell.comparison->test;
  table.set("ratio", number(test.ratio));
  table.set("ratio_low", test.interval ? number(test.interval->low) : "");
  table.set("ratio_high", test.interval ? number(test.interval->high) : "");
  table.set("verdict", std::string(bench::verdict_name(cell.comparison->judgement.verdict)));
}

void add_cell_rows(const RunReport& report, CsvTable& table) {
  for (const CellReport& cell : report.bench->cells) {
    for (const ProcessReport& process : cell.processes) {
      set_cell(report, cell, table);
      set_process(process, table);
      set_verdict(cell, table);
    }
    for (const CellFailure& failure : cell.failures) {
      set_cell(report, cell, table);
      table.set("failure", failure.code + ": " + failure.message);
    }
  }
}

}  // namespace

std::string to_csv(const RunReport& report) {
  CsvTable table;
  if (report.bench) {
    add_cell_rows(report, table);
  } else {
    add_output_rows(report, table);
  }
  return table.to_string();
}

}  // namespace pterun::report
