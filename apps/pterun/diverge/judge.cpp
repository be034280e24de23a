// Findings in the order of the walk; what each may be off by is known only when all are counted.
#include "pterun/diverge/judge.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "compare/element_reader.h"
#include "pterun/session/report_parts.h"
#include "tensor/host_copy.h"

namespace pterun::app {

// The largest difference, infinite where NaN or infinity stand at different places; and the largest finite |want|.
struct NodeJudge::Measure {
  double max_abs = 0;
  double largest = 0;
  void add(double got, double want) {
    if (std::isfinite(want)) largest = std::max(largest, std::abs(want));
    max_abs = std::max(max_abs, compare::element_error(got, want));
  }
};

NodeJudge::Measure NodeJudge::measure(const Tensor& got, const Tensor& want) {
  if (is_complex(got.dtype())) return measure(view_as_real(got), view_as_real(want));
  Measure result;
  const compare::ElementReader got_reader(got);
  const compare::ElementReader want_reader(want);
  for (std::int64_t i = 0; i < got.numel(); ++i)
    result.add(got_reader.at(i), want_reader.at(i));
  return result;
}

report::DivergeNode node_at(const ResultPlace& place) {
  report::DivergeNode node;
  node.step = place.step;
  node.method = place.method;
  node.instruction = place.instruction;
  node.delegate = place.delegate;
  node.node = place.node;
  return node;
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 0x1p-52;
    case DType::kFloat16: return 0x1p-10;
    case DType::kBFloat16: return 0x1p-7;
    default: return is_floating(dtype) ? 0x1p-23 : 0.0;
  }
}

double rounding_allowance(DType dtype, double rounding, double largest) {
  return rounding + 8 * epsilon_of(dtype) * largest;
}

void sort_by_share(std::vector<report::DivergeNode>& nodes) {
  constexpr std::size_t kShown = 5;
  const auto ratio = [](const report::DivergeNode& node) {
    return node.allowed > 0 ? node.max_abs / node.allowed : HUGE_VAL;
  };
  std::ranges::stable_sort(nodes, [&](const auto& a, const auto& b) { return ratio(a) > ratio(b); });
  nodes.resize(std::min(nodes.size(), kShown));
}

Result<void> NodeJudge::begin_step(const PreparedStep& step, const runtime::Stepper&) {
  step_ = &step;
  return {};
}

// Arguments that an operator reads are equal on both sides, so that all can be compared.
Result<void> NodeJudge::after_operator(const ResultPlace& place, const runtime::Instruction& watched,
                                       const runtime::Instruction& twin) {
  if (is_random_operator(watched.name)) {
    ++skipped_[{std::string(watched.name), "random"}];
    return {};
  }
  Measure worst;
  const Tensor* output = nullptr;
  for (std::size_t i = 0; i < watched.args.size(); ++i) {
    const Tensor* got = watched.args[i]->tensor();
    const Tensor* want = twin.args[i]->tensor();
    if (got == nullptr || want == nullptr || got->is_constant() || got->raw_data() == nullptr) continue;
    if (got->shape() != want->shape() || got->dtype() != want->dtype() || want->raw_data() == nullptr) {
      return fail(structure_error(fmt::format("{} gives {} and {}", watched.name, got->describe(), want->describe())));
    }
    const Measure found = measure(*got, *want);
    if (output == nullptr || found.max_abs >= worst.max_abs) worst = found;
    output = got;
  }
  if (output == nullptr) return {};
  report::DivergeNode node = node_at(place);
  node.name = watched.name;
  node.output = output->describe();
  return note(place, std::move(node), output->dtype(), worst, 0);
}

Result<void> NodeJudge::begin_delegate(const ResultPlace&, const xnnpack_payload::PayloadGraph& graph,
                                       const backends::WatchedCall& call, std::span<Value* const>) {
  for (const xnnpack_payload::Node& node : graph.nodes) {
    if (call.values[node.outputs[0]]) continue;
    ++skipped_[{std::string(node_kind_name(node.kind)),
                "its result exists only inside XNNPACK: judged with its reader"}];
  }
  return {};
}

Result<void> NodeJudge::visit_node(const ResultPlace& place, const backends::interpreter::NodeCheck& check) {
  Measure found;
  for (std::size_t i = 0; i < check.want->size(); ++i)
    found.add((*check.output.reals)[i], (*check.want)[i]);
  report::DivergeNode node = node_at(place);
  node.name = node_kind_name(check.node->kind);
  node.output = std::string(dtype_name(check.dtype)) + check.output.shape->to_string();
  return note(place, std::move(node), check.dtype, found, check.rounding);
}

Result<void> NodeJudge::note(const ResultPlace& place, report::DivergeNode node, DType dtype, const Measure& found,
                             double rounding) {
  static constexpr std::size_t kNoOutput = ~std::size_t{0};
  // Quantised results stand for numbers.
  const DType judged = node.node && !is_floating(dtype) ? DType::kFloat32 : dtype;
  PTERUN_ASSIGN(const compare::Tolerance tolerance, tolerance_for(*step_->plan, kNoOutput, judged));
  node.max_abs = found.max_abs;
  node.largest = found.largest;
  findings_.push_back({place.visit, std::move(node), tolerance.atol + tolerance.rtol * found.largest,
                       rounding_allowance(judged, rounding, found.largest)});
  return {};
}

report::DivergeReport NodeJudge::judge(std::size_t& first_visit) {
  report::DivergeReport report;
  report.watching_changed = watching_changed_;
  report.watching_max_abs = watching_max_abs_;
  report.compared = findings_.size();
  // Errors of many nodes add up like independent ones: by the root of their number.
  const double share = 1.0 / std::sqrt(static_cast<double>(std::max<std::size_t>(findings_.size(), 1)));
  for (Finding& finding : findings_) {
    report::DivergeNode& node = finding.node;
    node.allowed = finding.tolerance * share + finding.extra;
    node.pass = node.max_abs <= node.allowed;
    if (node.max_abs > 0) report.worst.push_back(node);
    if (node.pass) continue;
    ++report.diverging;
    if (report.first) continue;
    report.first = node;
    first_visit = finding.visit;
  }
  sort_by_share(report.worst);
  for (const auto& [key, count] : skipped_)
    report.skipped.push_back({key.first, key.second, count});
  return report;
}

const report::DivergeNode* NodeJudge::find(std::size_t visit) const {
  const auto found = std::ranges::find(findings_, visit, &Finding::visit);
  return found == findings_.end() ? nullptr : &found->node;
}

std::size_t NodeJudge::compared_nodes() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(findings_, [](const Finding& finding) { return finding.node.node.has_value(); }));
}

// Whether watching has changed the outputs.
Result<void> NodeJudge::end_step(const PreparedStep& step, const runtime::Method& watched) {
  std::size_t position = 0;
  for (std::size_t i = 0; i < watched.outputs().size(); ++i) {
    if (watched.output(i).is_none()) continue;
    PTERUN_ASSIGN(const HostTensor copy, host_copy(watched.output(i)));
    if (position >= step.outputs.size()) break;
    const Tensor& before = step.outputs[position++].view();
    const Tensor& now = copy.view();
    if (before.shape() == now.shape() && before.dtype() == now.dtype() &&
        (now.nbytes() == 0 || std::memcmp(before.raw_data(), now.raw_data(), now.nbytes()) == 0)) {
      continue;
    }
    watching_changed_ = true;
    if (before.shape() != now.shape() || before.dtype() != now.dtype()) continue;
    watching_max_abs_ = std::max(watching_max_abs_, measure(now, before).max_abs);
  }
  return {};
}

}  // namespace pterun::app
