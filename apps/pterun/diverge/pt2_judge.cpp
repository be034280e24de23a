// Results are compared while they are there; the verdict needs only what was noted about them.
#include "pterun/diverge/pt2_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "backends/interpreter/real_values.h"
#include "compare/element_reader.h"
#include "pterun/session/report_parts.h"

namespace pterun::app {
namespace {

using xnnpack_payload::DataType;
using xnnpack_payload::kNoValue;
using xnnpack_payload::PayloadGraph;
using xnnpack_payload::PerTensorQuantization;
using xnnpack_payload::ValueIndex;

// Calls `visit` for every tensor that an argument is or lists.
template <typename Visit>
void for_each_tensor(const Value* value, const Visit& visit) {
  if (value == nullptr) return;
  if (const auto* list = value->get_if<TensorList>()) {
    for (const Value* item : list->items)
      for_each_tensor(item, visit);
  } else if (const auto* optionals = value->get_if<OptionalTensorList>()) {
    for (const Value* item : optionals->items)
      for_each_tensor(item, visit);
  } else if (const Tensor* tensor = value->tensor(); tensor != nullptr && tensor->raw_data() != nullptr) {
    visit(*tensor);
  }
}

unsigned weight_bits(DataType type) {
  switch (type) {
    case DataType::kQint8:
    case DataType::kQuint8:
    case DataType::kQcint8: return 8;
    case DataType::kQcint4:
    case DataType::kQbint4: return 4;
    default: return 0;
  }
}

// What the node itself adds.
QuantisationNoise node_noise(const PayloadGraph& graph, const xnnpack_payload::Node& node, ValueIndex output) {
  QuantisationNoise noise;
  for (const ValueIndex input : node.input_ids()) {
    if (input == kNoValue) continue;
    const xnnpack_payload::Value& value = graph.values[input];
    if (value.is_constant) noise.merge({weight_bits(value.type), 0, 0});
    if (value.type == DataType::kQdint8) noise.merge({8, 0, 0});
  }
  if (const auto* own = graph.values[output].quantized_as<PerTensorQuantization>()) {
    noise.merge({8, 0, 0});
    noise.scale = own->scale;
  }
  return noise;
}

QuantisationNoise operator_noise(std::string_view name, DType output) {
  QuantisationNoise noise;
  if (name.find("4bit") != std::string_view::npos) {
    noise.bits = 4;
  } else if (name.find("2bit") != std::string_view::npos) {
    noise.bits = 2;
  } else if (name.find("quant") != std::string_view::npos || name.find("_byte") != std::string_view::npos) {
    noise.bits = 8;
  }
  if (noise.bits != 0 && !is_floating(output)) noise.scale = 1;  // the stored integers
  return noise;
}

}  // namespace

class Pt2Judge::Probe final : public compare::Probe {
 public:
  Probe(const TracedStep& step, const config::StepPlan& plan, const std::vector<double>& reals, const Shape& shape,
        DType judged, const QuantisationNoise& noise, std::size_t step_index)
      : step_(step),
        plan_(plan),
        reals_(reals),
        shape_(shape),
        judged_(judged),
        noise_(noise),
        step_index_(step_index) {}

  bool fits(std::size_t reference) override {
    const Tensor& tensor = step_.trace().results[reference].tensor;
    return tensor.numel() == shape_.numel() && !is_complex(tensor.dtype());
  }

  std::optional<compare::Counterpart> agreement(std::size_t reference) override {
    const Tensor& tensor = step_.trace().results[reference].tensor;
    const double allowed = allowed_for(reference);
    const auto choices = compare::arrangements(shape_, tensor.shape());
    const auto found = compare::agreement(reals_, tensor, choices, allowed);
    if (!found) return std::nullopt;
    return compare::Counterpart{step_index_, reference, found->arrangement, found->max_abs, 0, allowed};
  }

  compare::Counterpart distance(std::size_t reference) override {
    const Tensor& tensor = step_.trace().results[reference].tensor;
    const auto found = compare::closest(reals_, tensor, compare::arrangements(shape_, tensor.shape()));
    const double unit = std::max(step_.largest(reference), std::numeric_limits<double>::min());
    return {step_index_,           reference, found.arrangement, found.difference.max_abs, found.difference.rmse / unit,
            allowed_for(reference)};
  }

  bool surely_differs(std::size_t reference) override {
    if (noise_.bits != 0) return false;
    std::vector<double> own = reals_;
    std::vector<double> other = compare::read_elements(step_.trace().results[reference].tensor);
    const auto before = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
    std::ranges::sort(own, before);
    std::ranges::sort(other, before);
    const double allowed = allowed_for(reference);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool equal = own[i] == other[i] || (std::isnan(own[i]) && std::isnan(other[i]));
      if (!equal && !(std::abs(own[i] - other[i]) <= allowed)) return true;
    }
    return false;
  }

 private:
  double allowed_for(std::size_t reference) const { return step_.allowed(plan_, reference, judged_, noise_); }

  const TracedStep& step_;
  const config::StepPlan& plan_;
  const std::vector<double>& reals_;
  const Shape& shape_;
  DType judged_;
  const QuantisationNoise& noise_;
  std::size_t step_index_;
};

Result<void> Pt2Judge::begin_step(const PreparedStep& step, const runtime::Stepper& stepper) {
  step_ = &step;
  step_index_ = traces_.size();
  const bool has_state = step.method->has_state();
  if (!has_state) memory_.clear();
  reference::TracingSource* source = step.source == nullptr ? nullptr : step.source->tracing();
  if (source == nullptr) {
    traces_.push_back(std::make_unique<TracedStep>());
    finder_.begin_step({});
    add_inputs(stepper);
    return {};
  }
  if (restarted_.insert(source).second) PTERUN_TRY(source->restart());
  PTERUN_ASSIGN(const std::vector<reference::StepInput> inputs, copy_inputs(step.inputs));
  auto trace = source->trace(*step.method, inputs);
  if (!trace) return fail(std::move(trace).error().at("source", step.plan->reference.origin.describe()));
  traces_.push_back(std::make_unique<TracedStep>(*std::move(trace), source->kind() == reference::Kind::kConvertedGraph,
                                                 has_state && step_index_ > 0));
  finder_.begin_step(traces_.back()->references());
  add_inputs(stepper);
  return {};
}

void Pt2Judge::add_inputs(const runtime::Stepper& stepper) {
  const std::vector<reference::TracedResult>& results = traces_.back()->trace().results;
  for (std::size_t i = 0; i < step_->inputs.inputs.size(); ++i) {
    for_each_tensor(&stepper.input(i), [&](const Tensor& tensor) {
      const auto found = std::ranges::find_if(
          results, [&](const reference::TracedResult& result) { return result.is_input() && result.item == i; });
      const std::size_t index = finder_.size();
      finder_.add_input(found == results.end() ? std::nullopt
                                               : std::optional(static_cast<std::size_t>(found - results.begin())));
      records_.emplace_back();
      noises_.emplace_back();
      memory_.write(tensor, {index});
    });
  }
}

QuantisationNoise Pt2Judge::noise_of_reads(const std::vector<std::size_t>& reads) const {
  QuantisationNoise noise;
  for (const std::size_t read : reads)
    noise.merge(noises_[read]);
  return noise;
}

void Pt2Judge::add(Record record, DType dtype, std::vector<std::size_t> reads, const std::vector<double>* reals,
                   QuantisationNoise noise) {
  const double scale = noise.scale;
  const std::size_t own_depth = noise.bits != 0 ? 1 : 0;
  noise.merge(noise_of_reads(reads));
  noise.depth += own_depth;
  noise.scale = scale;
  noises_.push_back(noise);
  // Quantised results of delegates stand for numbers.
  const DType judged = record.node.node && !is_floating(dtype) ? DType::kFloat32 : dtype;
  compare::WatchedResult result{compare::operator_family(record.node.name), std::move(reads)};
  if (reals == nullptr) {
    finder_.add(std::move(result), nullptr);
  } else {
    Probe probe(*traces_.back(), *step_->plan, *reals, record.shape, judged, noise, step_index_);
    finder_.add(std::move(result), &probe);
  }
  records_.push_back(std::move(record));
}

// An operator's results are its last argument: a tensor or a list of them.
Result<void> Pt2Judge::after_operator(const ResultPlace& place, const runtime::Instruction& watched,
                                      const runtime::Instruction&) {
  if (watched.args.empty()) return {};
  std::vector<const Tensor*> outputs;
  for_each_tensor(watched.args.back(), [&](const Tensor& tensor) { outputs.push_back(&tensor); });
  std::vector<std::size_t> reads;
  const bool overwrites = watched.name.starts_with("aten::copy_");
  for (std::size_t i = overwrites ? 1 : 0; i + 1 < watched.args.size(); ++i) {
    for_each_tensor(watched.args[i], [&](const Tensor& tensor) {
      const bool is_output = std::ranges::find(outputs, &tensor) != outputs.end();
      if (!is_output || (i == 0 && !overwrites)) memory_.collect(tensor, reads);
    });
  }
  for (const Tensor* output : outputs) {
    if (output->is_constant()) continue;
    Record record{place.visit, node_at(place), output->shape(), "want"};
    record.node.name = watched.name;
    record.node.output = output->describe();
    for (std::size_t i = 0; i < watched.args.size(); ++i)
      if (watched.args[i]->tensor() == output) record.want_key = fmt::format("want_{}", i);
    std::vector<double> reals;
    const bool comparable = !is_complex(output->dtype()) && !traces_.back()->trace().results.empty();
    if (comparable) reals = compare::read_elements(*output);
    const std::size_t index = finder_.size();
    add(std::move(record), output->dtype(), reads, comparable ? &reals : nullptr,
        operator_noise(watched.name, output->dtype()));
    memory_.write(*output, {index});
  }
  return {};
}

Result<void> Pt2Judge::begin_delegate(const ResultPlace&, const PayloadGraph& graph, const backends::WatchedCall&,
                                      std::span<Value* const> args) {
  graph_ = &graph;
  args_ = args;
  next_node_ = 0;
  value_sources_.assign(graph.values.size(), {});
  for (const ValueIndex input : graph.inputs) {
    const std::uint32_t position = graph.values[input].external_id;
    if (position >= args.size()) continue;
    for_each_tensor(args[position], [&](const Tensor& tensor) { memory_.collect(tensor, value_sources_[input]); });
  }
  return {};
}

// Nodes that were not visited hand on where their operands come from.
void Pt2Judge::pass_through(std::size_t end_node) {
  for (; next_node_ < end_node; ++next_node_) {
    const xnnpack_payload::Node& node = graph_->nodes[next_node_];
    for (const ValueIndex output : node.output_ids()) {
      std::vector<std::size_t>& sources = value_sources_[output];
      if (!sources.empty()) continue;
      for (const ValueIndex input : node.input_ids())
        if (input != kNoValue)
          sources.insert(sources.end(), value_sources_[input].begin(), value_sources_[input].end());
      std::ranges::sort(sources);
      const auto [first, last] = std::ranges::unique(sources);
      sources.erase(first, last);
    }
  }
}

Result<void> Pt2Judge::visit_node(const ResultPlace& place, const backends::interpreter::NodeCheck& check) {
  pass_through(check.position);
  std::vector<std::size_t> reads;
  for (const ValueIndex input : check.node->input_ids())
    if (input != kNoValue) reads.insert(reads.end(), value_sources_[input].begin(), value_sources_[input].end());
  std::ranges::sort(reads);
  const auto [first, last] = std::ranges::unique(reads);
  reads.erase(first, last);
  Record record{place.visit, node_at(place), *check.output.shape, "want"};
  record.node.name = node_kind_name(check.node->kind);
  record.node.output = std::string(dtype_name(check.dtype)) + check.output.shape->to_string();
  const std::size_t index = finder_.size();
  add(std::move(record), check.dtype, std::move(reads), check.output.reals,
      node_noise(*graph_, *check.node, check.output.value));
  value_sources_[check.output.value] = {index};
  return {};
}

Result<void> Pt2Judge::end_delegate(const ResultPlace&) {
  pass_through(graph_->nodes.size());
  for (const ValueIndex output : graph_->outputs) {
    const std::uint32_t position = graph_->values[output].external_id;
    if (position >= args_.size()) continue;
    for_each_tensor(args_[position], [&](const Tensor& tensor) { memory_.write(tensor, value_sources_[output]); });
  }
  return {};
}

Result<void> Pt2Judge::end_step(const PreparedStep&, const runtime::Method& watched) {
  std::size_t position = 0;
  for (std::size_t i = 0; i < watched.outputs().size(); ++i) {
    if (watched.output(i).is_none()) continue;
    OutputRecord record{step_index_, position++, {}};
    for_each_tensor(&watched.output(i), [&](const Tensor& tensor) { memory_.collect(tensor, record.results); });
    outputs_.push_back(std::move(record));
  }
  return {};
}

report::DivergeNode Pt2Judge::compared_node(std::size_t result, const compare::Counterpart& counterpart) const {
  const TracedStep& step = *traces_[counterpart.step];
  report::DivergeNode node = records_[result].node;
  node.reference = step.trace().results[counterpart.reference].describe();
  node.max_abs = counterpart.max_abs;
  node.largest = step.largest(counterpart.reference);
  node.allowed = counterpart.allowed;
  node.pass = node.max_abs <= node.allowed;
  return node;
}

Result<void> Pt2Judge::judge(std::span<const report::ComparisonReport> comparisons, const NodeJudge& nodes,
                             report::DivergeReport& report, std::optional<Keep>& keep) const {
  report::DivergeMapping& mapping = report.mapping.emplace();
  mapping.arithmetic_compared = nodes.compared_nodes();
  mapping.arithmetic_diverging = report.diverging;
  std::map<std::pair<std::string, std::string>, std::size_t> skipped;
  for (const auto& step : traces_) {
    mapping.traced += static_cast<std::size_t>(std::ranges::count_if(
        step->trace().results, [](const reference::TracedResult& result) { return !result.is_input(); }));
    for (const reference::TraceSkipped& item : step->trace().skipped)
      ++skipped[{item.target, item.reason}];
  }
  for (const auto& [key, count] : skipped)
    report.skipped.push_back({key.first, key.second, count});
  std::vector<compare::CounterpartFinder::WrongOutput> wrong;
  for (const report::ComparisonReport& item : comparisons) {
    if (item.comparison.pass) continue;
    mapping.outputs_agree = false;
    for (const OutputRecord& output : outputs_) {
      if (output.step != item.step || output.position != item.output) continue;
      const auto& references = traces_[output.step]->trace().outputs;
      for (const std::size_t result : output.results)
        wrong.push_back({result, output.position < references.size() ? references[output.position] : std::nullopt});
    }
  }
  const compare::CounterpartVerdict verdict = finder_.judge(wrong);
  mapping.mapped = verdict.mapped;
  mapping.unmapped = verdict.unmapped;
  report.compared = verdict.mapped + verdict.diverging;
  report.diverging = verdict.diverging;
  report.worst.clear();
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const auto& counterpart = finder_.counterpart(i);
    if (counterpart && counterpart->max_abs > 0) report.worst.push_back(compared_node(i, *counterpart));
  }
  if (verdict.first) PTERUN_TRY(describe_first(verdict, nodes, report, keep));
  sort_by_share(report.worst);
  if (verdict.first || !report.first) return {};
  // Right by the .pt2, and yet a node's arithmetic is off by more than its share.
  mapping.cause = report::DivergeCause::kKernel;
  report.first->arithmetic = {report.first->max_abs, report.first->allowed, false};
  return {};
}

Result<void> Pt2Judge::describe_first(const compare::CounterpartVerdict& verdict, const NodeJudge& nodes,
                                      report::DivergeReport& report, std::optional<Keep>& keep) const {
  const compare::CounterpartVerdict::First& first = *verdict.first;
  report::DivergeMapping& mapping = *report.mapping;
  const Record& record = records_[first.watched];
  const Record& closing = records_[first.closing];
  keep.emplace();
  keep->inputs_of = record.visit;
  keep->result_of = closing.visit;
  report::DivergeNode node = record.node;
  node.max_abs = std::numeric_limits<double>::quiet_NaN();
  if (first.expected) {
    node = compared_node(first.watched, *first.expected);
    const reference::TracedResult& want = traces_[first.expected->step]->trace().results[first.expected->reference];
    PTERUN_ASSIGN(keep->want, compare::rearranged(want.tensor, first.expected->arrangement, closing.shape));
    keep->want_key = closing.want_key;
    report.worst.push_back(node);
  }
  node.pass = false;
  const auto& results = traces_[node.step]->trace().results;
  if (first.last_agreeing) mapping.last_agreeing = results[*first.last_agreeing].describe();
  if (first.first_disagreeing) mapping.first_disagreeing = results[*first.first_disagreeing].describe();
  if (first.closing != first.watched) {
    mapping.through = fmt::format("{} (instruction {}", closing.node.name, closing.node.instruction);
    if (closing.node.node)
      mapping.through += fmt::format(", delegate {}, node {}", *closing.node.delegate, *closing.node.node);
    mapping.through += ")";
  }
  const report::DivergeNode* own = node.node ? nodes.find(record.visit) : nullptr;
  if (own != nullptr) node.arithmetic = {own->max_abs, own->allowed, own->pass};
  mapping.cause = cause_of(first, nodes);
  report.first = std::move(node);
  return {};
}

// Of one result or of all that together stand for one operator of the .pt2.
report::DivergeCause Pt2Judge::cause_of(const compare::CounterpartVerdict::First& first, const NodeJudge& nodes) const {
  bool all_judged = true;
  for (std::size_t i = first.watched; i <= first.closing; ++i) {
    if (i != first.closing && finder_.counterpart(i)) continue;
    const report::DivergeNode* own = records_[i].node.node ? nodes.find(records_[i].visit) : nullptr;
    if (own != nullptr && !own->pass) return report::DivergeCause::kKernel;
    all_judged = all_judged && own != nullptr;
  }
  return all_judged ? report::DivergeCause::kProgram : report::DivergeCause::kUnknown;
}

}  // namespace pterun::app
