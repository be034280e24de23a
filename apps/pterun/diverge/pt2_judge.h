// Judging the results of a program against those of the .pt2 it was made from, operator by operator: which of its
// results each equals, and where the first wrong value comes from (compare/counterparts.h).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/counterparts.h"
#include "pterun/diverge/judge.h"
#include "pterun/diverge/traced_step.h"
#include "pterun/diverge/value_sources.h"
#include "pterun/diverge/walk.h"
#include "report/run_report.h"

namespace pterun::app {

class Pt2Judge final : public ResultVisitor {
 public:
  Result<void> begin_step(const PreparedStep& step, const runtime::Stepper& stepper) override;
  Result<void> after_operator(const ResultPlace& place, const runtime::Instruction& watched,
                              const runtime::Instruction& twin) override;
  Result<void> begin_delegate(const ResultPlace& place, const xnnpack_payload::PayloadGraph& graph,
                              const backends::WatchedCall& call, std::span<Value* const> args) override;
  Result<void> visit_node(const ResultPlace& place, const backends::interpreter::NodeCheck& check) override;
  Result<void> end_delegate(const ResultPlace& place) override;
  Result<void> end_step(const PreparedStep& step, const runtime::Method& watched) override;

  // What to keep of the first that is off.
  struct Keep {
    std::size_t inputs_of = 0;
    std::size_t result_of = 0;
    std::string want_key;
    std::optional<HostTensor> want;  // what the .pt2 gives, in the layout of the result; none when nothing fits
  };
  // `report`: as the NodeJudge leaves it, whose findings are `nodes`; becomes that of the comparison with the .pt2.
  // With a divergence from it `keep` is set. `comparisons`: of the outputs.
  Result<void> judge(std::span<const report::ComparisonReport> comparisons, const NodeJudge& nodes,
                     report::DivergeReport& report, std::optional<Keep>& keep) const;

 private:
  struct Record {
    std::size_t visit = 0;
    report::DivergeNode node;  // where it stands
    Shape shape;
    std::string want_key;
  };
  struct OutputRecord {
    std::size_t step = 0;
    std::size_t position = 0;
    std::vector<std::size_t> results;
  };
  class Probe;
  // Adds one result; `reals` null: its elements are no numbers to compare.
  void add(Record record, DType dtype, std::vector<std::size_t> reads, const std::vector<double>* reals,
           QuantisationNoise noise);
  void add_inputs(const runtime::Stepper& stepper);
  void pass_through(std::size_t end_node);
  QuantisationNoise noise_of_reads(const std::vector<std::size_t>& reads) const;
  Result<void> describe_first(const compare::CounterpartVerdict& verdict, const NodeJudge& nodes,
                              report::DivergeReport& report, std::optional<Keep>& keep) const;
  report::DivergeCause cause_of(const compare::CounterpartVerdict::First& first, const NodeJudge& nodes) const;
  report::DivergeNode compared_node(std::size_t result, const compare::Counterpart& counterpart) const;

  const PreparedStep* step_ = nullptr;
  std::size_t step_index_ = 0;
  std::set<reference::TracingSource*> restarted_;
  std::vector<std::unique_ptr<TracedStep>> traces_;  // by step; empty ones for steps without a .pt2
  compare::CounterpartFinder finder_;
  std::vector<Record> records_;            // by result
  std::vector<QuantisationNoise> noises_;  // by result
  std::vector<OutputRecord> outputs_;
  MemorySources memory_;

  // Of the delegate that is being visited.
  const xnnpack_payload::PayloadGraph* graph_ = nullptr;
  std::span<Value* const> args_;
  std::vector<std::vector<std::size_t>> value_sources_;  // by value
  std::size_t next_node_ = 0;
};

}  // namespace pterun::app
