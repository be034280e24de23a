// A walk to judge; a second, when something is off, to keep the tensors of that one place.
#include "pterun/diverge/divergence.h"

#include <algorithm>

#include "pterun/diverge/judge.h"
#include "pterun/diverge/kept_tensors.h"
#include "pterun/diverge/pt2_judge.h"
#include "pterun/diverge/walk.h"

namespace pterun::app {
namespace {

// The reference that shows its operators, of the first step that has one; null when none has.
const reference::TracingSource* tracing_source(std::span<const PreparedStep> steps) {
  for (const PreparedStep& step : steps) {
    const reference::TracingSource* source = step.source == nullptr ? nullptr : step.source->tracing();
    if (source != nullptr) return source;
  }
  return nullptr;
}

}  // namespace

Result<report::DivergeReport> find_divergence(const DivergenceRequest& request) {
  PTERUN_ASSIGN(const auto walk, Walk::make(request.walk));
  const reference::TracingSource* source = tracing_source(request.walk.steps);
  NodeJudge judge;
  Pt2Judge pt2;
  ResultVisitor* const judges[] = {&judge, &pt2};
  PTERUN_TRY(walk->run(std::span(judges).first(source == nullptr ? 1 : 2)));
  std::size_t first = 0;
  report::DivergeReport report = judge.judge(first);
  const std::string& program = request.walk.reference_program;
  report.reference = program.empty() ? "the interpreter" : program;
  std::optional<Pt2Judge::Keep> keep;
  if (source != nullptr) {
    report.reference = source->description();
    PTERUN_TRY(pt2.judge(request.comparisons, judge, report, keep));
    if (report.mapping->mapped == 0 && !keep) {
      request.walk.log->warn({"no_mapping", "no result of the program equals one of " + report.reference,
                              "its operators could not be compared; the outputs and the interpreter's verdict stand"});
    }
  }
  if (!report.first) return report;
  KeepRequest kept{first, first, "", nullptr};
  if (keep) kept = {keep->inputs_of, keep->result_of, keep->want_key, keep->want ? &*keep->want : nullptr};
  TensorKeeper keeper(kept);
  ResultVisitor* const keepers[] = {&keeper};
  PTERUN_TRY(walk->run(keepers));
  report.inputs_file = request.inputs_file;
  PTERUN_TRY(keeper.write(request.inputs_file));
  return report;
}

}  // namespace pterun::app
