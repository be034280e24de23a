// pterun compare: two sets of tensors, one judged against the other.
#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "base/sha256.h"
#include "config/settings.h"
#include "pterun/commands/commands.h"
#include "pterun/session/host.h"
#include "pterun/session/output_files.h"
#include "pterun/session/plan_manifest.h"
#include "pterun/session/report_parts.h"
#include "pterun/session/tensor_set.h"
#include "pterun/session/terminal.h"
#include "report/formats/text.h"
#include "tensor/io/keys.h"

namespace pterun::app {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Indices into both sets; kNone where a side has no counterpart.
struct Pair {
  std::size_t got = kNone;
  std::size_t want = kNone;
};

std::vector<std::string> names_of(const TensorSet& set) {
  std::vector<std::string> names;
  for (const SetTensor& tensor : set.tensors)
    names.push_back(tensor.name);
  return names;
}

// By name; when the sets share none, by the number that names end in. B's tensors in their order, then what only A has.
std::vector<Pair> match(const TensorSet& got, const TensorSet& want) {
  const std::vector<std::string> got_names = names_of(got);
  const std::vector<std::string> want_names = names_of(want);
  const bool share = std::ranges::any_of(
      want_names, [&](const auto& name) { return std::ranges::find(got_names, name) != got_names.end(); });
  const auto got_numbers = io::positions_of_keys(got_names, got.path);
  const auto want_numbers = io::positions_of_keys(want_names, want.path);
  std::vector<bool> used(got_names.size());
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < want_names.size(); ++i) {
    std::size_t at = kNone;
    for (std::size_t j = 0; j < got_names.size() && at == kNone; ++j) {
      const bool same = share ? got_names[j] == want_names[i]
                              : got_numbers && want_numbers && (*got_numbers)[j] == (*want_numbers)[i];
      if (same && !used[j]) at = j;
    }
    if (at != kNone) used[at] = true;
    pairs.push_back({at, i});
  }
  for (std::size_t j = 0; j < got_names.size(); ++j) {
    if (!used[j]) pairs.push_back({j, kNone});
  }
  return pairs;
}

compare::Comparison failed(std::string reason) {
  compare::Comparison comparison;
  comparison.reason = std::move(reason);
  compare::Metrics& m = comparison.metrics;
  for (double* value : {&m.max_abs, &m.mean_abs, &m.max_rel, &m.mean_rel, &m.rmse, &m.cosine, &m.snr_db})
    *value = std::numeric_limits<double>::quiet_NaN();
  return comparison;
}

std::string describe(const SetTensor& tensor) {
  return tensor.dtype + report::shape_text(tensor.shape);
}

std::string hash_of(const SetTensor& tensor) {
  return tensor.values ? sha256_of_tensor(tensor.values->view()) : tensor.sha256;
}

Result<compare::Comparison> compare_pair(const SetTensor& got, const SetTensor& want, std::size_t index,
                                         const config::StepPlan& step) {
  if (got.dtype != want.dtype || got.shape != want.shape) {
    return failed(fmt::format("A has {}, B has {}", describe(got), describe(want)));
  }
  if (got.values && want.values) {
    PTERUN_ASSIGN(const compare::Tolerance tolerance, tolerance_for(step, index, got.values->view().dtype()));
    return compare::compare_tensors(got.values->view(), want.values->view(), tolerance);
  }
  const std::string hash = hash_of(got);
  if (!hash.empty() && hash == hash_of(want)) {
    compare::Comparison equal;
    equal.pass = true;
    equal.metrics.elements = checked_numel(got.shape).value_or(0);
    equal.metrics.snr_db = std::numeric_limits<double>::infinity();
    return equal;
  }
  return failed("the bytes differ (SHA-256), and a report keeps no values: run with --save-outputs to see by how much");
}

Result<void> compare_sets(const TensorSet& got, const TensorSet& want, const config::StepPlan& step,
                          report::RunReport& report) {
  std::string differ;
  for (const Pair& pair : match(got, want)) {
    report::ComparisonReport item;
    item.reference = want.path;
    item.reference_kind = "file";
    item.output = pair.want == kNone ? pair.got : pair.want;
    item.name = pair.want == kNone ? got.tensors[pair.got].name : want.tensors[pair.want].name;
    if (pair.got == kNone || pair.want == kNone) {
      item.comparison = failed(pair.got == kNone ? "A has no such tensor" : "B has no such tensor");
    } else {
      PTERUN_ASSIGN(item.comparison, compare_pair(got.tensors[pair.got], want.tensors[pair.want], pair.want, step));
    }
    if (!item.comparison.pass) {
      differ += fmt::format("{}{}: {}", differ.empty() ? "" : "; ", item.name, item.comparison.reason);
    }
    report.comparisons.push_back(std::move(item));
  }
  if (differ.empty()) return {};
  return fail(ErrorCode::kMismatch, differ);
}

void describe_file(const std::string& role, const std::string& path, report::RunReport& report) {
  auto digest = sha256_of_file(path);
  std::error_code ignored;
  const auto size_bytes = std::filesystem::file_size(path, ignored);
  report.manifest.files.push_back({role, path, ignored ? 0 : size_bytes, digest ? *std::move(digest) : std::string()});
}

// What picks a test case needs a file with test cases.
Result<void> check_case_flags(const config::Plan& plan, const Invocation& invocation) {
  const bool bundled = invocation.find("A")->ends_with(".bpte") || invocation.find("B")->ends_with(".bpte");
  for (const config::Origin* origin : {&plan.bundled_case.origin, &plan.steps.front().method.origin}) {
    if (bundled || origin->kind != config::Origin::Kind::kFlag) continue;
    return fail(make_error(ErrorCode::kUsage, origin->describe() + " goes with a .bpte, found none"));
  }
  return {};
}

Result<void> compare_files(const config::Plan& plan, const Invocation& invocation, bool describe_files,
                           report::RunReport& report) {
  const auto request = [&](const char* argument, ErrorCode code) {
    return TensorSetRequest{*invocation.find(argument), *plan.steps.front().method,
                            static_cast<std::size_t>(*plan.bundled_case), code};
  };
  PTERUN_ASSIGN(const TensorSet got, load_tensor_set(request("A", ErrorCode::kInput)));
  PTERUN_ASSIGN(const TensorSet want, load_tensor_set(request("B", ErrorCode::kReference)));
  if (describe_files) {
    describe_file("outputs", got.path, report);
    describe_file("reference", want.path, report);
  }
  for (std::size_t i = 0; i < got.tensors.size(); ++i) {
    const SetTensor& tensor = got.tensors[i];
    if (!tensor.values) continue;
    report.outputs.push_back(
        describe_tensor(tensor.name, i, tensor.values->view(), config::PrintMode::kStats, describe_files));
  }
  return compare_sets(got, want, plan.steps.front(), report);
}

}  // namespace

std::vector<config::FlagSpec> compare_flags() {
  std::vector<config::FlagSpec> flags = {
      {"A", "", "", "the tensors that are judged", false, true, config::ValueHint::kFile, ""},
      {"B", "", "", "the tensors that they should be", false, true, config::ValueHint::kFile, ""}};
  const std::vector<config::FlagSpec> common = config::plan_flags(config::Command::kCompare);
  flags.insert(flags.end(), common.begin(), common.end());
  return flags;
}

Result<int> compare_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kCompare));
  PTERUN_TRY(check_case_flags(plan, invocation));
  PTERUN_ASSIGN(OutputFiles files, OutputFiles::open(plan.output));
  report::RunReport report = begin_report(report::Kind::kCompare, invocation);
  report.manifest.versions = version_facts();
  if (files.wants_report()) report.manifest.host = host_facts();
  auto compared = compare_files(plan, invocation, files.wants_report(), report);
  if (!compared) {
    const bool verdict = compared.error().blame == Blame::kOutputs;
    report.status = verdict ? report::Status::kFail : report::Status::kError;
    report.exit_code = exit_code(compared.error());
    report.error = compared.error();
  }
  PTERUN_TRY(files.write(report));
  invocation.report_written = files.wants_report();
  if (report.status == report::Status::kError) return fail(*report.error);
  if (!files.owns_stdout()) fmt::print("{}", report::to_text(report, text_style(plan.output)));
  return report.exit_code;
}

}  // namespace pterun::app
