// One command's dealings with options: check, apply process-wide ones, build the load map, read back, and say how far
// each one provably got.
#pragma once

#include <vector>

#include "backend/backend_registry.h"
#include "backend/load_options.h"
#include "base/log.h"
#include "config/plan.h"
#include "options/check.h"
#include "report/run_report.h"
#include "runtime/loader.h"

namespace pterun::app {

class OptionSession {
 public:
  // Checks every request against the tables of the registered backends; applies nothing. Errors: the option codes.
  static Result<OptionSession> check(const config::OptionsPlan& plan, backend::BackendRegistry& registry, LogSink& log);

  // Sets the process-wide options in order, noting the original value and what reads back. Errors: a backend's own
  // (exit 6), naming the option and its source; the values set before it are restored.
  Result<void> apply_process_wide();
  // The map for the loader, which has taken the load options. Errors: kOptionValue (limits).
  Result<backend::LoadOptions> load_options();
  // Sets actions after loading.
  Result<void> apply_actions();
  // Warns about actions that found nothing to act on, in a command that loads no program.
  void warn_idle_actions() const;
  // Reads process-wide values back once more and collects receipts and effects. Call when the work is done;
  // `finished` says whether it was, so that an option is not called unused because loading failed.
  void collect(const runtime::LoadedProgram& program, bool finished);
  // Puts process-wide values back and reads them back.
  Result<void> restore();

  const options::CheckedOptions& checked() const { return checked_; }
  const std::vector<report::OptionReport>& reports() const { return reports_; }
  // Errors: kEvidence naming every option below the level, its level and what is missing.
  Result<void> require(config::EvidenceLevel level) const;

 private:
  OptionSession(backend::BackendRegistry& registry, LogSink& log) : registry_(&registry), log_(&log) {}
  Result<void> set_one(const options::CheckedOption& option, report::OptionReport& report);
  void judge(report::OptionReport& report, const runtime::LoadedProgram& program, bool finished) const;
  void judge_action(report::OptionReport& report, bool finished) const;

  backend::BackendRegistry* registry_;
  LogSink* log_;
  options::CheckedOptions checked_;
  std::vector<report::OptionReport> reports_;  // process-wide, then load, then actions
};

}  // namespace pterun::app
