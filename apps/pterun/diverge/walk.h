// Two programs in step: the watched one runs, the reference one is given its values before each operator. Whoever wants
// to know something about single results visits them on the way.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backends/interpreter/node_check.h"
#include "backends/xnnpack/watching_backend.h"
#include "base/thread_pool.h"
#include "operators/operator.h"
#include "pterun/session/graph_keeper.h"
#include "pterun/session/prepared_step.h"
#include "runtime/loader.h"
#include "runtime/stepping.h"

namespace pterun::app {

// Where an operator's or node's result stands. `visit` counts operators and nodes in the order in which they are
// visited, the same in every walk of these programs.
struct ResultPlace {
  std::size_t visit = 0;
  std::size_t step = 0;
  std::string method;
  std::size_t instruction = 0;
  std::optional<std::size_t> delegate;
  std::optional<std::size_t> node;
};

// Everything is borrowed for the duration of the call.
class ResultVisitor {
 public:
  virtual ~ResultVisitor() = default;
  // The inputs are in place.
  virtual Result<void> begin_step(const PreparedStep&, const runtime::Stepper&) { return {}; }
  // Both have the same arguments.
  virtual Result<void> before_operator(const ResultPlace&, const runtime::Instruction&) { return {}; }
  virtual Result<void> after_operator(const ResultPlace& place, const runtime::Instruction& watched,
                                      const runtime::Instruction& twin) = 0;
  // A delegate has run; its nodes follow. `args` are those of the call.
  virtual Result<void> begin_delegate(const ResultPlace&, const xnnpack_payload::PayloadGraph&,
                                      const backends::WatchedCall&, std::span<Value* const>) {
    return {};
  }
  virtual Result<void> visit_node(const ResultPlace& place, const backends::interpreter::NodeCheck& check) = 0;
  virtual Result<void> end_delegate(const ResultPlace&) { return {}; }
  virtual Result<void> end_step(const PreparedStep&, const runtime::Method&) { return {}; }
};

// All borrowed, outliving the walk.
struct WalkRequest {
  const runtime::LoadRequest* load = nullptr;  // the program, its data and verification; options are left out
  std::string reference_program;               // "": the program's own
  const operators::OperatorRegistry* operators = nullptr;
  ThreadPool* threads = nullptr;
  LogSink* log = nullptr;
  std::span<const PreparedStep> steps;
};

class Walk {
 public:
  // Loads both programs. Errors: of loading.
  static Result<std::unique_ptr<Walk>> make(const WalkRequest& request);

  // Executes the steps from the state after loading. Errors: of executing and of the visitors; kReference when the
  // reference program is built otherwise.
  Result<void> run(std::span<ResultVisitor* const> visitors);

 private:
  explicit Walk(const WalkRequest& request) : request_(request) {}
  Result<void> load();
  Result<void> run_step(const PreparedStep& step);
  Result<void> run_operator(runtime::Stepper& stepper, runtime::Stepper& other, std::size_t index);
  Result<void> visit_delegate(const backends::WatchedCall& call);

  WalkRequest request_;
  DelegateGraphs graphs_;  // of the reference program; before the programs, whose bytes they refer to
  backend::BackendRegistry watched_backends_;
  backend::BackendRegistry reference_backends_;
  std::unique_ptr<runtime::Loader> watched_loader_;
  std::unique_ptr<runtime::Loader> reference_loader_;
  std::unique_ptr<runtime::LoadedProgram> watched_;
  std::unique_ptr<runtime::LoadedProgram> reference_;
  std::span<ResultVisitor* const> visitors_;
  ResultPlace place_;
  std::span<Value* const> delegate_args_;
};

// Results that the same inputs do not repeat.
bool is_random_operator(std::string_view name);

// "the reference program is built otherwise: WHAT".
Error structure_error(const std::string& what);

}  // namespace pterun::app
