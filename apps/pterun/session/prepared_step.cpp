// Which method a step executes.
#include "pterun/session/prepared_step.h"

namespace pterun::app {

Result<std::string> choose_method(const program::Program& program, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (program.find_method("forward") != nullptr) return std::string("forward");
  if (program.methods().size() == 1) return program.methods().front().name;
  std::string known;
  for (const program::MethodPlan& method : program.methods())
    known += (known.empty() ? "" : ", ") + method.name;
  return fail(make_error(ErrorCode::kInvalidArgument, "the program has no method 'forward'; it has: " + known)
                  .with_blame(Blame::kUsage)
                  .with_hint("choose one with --method NAME")
                  .at("file", program.path()));
}

}  // namespace pterun::app
