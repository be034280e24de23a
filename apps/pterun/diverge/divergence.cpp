// A walk to judge; a second, when something is off, to keep the tensors of that one place.
#include "pterun/diverge/divergence.h"

#include "pterun/diverge/judge.h"
#include "pterun/diverge/kept_tensors.h"
#include "pterun/diverge/walk.h"

namespace pterun::app {

Result<report::DivergeReport> find_divergence(const DivergenceRequest& request) {
  PTERUN_ASSIGN(const auto walk, Walk::make(request.walk));
  NodeJudge judge;
  ResultVisitor* const judges[] = {&judge};
  PTERUN_TRY(walk->run(judges));
  std::size_t first = 0;
  report::DivergeReport report = judge.judge(first);
  const std::string& program = request.walk.reference_program;
  report.reference = program.empty() ? "the interpreter" : program;
  if (!report.first) return report;
  TensorKeeper keeper({first, first, nullptr});
  ResultVisitor* const keepers[] = {&keeper};
  PTERUN_TRY(walk->run(keepers));
  report.inputs_file = request.inputs_file;
  PTERUN_TRY(keeper.write(request.inputs_file));
  return report;
}

}  // namespace pterun::app
