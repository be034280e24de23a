// `pterun run` from plan to report: options, loading, inputs, executions, outputs, comparison.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/thread_pool.h"
#include "config/plan.h"
#include "operators/operator.h"
#include "pterun/session/deadline.h"
#include "pterun/session/event_log.h"
#include "pterun/session/option_session.h"
#include "pterun/session/prepared_step.h"
#include "pterun/session/step_references.h"
#include "report/run_report.h"
#include "runtime/loader.h"

namespace pterun::app {

class RunSession {
 public:
  // What happens between loading and the report; `pterun bench` measures there.
  using Execution = std::function<Result<void>(RunSession& session, report::RunReport& report)>;

  // `execution` empty: the plan's warm-up and iterations. `deadline` is told each phase, `events` what happens; both
  // must outlive the session.
  RunSession(const config::Plan& plan, bool hash_files, EventLog& events, Deadline& deadline, Execution execution = {});
  ~RunSession();

  // Does everything; what was found out before an error is in the report as well. The verdict is in `status`,
  // `exit_code` and `error` of the report.
  void run(report::RunReport& report);

  // Tensor outputs by step, for --save-outputs; valid after run().
  const std::vector<PreparedStep>& steps() const { return steps_; }

  // For an Execution: all steps once from their inputs, keeping, reporting and comparing the outputs. Sets
  // timing.first_ns when it is the first execution.
  Result<void> keep_outputs(report::RunReport& report);
  // The inputs of a step with another seed. Errors: see resolve_inputs.
  Result<StepInputs> inputs_with_seed(const PreparedStep& step, std::uint64_t seed) const;
  const runtime::LoadedProgram& program() const { return *program_; }
  // The program once more, with the methods of the steps, whose delegates count the time of their nodes. Errors: as the
  // first time.
  Result<std::unique_ptr<runtime::LoadedProgram>> load_profiled() const;
  LogSink& log() { return log_; }
  Deadline& deadline() { return deadline_; }
  EventLog& events() { return events_; }

 private:
  Result<void> run_all(report::RunReport& report);
  Result<void> load(report::RunReport& report);
  Result<void> prepare_steps();
  void warn_about_inert();
  Result<void> execute_once();
  Result<void> execute(report::RunReport& report);
  Result<void> diverge(report::RunReport& report);
  Result<void> judge(report::RunReport& report) const;
  void describe(report::RunReport& report);
  void hash(report::RunReport& report) const;

  const config::Plan& plan_;
  bool hash_files_;
  Deadline& deadline_;
  Execution execution_;
  EventLog& events_;
  EventingLog log_;
  backend::BackendRegistry backends_;
  operators::OperatorRegistry operators_;
  std::unique_ptr<ThreadPool> threads_;
  std::unique_ptr<runtime::Loader> loader_;
  runtime::LoadRequest request_;
  std::unique_ptr<OptionSession> options_;
  std::shared_ptr<const program::BundledProgram> bundle_;
  std::unique_ptr<runtime::LoadedProgram> program_;
  StepReferences references_;
  std::vector<PreparedStep> steps_;
};

}  // namespace pterun::app
