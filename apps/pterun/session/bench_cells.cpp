// Multiplying out the matrix and rewriting the command line for each cell.
#include "pterun/session/bench_cells.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "base/log.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "config/settings.h"
#include "pterun/catalogue.h"
#include "pterun/session/option_session.h"

namespace pterun::app {
namespace {

constexpr std::string_view kLoad = "load_options.";
constexpr std::string_view kGlobal = "global_options.";

// Flags that belong to the sweep and not to one measurement of one cell.
constexpr std::array<std::string_view, 24> kSweepFlags = {"MODEL",
                                                          "--axis",
                                                          "--processes",
                                                          "--plan",
                                                          "--resume",
                                                          "--shard",
                                                          "--order-seed",
                                                          "--baseline",
                                                          "--fail-if",
                                                          "--margin",
                                                          "--json",
                                                          "--junit",
                                                          "--markdown",
                                                          "--csv",
                                                          "--html",
                                                          "--events",
                                                          "--export-hyperfine",
                                                          "--export-google-benchmark",
                                                          "--profile",
                                                          "--progress",
                                                          "--verbose",
                                                          "--save-outputs",
                                                          "--no-progress",
                                                          "--quiet"};

// What the config may say of the same, taken away by --set so that a cell's process does not sweep or write reports.
constexpr std::array<std::string_view, 10> kSweepSettings = {
    "matrix",      "output",         "bench.processes", "bench.profile", "bench.resume",
    "bench.shard", "bench.baseline", "bench.fail_if",   "bench.plan",    "bench.order_seed"};

struct AxisFlag {
  std::string flag;    // "--threads", "--load-option"
  std::string label;   // "threads", "XnnpackBackend.workspace_sharing_mode", "global:XnnpackBackend.x"
  std::string option;  // "XnnpackBackend.workspace_sharing_mode"; empty for threads
};

Result<AxisFlag> axis_flag(const config::AxisPlan& axis) {
  if (axis.name == "threads") return AxisFlag{"--threads", "threads", ""};
  if (axis.name.starts_with(kLoad)) {
    const std::string option = axis.name.substr(kLoad.size());
    return AxisFlag{"--load-option", option, option};
  }
  if (axis.name.starts_with(kGlobal)) {
    const std::string option = axis.name.substr(kGlobal.size());
    return AxisFlag{"--global-option", "global:" + option, option};
  }
  return fail(make_error(ErrorCode::kUsage, fmt::format("the axis '{}': expected threads, BACKEND.KEY, "
                                                        "load_options.BACKEND.KEY or global_options.BACKEND.KEY",
                                                        axis.name))
                  .at("source", axis.origin.describe()));
}

// A flag that fixes what an axis varies is a mistake; the config's value is a default and gives way.
Result<void> check_clash(const AxisFlag& axis, const Invocation& invocation) {
  for (const config::FlagValue& value : invocation.flags) {
    if (value.flag != axis.flag) continue;
    const std::string name = value.text.substr(0, value.text.find_first_of(":="));
    if (!axis.option.empty() && name != axis.option) continue;
    return fail(ErrorCode::kUsage,
                fmt::format("{} {} and an axis over {} exclude each other", value.flag, value.text, axis.label));
  }
  return {};
}

bool agrees(const std::vector<std::pair<std::string, std::string>>& axes, const config::CellPlan& pattern) {
  return std::ranges::all_of(pattern, [&](const auto& entry) { return std::ranges::find(axes, entry) != axes.end(); });
}

Result<void> check_pattern(const config::Plan& plan, const config::CellPlan& pattern, std::string_view what) {
  for (const auto& [name, value] : pattern) {
    const auto axis = std::ranges::find(plan.bench.axes, name, &config::AxisPlan::name);
    if (axis != plan.bench.axes.end() && std::ranges::find(axis->values, value) != axis->values.end()) continue;
    return fail(ErrorCode::kUsage,
                fmt::format("the {} of the matrix names {}={}, which no axis has", what, name, value));
  }
  return {};
}

// Every combination of axis values, the last axis changing fastest.
std::vector<std::vector<std::pair<std::string, std::string>>> multiply(const std::vector<config::AxisPlan>& axes) {
  std::vector<std::vector<std::pair<std::string, std::string>>> rows = {{}};
  for (const config::AxisPlan& axis : axes) {
    std::vector<std::vector<std::pair<std::string, std::string>>> longer;
    for (const auto& row : rows) {
      for (const std::string& value : axis.values) {
        longer.push_back(row);
        longer.back().emplace_back(axis.name, value);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

std::vector<config::FlagValue> cell_flags(const config::Plan& plan, const Invocation& invocation, const BenchCell& cell,
                                          const std::vector<AxisFlag>& axes) {
  std::vector<config::FlagValue> flags = {{"MODEL", cell.model}};
  for (const config::FlagValue& value : invocation.flags) {
    if (std::ranges::find(kSweepFlags, value.flag) == kSweepFlags.end()) flags.push_back(value);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& value = cell.axes[i].second;
    flags.push_back({axes[i].flag, axes[i].option.empty() ? value : axes[i].option + "=" + value});
  }
  const bool overrides = std::ranges::any_of(invocation.flags, [](const auto& value) { return value.flag == "--set"; });
  if (plan.config_file.value.empty() && !overrides) return flags;
  for (const std::string_view setting : kSweepSettings)
    flags.push_back({"--set", fmt::format("{}=null", setting)});
  return flags;
}

Result<void> check_cell(const BenchCell& cell) {
  Invocation invocation;
  invocation.command = "bench";
  invocation.flags = cell.flags;
  auto plan = make_plan(invocation, config::Command::kBench);
  if (!plan) return fail(std::move(plan).error().at("cell", cell.name));
  PTERUN_ASSIGN(backend::BackendRegistry registry, make_backend_registry());
  CollectingLog log;
  auto checked = OptionSession::check(plan->options, registry, log);
  if (!checked) return fail(std::move(checked).error().at("cell", cell.name));
  return {};
}

Error shard_error(const config::Setting<std::string>& shard) {
  return make_error(ErrorCode::kUsage,
                    fmt::format("expected K/N with 1 <= K <= N such as 2/4, found '{}'", shard.value))
      .at("source", shard.origin.describe());
}

// A program in a cell's name: its file, with the folders as given where another one has a file of that name.
std::string model_name(const config::Plan& plan, const std::string& model) {
  const auto file_of = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  const auto same =
      std::ranges::count_if(plan.models, [&](const auto& other) { return file_of(*other) == file_of(model); });
  return same > 1 ? model : file_of(model);
}

Result<void> check_models(const config::Plan& plan) {
  for (auto model = plan.models.begin(); model != plan.models.end(); ++model) {
    if (std::find_if(plan.models.begin(), model, [&](const auto& other) { return *other == **model; }) == model)
      continue;
    return fail(
        make_error(ErrorCode::kUsage, fmt::format("expected different programs, found {} twice", in_quotes(**model)))
            .with_hint("--processes N measures one several times, beside a control against itself"));
  }
  return {};
}

}  // namespace

std::vector<std::string> BenchCell::arguments() const {
  std::vector<std::string> list = {"bench"};
  for (const config::FlagValue& value : flags) {
    if (!value.flag.starts_with('-')) {
      list.push_back(value.text);
      continue;
    }
    const config::SettingRow* row = config::find_flag(config::Command::kBench, value.flag);
    if (row != nullptr && row->flag.is_switch()) {
      list.push_back(value.flag);
    } else if (value.text.starts_with('-')) {
      list.push_back(value.flag + "=" + value.text);
    } else {
      list.push_back(value.flag);
      list.push_back(value.text);
    }
  }
  return list;
}

std::string BenchCell::command() const {
  std::string text = "pterun";
  for (const std::string& argument : arguments())
    text += " " + shell_quoted(argument);
  return text;
}

Result<std::vector<BenchCell>> make_cells(const config::Plan& plan, const Invocation& invocation) {
  if (plan.models.empty()) {
    return fail(make_error(ErrorCode::kUsage, "bench takes a model or several, none was given")
                    .with_hint("pterun bench MODEL.pte, or \"model\" in the config"));
  }
  PTERUN_TRY(check_models(plan));
  std::vector<AxisFlag> axes;
  for (const config::AxisPlan& axis : plan.bench.axes) {
    PTERUN_ASSIGN(AxisFlag flag, axis_flag(axis));
    PTERUN_TRY(check_clash(flag, invocation));
    axes.push_back(std::move(flag));
  }
  for (const config::CellPlan& exclude : plan.bench.excludes)
    PTERUN_TRY(check_pattern(plan, exclude, "exclude"));
  PTERUN_TRY(check_pattern(plan, plan.bench.baseline_cell, "baseline"));
  std::vector<BenchCell> cells;
  for (const auto& model : plan.models) {
    for (auto& row : multiply(plan.bench.axes)) {
      if (std::ranges::any_of(plan.bench.excludes, [&](const auto& exclude) { return agrees(row, exclude); })) continue;
      BenchCell cell;
      cell.model = *model;
      cell.axes = std::move(row);
      for (std::size_t i = 0; i < axes.size(); ++i)
        cell.name += fmt::format("{}{}={}", cell.name.empty() ? "" : " ", axes[i].label, cell.axes[i].second);
      if (axes.empty() || plan.models.size() > 1)
        cell.name = model_name(plan, cell.model) + (axes.empty() ? "" : " ") + cell.name;
      cell.flags = cell_flags(plan, invocation, cell, axes);
      PTERUN_TRY(check_cell(cell));
      cells.push_back(std::move(cell));
    }
  }
  const auto baseline =
      std::ranges::find_if(cells, [&](const BenchCell& cell) { return agrees(cell.axes, plan.bench.baseline_cell); });
  if (baseline == cells.end()) return fail(ErrorCode::kUsage, "the matrix leaves no cell, or no baseline cell");
  baseline->is_baseline = true;
  return cells;
}

Result<std::vector<BenchCell>> take_shard(std::vector<BenchCell> cells, const config::Setting<std::string>& shard) {
  if (shard.value.empty()) return cells;
  std::size_t k = 0;
  std::size_t n = 0;
  const char* const end = shard.value.data() + shard.value.size();
  const auto first = std::from_chars(shard.value.data(), end, k);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return fail(shard_error(shard));
  const auto second = std::from_chars(first.ptr + 1, end, n);
  if (second.ec != std::errc() || second.ptr != end || k < 1 || k > n) return fail(shard_error(shard));
  std::vector<BenchCell> share;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % n == k - 1 || cells[i].is_baseline) share.push_back(std::move(cells[i]));
  }
  return share;
}

}  // namespace pterun::app
