// `pterun run --node`: one node of a delegate or one operator, on given inputs, from plan to report. Nothing else of
// the program is executed.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend_registry.h"
#include "base/thread_pool.h"
#include "config/plan.h"
#include "operators/operator.h"
#include "pterun/node/node_outcome.h"
#include "pterun/node/node_target.h"
#include "pterun/session/deadline.h"
#include "pterun/session/event_log.h"
#include "pterun/session/graph_keeper.h"
#include "pterun/session/prepared_step.h"
#include "report/run_report.h"
#include "runtime/loader.h"

namespace pterun::app {

class NodeSession {
 public:
  // As RunSession.
  NodeSession(const config::Plan& plan, bool hash_files, EventLog& events, Deadline& deadline)
      : plan_(plan), hash_files_(hash_files), deadline_(deadline), events_(events), log_(events) {}

  // Does everything; the verdict is in `status`, `exit_code` and `error` of the report.
  void run(report::RunReport& report);

  // One step with the node's results, for --save-outputs; valid after run().
  const std::vector<PreparedStep>& steps() const { return steps_; }

 private:
  // A program whose delegates are read and not made.
  struct Loaded {
    DelegateGraphs graphs;  // before the program, whose bytes they refer to while it lives
    backend::BackendRegistry backends;
    std::unique_ptr<runtime::Loader> loader;
    std::unique_ptr<runtime::LoadedProgram> program;
    runtime::Method* method = nullptr;
  };

  Result<void> run_all(report::RunReport& report);
  Result<void> load(const std::string& path, const std::string& method, Loaded& loaded);
  Result<NodeOutcome> run_target(report::NodeReport& node);
  void describe_target(std::size_t step, report::NodeReport& node) const;
  Result<void> judge(const NodeOutcome& outcome, report::RunReport& report);
  Result<report::ComparisonReport> compare(std::size_t output, const NodeExpectation& expectation) const;
  void describe(report::RunReport& report);

  const config::Plan& plan_;
  bool hash_files_;
  Deadline& deadline_;
  EventLog& events_;
  EventingLog log_;
  operators::OperatorRegistry operators_;
  std::unique_ptr<ThreadPool> threads_;
  NodeTarget target_;
  Loaded own_;
  Loaded reference_;  // with --reference pte:FILE
  std::vector<PreparedStep> steps_;
};

}  // namespace pterun::app
