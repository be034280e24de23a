// Two programs in step: the watched one runs, the reference one is given its values before each operator. Delegates of
// the reference program are never run; their graphs are what watched nodes are computed again with.
#include "pterun/session/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "backends/interpreter/node_check.h"
#include "backends/xnnpack/watching_backend.h"
#include "compare/element_reader.h"
#include "pterun/session/graph_keeper.h"
#include "pterun/session/report_parts.h"
#include "runtime/stepping.h"
#include "tensor/host_copy.h"
#include "tensor/io/npz.h"

namespace pterun::app {
namespace {

using backends::interpreter::NodeCheck;
using backends::interpreter::NodeOperand;
using backends::interpreter::Reals;
using runtime::Instruction;
using runtime::Stepper;
using xnnpack_payload::PayloadGraph;

// One comparison: the node as reported, and what its allowance is made of.
struct Finding {
  report::DivergeNode node;
  double tolerance = 0;  // atol + rtol * largest, before it is shared
  double extra = 0;      // rounding of a quantised result or operand, and of the dtype
};

struct Kept {
  std::string name;
  HostTensor tensor;
};

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 0x1p-52;
    case DType::kFloat16: return 0x1p-10;
    case DType::kBFloat16: return 0x1p-7;
    default: return is_floating(dtype) ? 0x1p-23 : 0.0;
  }
}

// The largest difference, infinite where NaN or infinity stand at different places; and the largest finite |want|.
struct Measure {
  double max_abs = 0;
  double largest = 0;
  void add(double got, double want) {
    if (std::isfinite(want)) largest = std::max(largest, std::abs(want));
    if (got == want || (std::isnan(got) && std::isnan(want))) return;
    const double error = std::abs(got - want);
    max_abs = std::max(max_abs, std::isfinite(error) ? error : HUGE_VAL);
  }
};

Measure measure(const Tensor& got, const Tensor& want) {
  if (is_complex(got.dtype())) return measure(view_as_real(got), view_as_real(want));
  Measure result;
  const compare::ElementReader got_reader(got);
  const compare::ElementReader want_reader(want);
  for (std::int64_t i = 0; i < got.numel(); ++i)
    result.add(got_reader.at(i), want_reader.at(i));
  return result;
}

// Results that the same inputs do not repeat.
bool is_random(std::string_view name) {
  return name.find("rand") != std::string_view::npos || name.find("dropout") != std::string_view::npos ||
         name.find("bernoulli") != std::string_view::npos;
}

Error structure_error(const std::string& what) {
  return make_error(ErrorCode::kReference, "the reference program is built otherwise: " + what)
      .with_hint("node by node only programs of equal structure can be compared");
}

// Gives a slot of the reference program the value of the watched one; constants stay its own.
Result<void> hand_over(const Value* from, Value* to) {
  if (from == nullptr || to == nullptr || from == to) return {};
  if (const auto* items = from->get_if<TensorList>()) {
    const auto* others = to->get_if<TensorList>();
    for (std::size_t i = 0; others != nullptr && i < std::min(items->items.size(), others->items.size()); ++i)
      PTERUN_TRY(hand_over(items->items[i], others->items[i]));
    return {};
  }
  if (const auto* items = from->get_if<OptionalTensorList>()) {
    const auto* others = to->get_if<OptionalTensorList>();
    for (std::size_t i = 0; others != nullptr && i < std::min(items->items.size(), others->items.size()); ++i)
      PTERUN_TRY(hand_over(items->items[i], others->items[i]));
    return {};
  }
  if (const auto* items = from->get_if<IntList>()) {
    const auto* others = to->get_if<IntList>();
    for (std::size_t i = 0; others != nullptr && i < std::min(items->items.size(), others->items.size()); ++i)
      PTERUN_TRY(hand_over(items->items[i], others->items[i]));
    return {};
  }
  if (from->is_scalar() && to->is_scalar()) to->set(from->payload());
  const Tensor* source = from->tensor();
  Tensor* target = to->tensor();
  if (source == nullptr || target == nullptr || target->is_constant()) return {};
  if (source->raw_data() == nullptr || target->raw_data() == nullptr) return {};
  if (source->dtype() != target->dtype())
    return fail(structure_error(source->describe() + " and " + target->describe()));
  PTERUN_TRY(target->resize(source->shape()));
  return copy_elements(*source, *target);
}

class Divergence {
 public:
  explicit Divergence(const DivergenceRequest& request) : request_(request) {}

  Result<report::DivergeReport> run() {
    PTERUN_TRY(load());
    PTERUN_TRY(execute());
    report::DivergeReport report = judge();
    if (!report.first) return report;
    PTERUN_TRY(keep(*first_));
    report.inputs_file = request_.inputs_file;
    std::vector<io::NamedTensorView> views;
    for (const Kept& kept : kept_)
      views.push_back({kept.name, &kept.tensor.view()});
    PTERUN_TRY(io::write_npz(request_.inputs_file, views));
    return report;
  }

 private:
  Result<void> load() {
    PTERUN_TRY(watched_backends_.add(backends::make_watching_xnnpack_backend(
        [this](const backends::WatchedCall& call) { return check_delegate(call); })));
    PTERUN_TRY(reference_backends_.add(make_graph_keeper(graphs_)));
    watched_loader_ =
        std::make_unique<runtime::Loader>(watched_backends_, *request_.operators, *request_.threads, *request_.log);
    reference_loader_ =
        std::make_unique<runtime::Loader>(reference_backends_, *request_.operators, *request_.threads, *request_.log);
    runtime::LoadRequest load = *request_.load;
    load.options = {};
    PTERUN_ASSIGN(watched_, watched_loader_->load(load));
    if (!request_.reference_program.empty()) load.path = request_.reference_program;
    PTERUN_ASSIGN(reference_, reference_loader_->load(load));
    return {};
  }

  Result<void> execute() {
    counter_ = 0;
    for (step_ = 0; step_ < request_.steps.size(); ++step_)
      PTERUN_TRY(execute_step(request_.steps[step_]));
    return {};
  }

  // A second time from the state after loading, to keep the tensors of one finding.
  Result<void> keep(std::size_t finding) {
    kept_finding_ = finding;
    for (const auto& program : {watched_.get(), reference_.get()}) {
      for (const auto& method : program->methods())
        PTERUN_TRY(method->reset_state());
    }
    return execute();
  }

  bool is_kept() const { return kept_finding_ && *kept_finding_ == counter_; }

  Result<void> execute_step(const PreparedStep& step) {
    method_ = step.method->name();
    PTERUN_ASSIGN(runtime::Method * watched, watched_->load_method(method_));
    PTERUN_ASSIGN(runtime::Method * reference, reference_->load_method(method_));
    PTERUN_TRY(set_inputs(*watched, step.inputs));
    PTERUN_TRY(set_inputs(*reference, step.inputs));
    Stepper stepper(*watched);
    Stepper other(*reference);
    if (stepper.size() != other.size()) {
      return fail(structure_error(fmt::format("{} and {} instructions", stepper.size(), other.size())));
    }
    PTERUN_TRY(stepper.begin());
    PTERUN_TRY(other.begin());
    while (!stepper.at_end()) {
      const std::size_t index = stepper.next();
      const Instruction instruction = stepper.at(index);
      const Instruction twin = other.at(index);
      if (instruction.name != twin.name || instruction.args.size() != twin.args.size()) {
        return fail(structure_error(
            fmt::format("instruction {} is {} and {}", instruction.index, instruction.name, twin.name)));
      }
      instruction_ = instruction.index;
      if (instruction.kind == Instruction::Kind::kOperator) {
        PTERUN_TRY(check_operator(stepper, other, index));
      } else {
        PTERUN_TRY(stepper.step());
        if (instruction.kind != Instruction::Kind::kDelegate) PTERUN_TRY(other.run(index));
      }
    }
    return compare_outputs(step, *watched);
  }

  Result<void> check_operator(Stepper& stepper, Stepper& other, std::size_t index) {
    const Instruction instruction = stepper.at(index);
    const Instruction twin = other.at(index);
    for (std::size_t i = 0; i < instruction.args.size(); ++i)
      PTERUN_TRY(hand_over(instruction.args[i], twin.args[i]));
    const bool keeps = is_kept();
    if (keeps) PTERUN_TRY(keep_arguments(instruction.args));
    PTERUN_TRY(stepper.step());
    PTERUN_TRY(other.run(index));
    if (is_random(instruction.name)) {
      skip(std::string(instruction.name), "random");
      return {};
    }
    return compare_arguments(instruction, twin, keeps);
  }

  // Arguments that an operator reads are equal on both sides, so that all can be compared.
  Result<void> compare_arguments(const Instruction& instruction, const Instruction& twin, bool keeps) {
    Measure worst;
    const Tensor* output = nullptr;
    for (std::size_t i = 0; i < instruction.args.size(); ++i) {
      const Tensor* got = instruction.args[i]->tensor();
      const Tensor* want = twin.args[i]->tensor();
      if (got == nullptr || want == nullptr || got->is_constant() || got->raw_data() == nullptr) continue;
      if (got->shape() != want->shape() || got->dtype() != want->dtype() || want->raw_data() == nullptr) {
        return fail(
            structure_error(fmt::format("{} gives {} and {}", instruction.name, got->describe(), want->describe())));
      }
      const Measure found = measure(*got, *want);
      if (output == nullptr || found.max_abs >= worst.max_abs) worst = found;
      output = got;
      if (keeps) PTERUN_TRY(keep_result(i, *got, *want));
    }
    if (output == nullptr) return {};
    Finding finding;
    finding.node.name = instruction.name;
    finding.node.output = output->describe();
    return note(std::move(finding), output->dtype(), worst, 0);
  }

  Result<void> check_delegate(const backends::WatchedCall& call) {
    const auto found = graphs_.find({std::string(call.method), call.delegate});
    if (found == graphs_.end() || found->second.values.size() != call.values.size()) {
      return fail(structure_error(fmt::format("delegate {} of method '{}'", call.delegate, call.method)));
    }
    delegate_ = call.delegate;
    const PayloadGraph& graph = found->second;
    for (const xnnpack_payload::Node& node : graph.nodes) {
      if (!call.values[node.outputs[0]]) {
        skip(std::string(node_kind_name(node.kind)), "its result exists only inside XNNPACK: judged with its reader");
      }
    }
    return backends::interpreter::check_nodes(graph, call.shapes, call.values,
                                              [this](const NodeCheck& check) { return check_node(check); });
  }

  Result<void> check_node(const NodeCheck& check) {
    Measure found;
    for (std::size_t i = 0; i < check.want->size(); ++i)
      found.add((*check.output.reals)[i], (*check.want)[i]);
    Finding finding;
    finding.node.name = node_kind_name(check.node->kind);
    finding.node.delegate = delegate_;
    finding.node.node = check.position;
    finding.node.output = std::string(dtype_name(check.dtype)) + check.output.shape->to_string();
    if (is_kept()) {
      for (std::size_t i = 0; i < check.inputs.size(); ++i)
        PTERUN_TRY(keep_reals(fmt::format("input_{}", i), check.inputs[i], *check.inputs[i].reals));
      PTERUN_TRY(keep_reals("got", check.output, *check.output.reals));
      PTERUN_TRY(keep_reals("want", check.output, *check.want));
    }
    return note(std::move(finding), check.dtype, found, check.rounding);
  }

  Result<void> note(Finding finding, DType dtype, const Measure& found, double rounding) {
    ++counter_;
    if (kept_finding_) return {};
    static constexpr std::size_t kNoOutput = ~std::size_t{0};
    // Quantised results stand for numbers.
    const DType judged = finding.node.node && !is_floating(dtype) ? DType::kFloat32 : dtype;
    PTERUN_ASSIGN(const compare::Tolerance tolerance, tolerance_for(*request_.steps[step_].plan, kNoOutput, judged));
    finding.node.step = step_;
    finding.node.method = method_;
    finding.node.instruction = instruction_;
    finding.node.max_abs = found.max_abs;
    finding.node.largest = found.largest;
    finding.tolerance = tolerance.atol + tolerance.rtol * found.largest;
    finding.extra = rounding + 8 * epsilon_of(judged) * found.largest;
    findings_.push_back(std::move(finding));
    return {};
  }

  report::DivergeReport judge() {
    report::DivergeReport report;
    report.reference = request_.reference_program.empty() ? "the interpreter" : request_.reference_program;
    report.watching_changed = watching_changed_;
    report.watching_max_abs = watching_max_abs_;
    report.compared = findings_.size();
    // Errors of many nodes add up like independent ones: by the root of their number.
    const double share = 1.0 / std::sqrt(static_cast<double>(std::max<std::size_t>(findings_.size(), 1)));
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      report::DivergeNode& node = findings_[i].node;
      node.allowed = findings_[i].tolerance * share + findings_[i].extra;
      node.pass = node.max_abs <= node.allowed;
      if (node.pass) continue;
      ++report.diverging;
      if (report.first) continue;
      report.first = node;
      first_ = i;
    }
    std::vector<report::DivergeNode> worst;
    for (const Finding& finding : findings_)
      if (finding.node.max_abs > 0) worst.push_back(finding.node);
    const auto ratio = [](const report::DivergeNode& node) {
      return node.allowed > 0 ? node.max_abs / node.allowed : HUGE_VAL;
    };
    std::ranges::stable_sort(worst, [&](const auto& a, const auto& b) { return ratio(a) > ratio(b); });
    worst.resize(std::min<std::size_t>(worst.size(), 5));
    report.worst = std::move(worst);
    for (const auto& [key, count] : skipped_)
      report.skipped.push_back({key.first, key.second, count});
    return report;
  }

  // Whether watching has changed the outputs.
  Result<void> compare_outputs(const PreparedStep& step, const runtime::Method& watched) {
    if (kept_finding_) return {};
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

  void skip(const std::string& name, const std::string& reason) {
    if (!kept_finding_) ++skipped_[{name, reason}];
  }

  Result<void> keep_arguments(std::span<Value* const> args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool is_kept = args[i]->is_scalar() || (args[i]->tensor() != nullptr && args[i]->tensor()->raw_data());
      if (!is_kept) continue;
      PTERUN_ASSIGN(HostTensor copy, host_copy(*args[i]));
      PTERUN_TRY(keep_tensor(fmt::format("input_{}", i), std::move(copy)));
    }
    return {};
  }

  Result<void> keep_result(std::size_t index, const Tensor& got, const Tensor& want) {
    for (const auto& [name, tensor] : {std::pair("got", &got), std::pair("want", &want)}) {
      PTERUN_ASSIGN(HostTensor copy, HostTensor::row_major_copy(*tensor));
      PTERUN_TRY(keep_tensor(fmt::format("{}_{}", name, index), std::move(copy)));
    }
    return {};
  }

  // npz has no bfloat16.
  Result<void> keep_tensor(std::string name, HostTensor tensor) {
    if (tensor.view().dtype() == DType::kBFloat16) {
      PTERUN_ASSIGN(HostTensor wide, HostTensor::allocate(DType::kFloat32, tensor.view().shape()));
      for (std::int64_t i = 0; i < tensor.view().numel(); ++i)
        wide.view().mutable_data<float>()[i] = static_cast<float>(tensor.view().data<BFloat16>()[i]);
      tensor = std::move(wide);
    }
    kept_.push_back({std::move(name), std::move(tensor)});
    return {};
  }

  Result<void> keep_reals(std::string name, const NodeOperand& operand, const Reals& reals) {
    PTERUN_ASSIGN(HostTensor tensor, HostTensor::allocate(DType::kFloat64, *operand.shape));
    std::ranges::copy(reals, tensor.view().mutable_data<double>());
    kept_.push_back({std::move(name), std::move(tensor)});
    return {};
  }

  const DivergenceRequest& request_;
  DelegateGraphs graphs_;  // of the reference program; before the programs, whose bytes they refer to while those live
  backend::BackendRegistry watched_backends_;
  backend::BackendRegistry reference_backends_;
  std::unique_ptr<runtime::Loader> watched_loader_;
  std::unique_ptr<runtime::Loader> reference_loader_;
  std::unique_ptr<runtime::LoadedProgram> watched_;
  std::unique_ptr<runtime::LoadedProgram> reference_;

  // Where the walk is.
  std::size_t step_ = 0;
  std::string method_;
  std::size_t instruction_ = 0;
  std::size_t delegate_ = 0;
  std::size_t counter_ = 0;

  std::vector<Finding> findings_;
  std::optional<std::size_t> first_;
  std::optional<std::size_t> kept_finding_;  // of the second walk
  std::vector<Kept> kept_;
  std::map<std::pair<std::string, std::string>, std::size_t> skipped_;
  bool watching_changed_ = false;
  double watching_max_abs_ = 0;
};

}  // namespace

Result<report::DivergeReport> find_divergence(const DivergenceRequest& request) {
  return Divergence(request).run();
}

}  // namespace pterun::app
