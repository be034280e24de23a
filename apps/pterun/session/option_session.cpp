// Applying options and climbing the ladder of evidence.
#include "pterun/session/option_session.h"

#include <algorithm>

#include <fmt/format.h>

namespace pterun::app {
namespace {

using options::CheckedOption;
using options::OptionPath;
using report::Evidence;
using report::OptionReport;

OptionReport report_of(const CheckedOption& option, bool action) {
  OptionReport report;
  report.backend = option.backend;
  report.key = option.key;
  report.path = option.path;
  report.action = action;
  report.requested = option.value;
  report.source = option.source;
  for (const options::ShadowedOption& shadowed : option.shadowed) {
    report.shadowed.push_back({shadowed.value, shadowed.source});
  }
  return report;
}

std::optional<options::OptionValue> read_back(const backend::BackendRegistry& registry, const OptionReport& report) {
  auto value = registry.get_option(report.backend, report.key);
  if (!value) return std::nullopt;
  return *std::move(value);
}

std::size_t delegates_of(const runtime::LoadedProgram& program, const std::string& backend) {
  std::size_t count = 0;
  for (const auto& method : program.methods()) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(method->delegates(), [&](const auto& info) { return info.backend == backend; }));
  }
  return count;
}

}  // namespace

Result<OptionSession> OptionSession::check(const config::OptionsPlan& plan, backend::BackendRegistry& registry,
                                           LogSink& log) {
  OptionSession session(registry, log);
  std::vector<const options::OptionTable*> tables;
  for (const std::string& name : registry.names())
    tables.push_back(&registry.find(name)->option_table());
  options::CheckSettings settings;
  settings.allow_unknown = *plan.allow_unknown;
  settings.raw = *plan.raw;
  settings.current = [&registry](const std::string& backend,
                                 const std::string& key) -> std::optional<options::OptionValue> {
    auto value = registry.get_option(backend, key);
    if (!value) return std::nullopt;
    return *std::move(value);
  };
  PTERUN_ASSIGN(session.checked_, options::check_options(plan.requests, tables, settings));
  for (const Warning& warning : session.checked_.warnings)
    log.warn(warning);
  for (const CheckedOption& option : session.checked_.global)
    session.reports_.push_back(report_of(option, false));
  for (const CheckedOption& option : session.checked_.load)
    session.reports_.push_back(report_of(option, false));
  for (const CheckedOption& option : session.checked_.actions)
    session.reports_.push_back(report_of(option, true));
  return session;
}

Result<void> OptionSession::set_one(const CheckedOption& option, OptionReport& report) {
  const options::Option value{option.key, option.value};
  auto result = registry_->set_option(option.backend, std::span(&value, 1));
  if (!result) return fail(std::move(result).error().at("option", option.name()).at("source", option.source));
  report.evidence = Evidence::kAccepted;
  return {};
}

Result<void> OptionSession::apply_process_wide() {
  for (std::size_t i = 0; i < checked_.global.size(); ++i) {
    OptionReport& report = reports_[i];
    report.original = read_back(*registry_, report);
    auto result = set_one(checked_.global[i], report);
    if (!result) {
      (void)restore();
      return result;
    }
    report.stored = read_back(*registry_, report);
    if (report.stored && *report.stored == report.requested) report.evidence = Evidence::kStored;
  }
  return {};
}

Result<backend::LoadOptions> OptionSession::load_options() {
  backend::LoadOptions load;
  for (std::size_t i = 0; i < checked_.load.size(); ++i) {
    const CheckedOption& option = checked_.load[i];
    auto result = load.add(option.backend, option.key, option.value);
    if (!result) return fail(std::move(result).error().at("source", option.source));
    reports_[checked_.global.size() + i].evidence = Evidence::kAccepted;
  }
  return load;
}

Result<void> OptionSession::apply_actions() {
  const std::size_t first = checked_.global.size() + checked_.load.size();
  for (std::size_t i = 0; i < checked_.actions.size(); ++i) {
    PTERUN_TRY(set_one(checked_.actions[i], reports_[first + i]));
  }
  return {};
}

void OptionSession::collect(const runtime::LoadedProgram& program, bool finished) {
  for (OptionReport& report : reports_) {
    const bool load = report.path == OptionPath::kLoad;
    if (!load && !report.action && report.evidence >= Evidence::kAccepted) {
      report.stored_after = read_back(*registry_, report);
      const bool kept = report.stored_after && *report.stored_after == report.requested;
      if (!kept) report.evidence = Evidence::kAccepted;
    }
    judge(report, program, finished);
  }
}

void OptionSession::judge(OptionReport& report, const runtime::LoadedProgram& program, bool finished) const {
  std::size_t effective = 0;
  for (const auto& method : program.methods()) {
    for (const runtime::DelegateInfo& info : method->delegates()) {
      if (info.backend != report.backend || info.delegate == nullptr) continue;
      for (backend::OptionEffect& effect : info.delegate->option_effects()) {
        if (effect.key != report.key) continue;
        effective += effect.value == report.requested;
        report.effects.push_back({method->name(), info.index, std::move(effect.value), std::move(effect.detail)});
      }
    }
  }
  const std::size_t delegates = delegates_of(program, report.backend);
  if (report.path == OptionPath::kLoad) {
    for (const backend::Receipt& receipt : program.receipts()) {
      if (receipt.backend == report.backend && receipt.key == report.key) report.receipts.push_back(receipt);
    }
    const bool all_received = delegates > 0 && report.receipts.size() == delegates &&
                              std::ranges::all_of(report.receipts, [&](const auto& receipt) {
                                return receipt.value == report.requested && receipt.result == "Ok";
                              });
    if (all_received) report.evidence = Evidence::kDelivered;
    if (all_received && effective == delegates) report.evidence = Evidence::kEffective;
    if (delegates == 0 && finished) {
      log_->warn({"load_option_unused",
                  fmt::format("{}.{} (from {}) reaches nothing: the program has no delegate of {}", report.backend,
                              report.key, report.source, report.backend),
                  "remove the option, or export the program for that backend"});
    }
    return;
  }
  if (report.action) {
    judge_action(report, finished);
    return;
  }
  if (report.evidence == Evidence::kStored && delegates > 0 && effective == delegates) {
    report.evidence = Evidence::kEffective;
  }
  const bool overridden = std::ranges::any_of(checked_.load, [&](const CheckedOption& option) {
    return option.backend == report.backend && option.key == report.key;
  });
  if (overridden && delegates > 0 && effective == 0) {
    log_->warn({"global_option_overridden",
                fmt::format("process-wide {}.{} (from {}) is overridden by a load option in every delegate",
                            report.backend, report.key, report.source),
                "remove one of the two"});
  }
}

// An action was effective when every delegate that it concerned says that it was done; others do not mention it.
void OptionSession::judge_action(OptionReport& report, bool finished) const {
  if (report.evidence < Evidence::kAccepted || report.requested != options::OptionValue(true)) return;
  const std::string name = fmt::format("{}.{} (from {})", report.backend, report.key, report.source);
  if (report.effects.empty() && finished) {
    log_->warn({"action_idle", name + " found nothing to act on in this program",
                fmt::format("`pterun options list {}` says what it acts on", report.backend)});
  }
  if (report.effects.empty()) return;
  const auto failed = std::ranges::find_if(report.effects, [&](const auto& e) { return e.value != report.requested; });
  if (failed == report.effects.end()) {
    report.evidence = Evidence::kEffective;
  } else {
    log_->warn({"action_failed", name + ": " + failed->detail, ""});
  }
}

void OptionSession::warn_idle_actions() const {
  for (const OptionReport& report : reports_) {
    if (!report.action || report.evidence < Evidence::kAccepted || report.requested != options::OptionValue(true)) {
      continue;
    }
    log_->warn({"action_idle",
                fmt::format("{}.{} (from {}) found nothing to act on: no program is loaded", report.backend, report.key,
                            report.source),
                "give it to `pterun run` or `pterun bench`"});
  }
}

Result<void> OptionSession::restore() {
  for (std::size_t i = checked_.global.size(); i-- > 0;) {
    OptionReport& report = reports_[i];
    if (!report.original || report.evidence == Evidence::kParsed) continue;
    const options::Option value{report.key, *report.original};
    PTERUN_TRY(registry_->set_option(report.backend, std::span(&value, 1)));
    report.restored = read_back(*registry_, report);
  }
  return {};
}

Result<void> OptionSession::require(config::EvidenceLevel level) const {
  if (level == config::EvidenceLevel::kNone) return {};
  const auto needed = static_cast<Evidence>(level);
  std::string missing;
  for (const OptionReport& report : reports_) {
    if (report.evidence >= needed) continue;
    missing += fmt::format("{}{}.{} (from {}) reached '{}'", missing.empty() ? "" : "; ", report.backend, report.key,
                           report.source, report::evidence_name(report.evidence));
  }
  if (missing.empty()) return {};
  return fail(make_error(ErrorCode::kEvidence,
                         fmt::format("the evidence '{}' is required, but {}", report::evidence_name(needed), missing)));
}

}  // namespace pterun::app
