// Judging each operator and node by itself: its result against what the reference makes of the very inputs it had.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pterun/diverge/walk.h"
#include "report/diverge_report.h"

namespace pterun::app {

// A result's place, as reports say it.
report::DivergeNode node_at(const ResultPlace& place);
// One unit in the last place of 1; 0 for integers.
double epsilon_of(DType dtype);
// What a result may be off by however small the tolerance, since XNNPACK and the reference kernels round at other
// places: `rounding` for a border between two quantised steps (interpreter::NodeCheck), and eight units in the last
// place of the largest result. `dtype` is the one that the result is judged as.
double rounding_allowance(DType dtype, double rounding, double largest);
// The five that come closest to what they are allowed, the closest first.
void sort_by_share(std::vector<report::DivergeNode>& nodes);

class NodeJudge final : public ResultVisitor {
 public:
  Result<void> begin_step(const PreparedStep& step, const runtime::Stepper& stepper) override;
  Result<void> after_operator(const ResultPlace& place, const runtime::Instruction& watched,
                              const runtime::Instruction& twin) override;
  Result<void> begin_delegate(const ResultPlace& place, const xnnpack_payload::PayloadGraph& graph,
                              const backends::WatchedCall& call, std::span<Value* const> args) override;
  Result<void> visit_node(const ResultPlace& place, const backends::interpreter::NodeCheck& check) override;
  Result<void> end_step(const PreparedStep& step, const runtime::Method& watched) override;

  // Shares the tolerance out among the findings and fills in everything but the reference's name, inputs_file and
  // command. `first_visit` gets the ResultPlace::visit of the first that is off.
  report::DivergeReport judge(std::size_t& first_visit);
  // After judge(): the finding at this visit, or null.
  const report::DivergeNode* find(std::size_t visit) const;
  std::size_t compared_nodes() const;  // nodes of delegates among the findings

 private:
  // One comparison: the node as reported, and what its allowance is made of.
  struct Finding {
    std::size_t visit = 0;
    report::DivergeNode node;
    double tolerance = 0;  // atol + rtol * largest, before it is shared
    double extra = 0;      // rounding of a quantised result or operand, and of the dtype
  };
  struct Measure;
  static Measure measure(const Tensor& got, const Tensor& want);
  Result<void> note(const ResultPlace& place, report::DivergeNode node, DType dtype, const Measure& found,
                    double rounding);

  const PreparedStep* step_ = nullptr;
  std::vector<Finding> findings_;
  std::map<std::pair<std::string, std::string>, std::size_t> skipped_;
  bool watching_changed_ = false;
  double watching_max_abs_ = 0;
};

}  // namespace pterun::app
