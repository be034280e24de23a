// Merging.
#include "pterun/session/merge_reports.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/utf8.h"
#include "pterun/session/bench_compare.h"

namespace pterun::app {
namespace {

using report::CellReport;
using report::RunReport;

struct Share {
  std::size_t number = 0;  // K and N of "K/N"; 0 when it is none
  std::size_t of = 0;
};

Share parse_share(const std::string& text) {
  Share share;
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return share;
  std::from_chars(text.data(), text.data() + slash, share.number);
  std::from_chars(text.data() + slash + 1, text.data() + text.size(), share.of);
  return share;
}

const std::string* find_fact(const std::vector<std::pair<std::string, std::string>>& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, [](const auto& fact) { return fact.first; });
  return found == facts.end() ? nullptr : &found->second;
}

Result<void> check_mergeable(const std::vector<SavedReport>& saved) {
  for (const SavedReport& item : saved) {
    if (!item.report.bench) {
      return fail(make_error(ErrorCode::kUsage,
                             fmt::format("only reports of benchmarks can be merged, {} is none", in_quotes(item.path)))
                      .with_hint("give one report at a time")
                      .at("file", item.path));
    }
    for (const report::FileIdentity& file : item.report.manifest.files) {
      for (const report::FileIdentity& first : saved.front().report.manifest.files) {
        const bool same_name =
            file.role == "model" && first.role == "model" &&
            file.path.substr(file.path.rfind('/') + 1) == first.path.substr(first.path.rfind('/') + 1);
        if (!same_name || file.sha256 == first.sha256) continue;
        return fail(make_error(ErrorCode::kInput,
                               fmt::format("{} and {} measured different programs named {}: their SHA-256 differ",
                                           in_quotes(saved.front().path), in_quotes(item.path), in_quotes(file.path)))
                        .at("file", item.path));
      }
    }
  }
  return {};
}

// The lesser number goes first in the contract's order of exit codes.
int severity(int exit_code) {
  static constexpr int kOrder[] = {70, 130, 2, 3, 4, 6, 1, 5, 7, 0};
  return static_cast<int>(std::ranges::find(kOrder, exit_code) - std::begin(kOrder));
}

class Merger {
 public:
  explicit Merger(std::vector<SavedReport> saved) : saved_(std::move(saved)) {
    std::ranges::stable_sort(saved_, {},
                             [](const SavedReport& item) { return parse_share(item.report.bench->shard).number; });
  }

  Result<RunReport> merge() {
    merged_ = saved_.front().report;
    merged_.bench->cells.clear();
    merged_.bench->gates.clear();
    merged_.bench->control.reset();
    for (SavedReport& item : saved_)
      PTERUN_TRY(take(item));
    interleave();
    judge();
    merged_.bench->shard = missing_shares();
    warn_about_machines();
    return std::move(merged_);
  }

 private:
  Result<void> take(SavedReport& item) {
    report::BenchReport& bench = *item.report.bench;
    if (severity(item.report.exit_code) < severity(merged_.exit_code)) {
      merged_.exit_code = item.report.exit_code;
      merged_.status = item.report.status;
      merged_.error = item.report.error;
    }
    const auto baseline = std::ranges::find_if(bench.cells, &CellReport::is_baseline);
    std::vector<CellReport> cells;
    for (CellReport& cell : bench.cells) {
      const bool again = cell.is_baseline && &item != &saved_.front();
      if (again) {
        cell.is_baseline = false;
        cell.name += fmt::format(" (baseline of share {})", bench.shard.empty() ? item.path : bench.shard);
      } else if (baseline != bench.cells.end() && !cell.is_baseline && !cell.processes.empty()) {
        if (const auto test = test_against(cell, *baseline, bench.margin)) tests_.emplace_back(cell.name, *test);
      }
      if (!names_.insert({cell.name, cell.model}).second) {
        return fail(make_error(ErrorCode::kInput, fmt::format("the cell '{}' is in {} and in an earlier report",
                                                              cell.name, in_quotes(item.path)))
                        .at("file", item.path));
      }
      (again ? other_baselines_ : cells).push_back(std::move(cell));
    }
    shares_.push_back(std::move(cells));
    std::ranges::move(bench.gates, std::back_inserter(merged_.bench->gates));
    if (!merged_.bench->control) merged_.bench->control = bench.control;
    if (&item == &saved_.front()) return {};
    for (const report::FileIdentity& file : item.report.manifest.files) {
      const auto& known = merged_.manifest.files;
      const bool have = std::ranges::any_of(known, [&](const auto& old) { return old.path == file.path; });
      if (!have) merged_.manifest.files.push_back(file);
    }
    std::ranges::move(item.report.warnings, std::back_inserter(merged_.warnings));
    return {};
  }

  // --shard deals the cells out in turn. The baselines of the later shares go to the end.
  void interleave() {
    for (std::size_t i = 0; std::ranges::any_of(shares_, [i](const auto& cells) { return i < cells.size(); }); ++i) {
      for (std::vector<CellReport>& cells : shares_) {
        if (i < cells.size()) merged_.bench->cells.push_back(std::move(cells[i]));
      }
    }
    std::ranges::move(other_baselines_, std::back_inserter(merged_.bench->cells));
  }

  void judge() {
    std::vector<bench::RatioTest> tests;
    for (const auto& [name, test] : tests_)
      tests.push_back(test);
    const std::vector<bench::Judgement> judgements = bench::judge(tests);
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const auto cell = std::ranges::find(merged_.bench->cells, tests_[i].first, &CellReport::name);
      cell->comparison = report::CellComparison{tests[i], judgements[i]};
    }
  }

  // "" when every share is there or there are none; else the ones that are.
  std::string missing_shares() {
    std::set<std::size_t> there;
    std::size_t of = 0;
    for (const SavedReport& item : saved_) {
      const Share share = parse_share(item.report.bench->shard);
      if (share.of == 0) continue;
      there.insert(share.number);
      of = std::max(of, share.of);
    }
    std::string missing;
    std::string present;
    for (std::size_t i = 1; i <= of; ++i) {
      std::string& list = there.contains(i) ? present : missing;
      list += fmt::format("{}{}/{}", list.empty() ? "" : ", ", i, of);
    }
    if (missing.empty()) return "";
    merged_.warnings.push_back({"shares_missing", "shares of the sweep are missing: " + missing,
                                "merge them too: verdicts are corrected for the number of cells"});
    return present;
  }

  void warn_about_machines() {
    std::set<std::string> machines;
    for (const SavedReport& item : saved_) {
      const std::string* cpu = find_fact(item.report.manifest.host, "cpu");
      if (cpu != nullptr) machines.insert(*cpu);
    }
    if (machines.size() < 2) return;
    std::string names;
    for (const std::string& machine : machines)
      names += (names.empty() ? "" : ", ") + machine;
    merged_.warnings.push_back({"different_machines", "the shares were measured on different processors: " + names,
                                "ratios are within each share and stand; compare no absolute times across shares"});
  }

  std::vector<SavedReport> saved_;
  RunReport merged_;
  std::vector<std::vector<CellReport>> shares_;
  std::vector<CellReport> other_baselines_;
  std::set<std::pair<std::string, std::string>> names_;
  std::vector<std::pair<std::string, bench::RatioTest>> tests_;  // by the cell's name
};

}  // namespace

Result<RunReport> merge_reports(std::vector<SavedReport> saved) {
  PTERUN_TRY(check_mergeable(saved));
  return Merger(std::move(saved)).merge();
}

}  // namespace pterun::app
