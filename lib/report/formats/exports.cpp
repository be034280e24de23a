// Both exports work on the same list of benchmarks.
#include "report/formats/exports.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "report/formats/wording.h"

namespace pterun::report {
namespace {

// Keys in the order in which the other tools write them.
using json = nlohmann::ordered_json;

struct Repetition {
  std::size_t runs = 0;
  double mean_ns = 0;
  std::vector<std::int64_t> samples_ns;
};

struct Benchmark {
  std::string name;
  std::string command;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<Repetition> repetitions;
};

std::vector<Benchmark> benchmarks_of(const RunReport& report) {
  const std::string command = command_text(report.manifest);
  if (!report.bench) {
    const TimingSummary s = steady_summary(report.timing);
    if (s.runs == 0) return {};
    return {
        {"pterun " + std::string(kind_name(report.kind)), command, {}, {{s.runs, s.mean_ns, report.timing.steady_ns}}}};
  }
  std::vector<Benchmark> list;
  for (const CellReport& cell : report.bench->cells) {
    Benchmark benchmark{cell.name, cell.command.empty() ? command : cell.command, cell.axes, {}};
    for (const ProcessReport& process : cell.processes)
      benchmark.repetitions.push_back({process.steady.runs, process.steady.mean_ns, process.samples_ns});
    if (!benchmark.repetitions.empty()) list.push_back(std::move(benchmark));
  }
  return list;
}

struct Figures {
  double mean = 0;
  double median = 0;
  double stddev = 0;  // n - 1; 0 for one value
};

Figures figures_of(const std::vector<double>& values) {
  Figures figures;
  const auto count = static_cast<double>(values.size());
  if (values.empty()) return figures;
  for (const double value : values)
    figures.mean += value / count;
  figures.median = bench::median(values);
  double squares = 0;
  for (const double value : values)
    squares += (value - figures.mean) * (value - figures.mean);
  if (values.size() > 1) figures.stddev = std::sqrt(squares / (count - 1));
  return figures;
}

std::string dump(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

const std::string* find_fact(const std::vector<std::pair<std::string, std::string>>& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, [](const auto& fact) { return fact.first; });
  return found == facts.end() ? nullptr : &found->second;
}

json context_json(const RunReport& report) {
  const std::string* build = find_fact(report.manifest.versions, "build_type");
  const std::string* version = find_fact(report.manifest.versions, "pterun");
  const std::string* processors = find_fact(report.manifest.host, "logical_processors");
  json context = {{"date", report.manifest.started_at}, {"host_name", ""}, {"executable", "pterun"}};
  context["num_cpus"] = processors == nullptr ? 0 : std::strtol(processors->c_str(), nullptr, 10);
  context["mhz_per_cpu"] = 0;
  context["cpu_scaling_enabled"] = false;
  context["caches"] = json::array();
  context["load_avg"] = json::array();
  context["library_version"] = version == nullptr ? "" : "pterun " + *version;
  context["library_build_type"] = build != nullptr && *build == "Debug" ? "debug" : "release";
  context["json_schema_version"] = 1;
  return context;
}

json entry_json(const Benchmark& benchmark, std::size_t family, std::size_t threads) {
  return {{"name", benchmark.name},     {"family_index", family},  {"per_family_instance_index", 0},
          {"run_name", benchmark.name}, {"run_type", "iteration"}, {"repetitions", benchmark.repetitions.size()},
          {"repetition_index", 0},      {"threads", threads},      {"iterations", 0},
          {"real_time", 0.0},           {"cpu_time", 0.0},         {"time_unit", "ns"}};
}

void add_aggregates(const Benchmark& benchmark, const json& entry, json& list) {
  std::vector<double> means;
  for (const Repetition& repetition : benchmark.repetitions)
    means.push_back(repetition.mean_ns);
  const Figures figures = figures_of(means);
  struct Aggregate {
    const char* name;
    const char* unit;
    double value;
  };
  const Aggregate aggregates[] = {{"mean", "time", figures.mean},
                                  {"median", "time", figures.median},
                                  {"stddev", "time", figures.stddev},
                                  {"cv", "percentage", figures.mean > 0 ? figures.stddev / figures.mean : 0}};
  for (const Aggregate& aggregate : aggregates) {
    json item = entry;
    item["name"] = benchmark.name + "_" + aggregate.name;
    item["run_type"] = "aggregate";
    item.erase("repetition_index");
    item["aggregate_name"] = aggregate.name;
    item["aggregate_unit"] = aggregate.unit;
    item["iterations"] = benchmark.repetitions.size();
    item["real_time"] = aggregate.value;
    item["cpu_time"] = aggregate.value;
    list.push_back(std::move(item));
  }
}

}  // namespace

std::string to_hyperfine(const RunReport& report) {
  json results = json::array();
  for (const Benchmark& benchmark : benchmarks_of(report)) {
    std::vector<double> times;
    for (const Repetition& repetition : benchmark.repetitions) {
      for (const std::int64_t sample : repetition.samples_ns)
        times.push_back(static_cast<double>(sample) / 1e9);
    }
    if (times.empty()) continue;
    const Figures figures = figures_of(times);
    json result = {{"command", benchmark.command}, {"mean", figures.mean}};
    result["stddev"] = times.size() > 1 ? json(figures.stddev) : json(nullptr);
    result["median"] = figures.median;
    result["user"] = nullptr;
    result["system"] = nullptr;
    result["min"] = *std::ranges::min_element(times);
    result["max"] = *std::ranges::max_element(times);
    result["exit_codes"] = std::vector<int>(times.size(), 0);
    result["times"] = std::move(times);
    if (!benchmark.parameters.empty()) {
      json parameters = json::object();
      for (const auto& [name, value] : benchmark.parameters)
        parameters[name] = value;
      result["parameters"] = std::move(parameters);
    }
    results.push_back(std::move(result));
  }
  return dump({{"results", std::move(results)}});
}

std::string to_google_benchmark(const RunReport& report) {
  json list = json::array();
  std::size_t family = 0;
  for (const Benchmark& benchmark : benchmarks_of(report)) {
    json entry = entry_json(benchmark, family++, std::max<std::size_t>(report.manifest.threads, 1));
    for (std::size_t i = 0; i < benchmark.repetitions.size(); ++i) {
      entry["repetition_index"] = i;
      entry["iterations"] = benchmark.repetitions[i].runs;
      entry["real_time"] = benchmark.repetitions[i].mean_ns;
      entry["cpu_time"] = benchmark.repetitions[i].mean_ns;
      list.push_back(entry);
    }
    if (benchmark.repetitions.size() > 1) add_aggregates(benchmark, entry, list);
  }
  return dump({{"context", context_json(report)}, {"benchmarks", std::move(list)}});
}

}  // namespace pterun::report
