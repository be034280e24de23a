// The rules, one line each.
#include "pterun/session/inert_settings.h"

#include <algorithm>

#include <fmt/format.h>

namespace pterun::app {
namespace {

bool from_flag(const config::Origin& origin) {
  return origin.kind == config::Origin::Kind::kFlag;
}

void warn(const config::Origin& origin, const char* reason, const char* hint, LogSink& log) {
  if (!from_flag(origin)) return;
  log.warn({"inert_flag", fmt::format("{} has nothing to act on: {}", origin.describe(), reason), hint});
}

}  // namespace

void warn_about_inert_flags(const config::Plan& plan, const CallFacts& facts, LogSink& log) {
  if (!facts.bundled) warn(plan.bundled_case.origin, "the program has no test cases", "give a .bpte", log);
  if (!facts.generated_inputs) {
    warn(plan.seed.origin, "no input is generated", "leave inputs out, or give generators", log);
  }
  if (!facts.live_reference) {
    warn(plan.python.origin, "no reference is computed by Python", "it goes with live references", log);
    warn(plan.python_timeout_s.origin, "no reference is computed by Python", "it goes with live references", log);
  }
  if (!*plan.diverge) warn(plan.diverge_inputs.origin, "no divergence is looked for", "it goes with --diverge", log);
  if (facts.one_execution) {
    warn(plan.fresh_state.origin, "the state is fresh before the only execution", "take more --iterations", log);
  }
  for (const config::StepPlan& step : plan.steps) {
    if (!step.reference->empty()) continue;
    for (const config::ToleranceRule& rule : step.tolerance) {
      warn(rule.origin, "nothing is compared", "give a --reference", log);
    }
  }
}

void warn_about_inert_bench_flags(const config::Plan& plan, bool sweep, LogSink& log) {
  if (sweep) return;
  warn(plan.bench.order_seed.origin, "one cell has no order", "it goes with --axis or several models", log);
  if (!plan.bench.baseline_report->empty()) return;
  warn(plan.bench.margin.origin, "nothing is compared", "give a --baseline, --axis or several models", log);
}

}  // namespace pterun::app
