// The page: head, figures, memory, program, manifest, and the order of the sections.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/formats/html.h"
#include "report/formats/html/parts.h"
#include "report/formats/html/sections.h"

namespace pterun::report {
namespace html {
namespace {

struct Tile {
  std::string name;
  std::string value;
  std::string unit;
  std::string note;
};

Tile time_tile(std::string name, double elapsed_ns, std::string note) {
  const Scale scale = duration_scale(std::vector<double>{elapsed_ns});
  return {std::move(name), scale.number(elapsed_ns), std::string(scale.name), std::move(note)};
}

Tile size_tile(std::string name, double size_bytes, std::string note) {
  const Scale scale = size_scale(std::vector<double>{size_bytes});
  return {std::move(name), scale.number(size_bytes), std::string(scale.name), std::move(note)};
}

// Of a sweep the fastest cell, of one cell its figures.
std::vector<Tile> bench_tiles(const BenchReport& bench) {
  using bench::GateMetric;
  const CellReport* best = nullptr;
  for (const CellReport& cell : bench.cells) {
    const auto& p50 = metric_of(cell, GateMetric::kP50);
    if (p50 && (best == nullptr || *p50 < *metric_of(*best, GateMetric::kP50))) best = &cell;
  }
  std::vector<Tile> tiles;
  if (best == nullptr) return tiles;
  const bool sweep = bench.cells.size() > 1;
  std::string note = sweep ? cell_label(best->name) : "";
  if (!sweep && best->processes.size() == 1) {
    const bench::Statistics& s = best->processes.front().steady;
    note = plural(s.runs, "run");
    if (s.median_ci && s.p50.value_ns) {
      const auto p50 = static_cast<double>(*s.p50.value_ns);
      note +=
          fmt::format(", −{:.1f} % +{:.1f} %", (1 - s.median_ci->low / p50) * 100, (s.median_ci->high / p50 - 1) * 100);
    }
  }
  tiles.push_back(time_tile(sweep ? "fastest cell, p50" : "steady, p50", *metric_of(*best, GateMetric::kP50), note));
  if (const auto& load = metric_of(*best, GateMetric::kLoad)) tiles.push_back(time_tile("load", *load, ""));
  if (const auto& first = metric_of(*best, GateMetric::kFirst))
    tiles.push_back(time_tile("first execution", *first, ""));
  if (const auto& peak = metric_of(*best, GateMetric::kPeakRss)) tiles.push_back(size_tile("peak memory", *peak, ""));
  return tiles;
}

std::vector<Tile> run_tiles(const RunReport& report) {
  std::vector<Tile> tiles;
  if (!report.comparisons.empty()) {
    const auto passed =
        std::ranges::count_if(report.comparisons, [](const ComparisonReport& item) { return item.comparison.pass; });
    tiles.push_back(
        {"outputs that agree", std::to_string(passed), fmt::format("of {}", report.comparisons.size()), ""});
  }
  const TimingSummary s = steady_summary(report.timing);
  if (report.timing.load_ns > 0) tiles.push_back(time_tile("load", static_cast<double>(report.timing.load_ns), ""));
  if (report.timing.first_ns > 0)
    tiles.push_back(time_tile("first execution", static_cast<double>(report.timing.first_ns), ""));
  if (s.p50_ns) tiles.push_back(time_tile("steady, p50", static_cast<double>(*s.p50_ns), plural(s.runs, "run")));
  const auto peak = report.memory.find("peak_rss_bytes");
  if (peak != report.memory.end()) tiles.push_back(size_tile("peak memory", static_cast<double>(peak->second), ""));
  return tiles;
}

std::string tiles_html(const std::vector<Tile>& tiles) {
  if (tiles.empty()) return "";
  std::string text = "<dl class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    text += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd>{}</div>\n", markup(tile.name), markup(tile.value),
                        markup(tile.unit),
                        tile.note.empty() ? "" : fmt::format("<dd class=\"note\">{}</dd>", markup(tile.note)));
  }
  return text + "</dl>\n";
}

std::string error_box(const Error& error) {
  std::string text = fmt::format("<div class=\"error\" role=\"alert\"><p><code>{}</code> {}</p>\n",
                                 error_code_name(error.code), markup(error.message));
  for (const auto& [kind, place] : error.where)
    text += fmt::format("<p class=\"note\">{}: {}</p>\n", markup(kind), markup(place));
  if (!error.hint.empty()) text += fmt::format("<p>{}</p>\n", markup(error.hint));
  return text + "</div>\n";
}

std::string warnings_box(const std::vector<Warning>& warnings) {
  std::string text;
  for (const Warning& warning : warnings) {
    text +=
        fmt::format("<li><code>{}</code> {}{}</li>\n", markup(warning.code), markup(warning.message),
                    warning.hint.empty() ? "" : fmt::format(" <span class=\"note\">{}</span>", markup(warning.hint)));
  }
  return text.empty() ? "" : "<ul class=\"warnings\">\n" + text + "</ul>\n";
}

std::string subject(const RunReport& report) {
  for (const FileIdentity& file : report.manifest.files) {
    if (file.role == "model" || file.role == "outputs") return file.path.substr(file.path.rfind('/') + 1);
  }
  if (report.bench && !report.bench->cells.empty()) {
    const std::string& model = report.bench->cells.front().model;
    return model.substr(model.rfind('/') + 1);
  }
  return "pterun " + std::string(kind_name(report.kind));
}

}  // namespace

std::string head_section(const RunReport& report) {
  const std::string_view kind = report.status == Status::kPass ? "good" : "bad";
  const std::string result = result_text(report);
  const std::string_view word = result_word(report.status);
  std::string rest = result.substr(word.size());
  if (rest.starts_with(" (")) rest = rest.substr(2, rest.size() - 3);
  std::vector<std::string> facts;
  std::string when = report.manifest.started_at;
  std::ranges::replace(when, 'T', ' ');
  if (when.ends_with('Z')) when.replace(when.size() - 1, 1, " UTC");
  if (!when.empty()) facts.push_back(when);
  if (report.manifest.threads > 0) facts.push_back(plural(report.manifest.threads, "thread"));
  for (const auto& [name, value] : report.manifest.host) {
    if (name == "cpu") facts.push_back(value);
  }
  for (const auto& [name, value] : report.manifest.versions) {
    if (name == "pterun") facts.push_back("pterun " + value);
  }
  std::string line;
  for (const std::string& fact : facts)
    line += (line.empty() ? "" : " · ") + markup(fact);
  std::string text = fmt::format(
      "<header>\n<p class=\"kind\">pterun {}</p>\n<h1>{}</h1>\n<p class=\"verdict {}\"><b>{}</b> "
      "{}</p>\n<p class=\"note\">{}</p>\n</header>\n",
      kind_name(report.kind), markup(subject(report)), kind, word, markup(rest), line);
  text += tiles_html(report.bench ? bench_tiles(*report.bench) : run_tiles(report));
  if (report.error) text += error_box(*report.error);
  return text + warnings_box(report.warnings);
}

namespace {

// WHAT_PHASE_bytes is the memory of a phase; what has another name belongs to none.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPhases = {
    {{"before_load", "before loading"},
     {"after_load", "after loading"},
     {"after_first", "after the first execution"},
     {"steady", "steady"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPurposes = {{{"peak_rss", "peak so far"},
                                                                                     {"planned", "planned"},
                                                                                     {"workspace", "workspaces"},
                                                                                     {"packed", "packed weights"},
                                                                                     {"mapped", "mapped weights"}}};

std::string memory_rows(const std::vector<std::pair<std::string, double>>& rows, std::string_view caption) {
  double most = 0;
  std::vector<double> sizes;
  for (const auto& [name, size] : rows) {
    most = std::max(most, size);
    sizes.push_back(size);
  }
  if (rows.empty()) return "";
  const Scale scale = size_scale(sizes);
  std::string text = fmt::format("<figure><figcaption>{}</figcaption>\n<div class=\"rows bars\">\n", markup(caption));
  for (const auto& [name, size] : rows) {
    text += fmt::format(
        "<div class=\"row\"><span class=\"name\">{}</span><span class=\"figure\">{}</span>"
        "<span class=\"meter\"><i style=\"width:{:.1f}%\"></i></span></div>\n",
        markup(name), scale.with_unit(size), most > 0 ? size / most * 100 : 0);
  }
  return text + "</div></figure>\n";
}

// What else is known of each phase: a table, or "" where there is nothing.
std::string phase_table(std::map<std::string, std::int64_t>& memory) {
  std::vector<std::string> columns = {"phase"};
  for (const auto& [what, label] : kPurposes)
    columns.push_back(">" + std::string(label));
  Table table(std::move(columns));
  for (const auto& [phase, label] : kPhases) {
    std::vector<std::string> row = {std::string(label)};
    bool any = false;
    for (const auto& [what, title] : kPurposes) {
      const auto entry = memory.extract(fmt::format("{}_{}_bytes", what, phase));
      any = any || !entry.empty();
      row.push_back(entry.empty() ? "" : size_text(static_cast<double>(entry.mapped())));
    }
    if (any) table.add(std::move(row));
  }
  return table.to_string();
}

std::string memory_of(std::map<std::string, std::int64_t> memory) {
  std::vector<std::pair<std::string, double>> resident;
  for (const auto& [phase, label] : kPhases) {
    const auto entry = memory.extract(fmt::format("rss_{}_bytes", phase));
    if (!entry.empty()) resident.emplace_back(label, static_cast<double>(entry.mapped()));
  }
  if (const auto peak = memory.extract("peak_rss_bytes"); !peak.empty()) {
    resident.emplace_back("peak", static_cast<double>(peak.mapped()));
  }
  const std::string table = phase_table(memory);
  std::vector<std::pair<std::string, double>> others;
  for (const auto& [name, bytes] : memory)
    others.emplace_back(memory_label(name), static_cast<double>(bytes));
  return memory_rows(resident, "Resident memory of the process") + table + memory_rows(others, "By purpose");
}

// The median over the processes of each figure.
std::map<std::string, std::int64_t> cell_memory(const CellReport& cell) {
  std::map<std::string, std::vector<double>> values;
  for (const ProcessReport& process : cell.processes) {
    for (const auto& [name, bytes] : process.memory)
      values[name].push_back(static_cast<double>(bytes));
  }
  std::map<std::string, std::int64_t> memory;
  for (auto& [name, sizes] : values)
    memory[name] = static_cast<std::int64_t>(bench::median(std::move(sizes)));
  return memory;
}

}  // namespace

std::string memory_section(const RunReport& report) {
  if (!report.bench) return section("Memory", "", memory_of(report.memory));
  const BenchReport& bench = *report.bench;
  if (bench.cells.size() == 1) return section("Memory", "", memory_of(cell_memory(bench.cells.front())));
  std::vector<std::pair<std::string, double>> peaks;
  std::string cells;
  for (const CellReport& cell : bench.cells) {
    if (const auto& peak = metric_of(cell, bench::GateMetric::kPeakRss))
      peaks.emplace_back(cell_label(cell.name), *peak);
    cells += details(cell_label(cell.name), memory_of(cell_memory(cell)));
  }
  return section("Memory", "", memory_rows(peaks, "Peak resident memory, medians over processes") + cells);
}

std::string program_section(const RunReport& report) {
  Table inputs({"method", ">input", "type", "source"});
  Table methods({"method", ">delegates", ">delegate calls", ">operator calls", ">planned memory"});
  for (const MethodReport& method : report.methods) {
    double planned = 0;
    for (const std::uint64_t bytes : method.planned_bytes)
      planned += static_cast<double>(bytes);
    methods.add({markup(method.name), std::to_string(method.delegates), std::to_string(method.delegate_calls),
                 std::to_string(method.kernel_calls), size_text(planned)});
    for (std::size_t i = 0; i < method.inputs.size(); ++i) {
      const IoReport& input = method.inputs[i];
      inputs.add({markup(method.name), std::to_string(i),
                  markup(input.kind == "tensor" ? input.dtype + shape_text(input.shape) : input.description),
                  markup(input.source)});
    }
  }
  Table delegates({"method", ">delegate", "backend", ">payload", ">init", ">calls", "metrics"});
  for (const DelegateReport& delegate : report.load.delegates) {
    std::string metrics;
    for (const auto& [name, value] : delegate.metrics) {
      metrics += fmt::format("{}{} {}", metrics.empty() ? "" : ", ", memory_label(name),
                             name.ends_with("_bytes") ? size_text(static_cast<double>(value)) : std::to_string(value));
    }
    delegates.add({markup(delegate.method), std::to_string(delegate.index), markup(delegate.backend),
                   size_text(static_cast<double>(delegate.payload_bytes)),
                   duration(static_cast<double>(delegate.init_ns)), std::to_string(delegate.calls), markup(metrics)});
  }
  return section("Program", "",
                 methods.to_string() + inputs.to_string() +
                     details(plural(report.load.delegates.size(), "delegate"), delegates.to_string()));
}

namespace {

// Indented, keys sorted: the same before and after the report was saved.
std::string config_text(const std::string& config_json) {
  const auto config = nlohmann::json::parse(config_json, nullptr, false);
  if (config.is_discarded()) return "";
  const std::string text = config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += markup(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return "<pre>" + lines + "</pre>\n";
}

}  // namespace

std::string manifest_section(const RunReport& report) {
  const Manifest& manifest = report.manifest;
  std::string body;
  if (!manifest.argv.empty()) {
    body += fmt::format("<p class=\"lead\">This command reproduces it:</p>\n<pre class=\"command\">{}</pre>\n",
                        markup(command_text(manifest)));
  }
  Table files({"file", "role", ">size", "SHA-256"});
  for (const FileIdentity& file : manifest.files) {
    files.add({fmt::format("<code>{}</code>", markup(file.path)), markup(file.role),
               file.bytes == 0 ? "" : size_text(static_cast<double>(file.bytes)),
               fmt::format("<code class=\"hash\">{}</code>", markup(file.sha256))});
  }
  body += files.to_string();
  Table facts({"made with", ""});
  for (const auto& [name, value] : manifest.versions)
    facts.add({markup(memory_label(name)), markup(value)});
  for (const auto& [name, value] : manifest.host)
    facts.add({markup(memory_label(name)), markup(value)});
  if (!manifest.verification.empty()) facts.add({"verification", markup(manifest.verification)});
  facts.add({"seed", std::to_string(manifest.seed)});
  body += facts.to_string();
  Table shadowed({"setting", "value", "from", "lost against"});
  for (const ShadowedSetting& setting : manifest.shadowed) {
    shadowed.add({fmt::format("<code>{}</code>", markup(setting.setting)), markup(setting.value_json),
                  markup(setting.source), markup(setting.shadowed_by)});
  }
  body += details(plural(manifest.shadowed.size(), "shadowed setting"), shadowed.to_string());
  if (!manifest.resolved_config_json.empty()) {
    body += details("Resolved config", config_text(manifest.resolved_config_json));
  }
  return section("Manifest", "", body);
}

}  // namespace html

std::string to_html(const RunReport& report) {
  const std::string title =
      fmt::format("{} – pterun {} of {}", result_word(report.status), kind_name(report.kind), html::subject(report));
  std::string body = html::head_section(report) + html::options_section(report) + html::node_section(report) +
                     html::comparisons_section(report) + html::diverge_section(report) + html::gates_section(report) +
                     html::sweep_section(report) + html::latency_section(report) + html::profile_section(report) +
                     html::memory_section(report) + html::outputs_section(report) + html::program_section(report) +
                     html::manifest_section(report);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         markup(title) + "</title>\n<style>\n" + html::style_sheet() + "</style>\n</head>\n<body>\n<main>\n" + body +
         "</main>\n</body>\n</html>\n";
}

}  // namespace pterun::report
