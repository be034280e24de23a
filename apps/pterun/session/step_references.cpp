// From a reference's spec to its source, and from outputs to comparisons.
#include "pterun/session/step_references.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "compare/accuracy.h"
#include "pterun/catalogue.h"
#include "pterun/session/interrupt.h"
#include "pterun/session/live_processes.h"
#include "pterun/session/report_parts.h"
#include "tensor/io/tensor_file.h"

namespace pterun::app {
namespace {

Result<void> check_kind(const config::StepPlan& plan) {
  const std::string& spec = *plan.reference;
  if (!plan.reference_kind.given() || (!spec.empty() && reference_file(spec) == spec)) return {};
  return fail(
      make_error(ErrorCode::kUsage, fmt::format("a reference kind says what a file holds; {}",
                                                spec.empty() ? "there is no reference" : "the reference is " + spec))
          .at("source", plan.reference_kind.origin.describe()));
}

Result<void> compare_step(std::size_t index, const PreparedStep& step, const reference::Expected& expected,
                          EventLog& events, report::RunReport& report) {
  if (expected.outputs.size() != step.outputs.size()) {
    return fail(make_error(ErrorCode::kReference,
                           fmt::format("the reference {} holds {} outputs, method '{}' gives {}", expected.description,
                                       expected.outputs.size(), step.method->name(), step.outputs.size()))
                    .at("method", step.method->name()));
  }
  for (const reference::ExpectedOutput& want : expected.outputs) {
    if (want.position >= step.outputs.size()) {
      return fail(ErrorCode::kReference,
                  fmt::format("the reference {} holds output {}, method '{}' gives {} outputs", expected.description,
                              want.position, step.method->name(), step.outputs.size()));
    }
    const Tensor& got = step.outputs[want.position].view();
    PTERUN_TRY(compare::check_comparable(std::to_string(want.position), got, want.tensor.view()));
    PTERUN_ASSIGN(const compare::Tolerance tolerance, tolerance_for(*step.plan, want.position, got.dtype()));
    report::ComparisonReport item{
        index, step.method->name(),  want.position,
        "",    expected.description, compare::compare_tensors(got, want.tensor.view(), tolerance),
        "",    std::nullopt};
    item.reference_kind = step.plan->reference_kind->empty() ? std::string(reference::kind_name(expected.kind))
                                                             : *step.plan->reference_kind;
    item.quanta = quanta_of(item.comparison.metrics, got.dtype(), step.output_scales[want.position]);
    tell(item, events);
    report.comparisons.push_back(std::move(item));
  }
  return {};
}

Result<void> count_correct(std::size_t index, const PreparedStep& step, report::RunReport& report) {
  const std::string& spec = *step.plan->labels;
  if (spec.empty()) return {};
  if (step.outputs.empty()) return fail(ErrorCode::kReference, "--labels needs an output, the method gives none");
  auto labels = io::read_one_tensor(spec);
  if (!labels) return fail(std::move(labels).error().at("source", step.plan->labels.origin.describe()));
  auto accuracy = compare::top1_accuracy(step.outputs.front().view(), labels->tensor.view());
  if (!accuracy) return fail(std::move(accuracy).error().at("source", step.plan->labels.origin.describe()));
  report.accuracy.push_back({index, step.method->name(), 0, spec, accuracy->correct, accuracy->total});
  return {};
}

}  // namespace

// Integers are steps themselves; floats come from steps of the scale.
std::optional<report::Quanta> quanta_of(const compare::Metrics& metrics, DType dtype, std::optional<double> scale) {
  if (!scale || !(*scale > 0)) return std::nullopt;
  const double step = is_floating(dtype) ? *scale : 1.0;
  return report::Quanta{*scale, metrics.max_abs / step, metrics.mean_abs / step};
}

void tell(const report::ComparisonReport& item, EventLog& events) {
  events.emit("comparison", {{"step", item.step},
                             {"method", item.method},
                             {"output", item.output},
                             {"reference", item.reference},
                             {"pass", item.comparison.pass},
                             {"max_abs", item.comparison.metrics.max_abs},
                             {"reason", item.comparison.reason}});
}

Result<void> StepReferences::prepare(const config::Plan& plan, const ReferenceParts& parts,
                                     std::span<PreparedStep> steps) {
  const auto asks_nothing = [](const PreparedStep& step) {
    return step.plan->reference->empty() && !step.plan->reference_kind.given();
  };
  if (std::ranges::all_of(steps, asks_nothing)) return {};
  reference::SourceContext context;
  context.model_path = *plan.models.front();
  for (const auto& file : plan.data_files)
    context.data_paths.push_back(*file);
  context.bundled_case = static_cast<std::size_t>(*plan.bundled_case);
  context.python = *plan.python;
  context.python_timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*plan.python_timeout_s * 1000));
  context.check_interrupt = &check_interrupt;
  context.note_process = &note_live_process;
  context.loader = parts.loader;
  PTERUN_ASSIGN(backends_, make_interpreter_registry());
  interpreter_ = std::make_unique<runtime::Loader>(backends_, *parts.operators, *parts.threads, *parts.log);
  context.interpreter = interpreter_.get();
  context.verification = parts.verification;
  context.log = parts.log;
  for (PreparedStep& step : steps) {
    PTERUN_TRY(check_kind(*step.plan));
    const std::string& spec = *step.plan->reference;
    if (spec.empty()) continue;
    const auto known = std::ranges::find(sources_, spec, [](const auto& entry) { return entry.first; });
    if (known != sources_.end()) {
      step.source = known->second.get();
      continue;
    }
    auto source = reference::make_source(spec, reference_kinds(), context);
    if (!source) return fail(std::move(source).error().at("source", step.plan->reference.origin.describe()));
    sources_.emplace_back(spec, *std::move(source));
    step.source = sources_.back().second.get();
  }
  return {};
}

Result<void> compare_with_references(std::span<const PreparedStep> steps, EventLog& events, report::RunReport& report) {
  for (std::size_t index = 0; index < steps.size(); ++index) {
    const PreparedStep& step = steps[index];
    PTERUN_TRY(count_correct(index, step, report));
    if (step.source == nullptr) continue;
    PTERUN_ASSIGN(const std::vector<reference::StepInput> inputs, copy_inputs(step.inputs));
    auto expected = step.source->expected(*step.method, inputs);
    if (!expected) return fail(std::move(expected).error().at("source", step.plan->reference.origin.describe()));
    PTERUN_TRY(compare_step(index, step, *expected, events, report));
  }
  return {};
}

}  // namespace pterun::app
