// The course of a run of one node.
#include "pterun/node/node_session.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/clock.h"
#include "compare/element_reader.h"
#include "pterun/catalogue.h"
#include "pterun/diverge/judge.h"
#include "pterun/node/delegate_node.h"
#include "pterun/node/node_settings.h"
#include "pterun/node/operator_call.h"
#include "pterun/session/host.h"
#include "pterun/session/plan_manifest.h"
#include "pterun/session/report_parts.h"
#include "pterun/session/step_references.h"
#include "pterun/session/verdict.h"
#include "runtime/stepping.h"

namespace pterun::app {
namespace {

constexpr std::string_view kProgramReference = "pte:";

double largest(const Tensor& tensor) {
  double result = 0;
  const compare::ElementReader reader(tensor);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    if (std::isfinite(reader.at(i))) result = std::max(result, std::abs(reader.at(i)));
  return result;
}

}  // namespace

void NodeSession::run(report::RunReport& report) {
  auto result = run_all(report);
  if (!result) report.error = std::move(result).error();
  describe(report);
  deadline_.enter("hashing files");
  if (hash_files_) hash_files(report.manifest);
  report.warnings = log_.warnings;
  settle(report);
}

Result<void> NodeSession::run_all(report::RunReport& report) {
  PTERUN_ASSIGN(target_, parse_node_target(plan_.node));
  PTERUN_TRY(check_node_settings(plan_, log_));
  operators_ = make_operators();
  threads_ = std::make_unique<ThreadPool>(plan_.threads.value ? static_cast<std::size_t>(*plan_.threads.value)
                                                              : ThreadPool::default_threads());
  report.manifest.threads = threads_->threads();
  deadline_.enter("loading");
  const std::int64_t begin_ns = now_ns();
  PTERUN_TRY(load(*plan_.models.front(), *plan_.steps.front().method, own_));
  const std::string& reference = *plan_.steps.front().reference;
  if (reference.starts_with(kProgramReference)) {
    PTERUN_TRY(load(reference.substr(kProgramReference.size()), own_.method->name(), reference_));
  }
  report.timing.load_ns = now_ns() - begin_ns;
  deadline_.enter("executing");
  report.node.emplace();
  PTERUN_ASSIGN(const NodeOutcome outcome, run_target(*report.node));
  deadline_.enter("comparing with the reference");
  return judge(outcome, report);
}

Result<void> NodeSession::load(const std::string& path, const std::string& method, Loaded& loaded) {
  PTERUN_TRY(loaded.backends.add(make_graph_keeper(loaded.graphs)));
  loaded.loader = std::make_unique<runtime::Loader>(loaded.backends, operators_, *threads_, log_);
  runtime::LoadRequest request;
  request.path = path;
  for (const auto& file : plan_.data_files)
    request.data_paths.push_back(*file);
  request.verification =
      *plan_.verify == config::Verify::kFull ? program::Verification::kFull : program::Verification::kMinimal;
  PTERUN_ASSIGN(loaded.program, loaded.loader->load(request));
  PTERUN_ASSIGN(const std::string name, choose_method(loaded.program->program(), method));
  PTERUN_ASSIGN(loaded.method, loaded.program->load_method(name));
  return {};
}

Result<NodeOutcome> NodeSession::run_target(report::NodeReport& node) {
  PTERUN_ASSIGN(const std::size_t step, find_instruction(target_, *own_.method, own_.graphs));
  describe_target(step, node);
  const std::string& path = *plan_.steps.front().inputs_file;
  std::optional<NodeFile> file;
  if (!path.empty()) {
    auto read = NodeFile::read(path);
    if (!read) return fail(std::move(read).error().at("source", plan_.steps.front().inputs_file.origin.describe()));
    file = *std::move(read);
  }
  const bool has_reference = reference_.method != nullptr;
  const std::string& reference = *plan_.steps.front().reference;
  if (!target_.node) {
    OperatorCallRequest request;
    request.method = own_.method;
    request.step = step;
    request.reference = reference_.method;
    request.reference_name = reference;
    request.file = file ? &*file : nullptr;
    request.seed = *plan_.seed;
    return run_operator_call(request);
  }
  const runtime::Instruction instruction = runtime::Stepper(*own_.method).at(step);
  const std::pair key{own_.method->name(), instruction.delegate};
  DelegateNodeRequest request;
  request.graph = &own_.graphs.at(key);
  request.reference = request.graph;
  if (has_reference) {
    const auto found = reference_.graphs.find(key);
    if (found == reference_.graphs.end()) {
      return fail(make_error(ErrorCode::kReference, fmt::format("{} has no delegate {} in its method '{}'", reference,
                                                                key.second, key.first)));
    }
    request.reference = &found->second;
  }
  request.reference_name = has_reference ? reference : "the interpreter";
  request.reference_kind = has_reference ? "program" : "interpreter";
  request.node = *target_.node;
  request.is_dynamic = std::ranges::any_of(instruction.args, [](const Value* argument) {
    return argument->tensor() != nullptr && argument->tensor()->is_dynamic();
  });
  request.file = file ? &*file : nullptr;
  request.seed = *plan_.seed;
  request.threads = threads_.get();
  request.log = &log_;
  return run_delegate_node(request);
}

void NodeSession::describe_target(std::size_t step, report::NodeReport& node) const {
  const runtime::Instruction instruction = runtime::Stepper(*own_.method).at(step);
  node.method = own_.method->name();
  node.instruction = target_.instruction;
  node.name = instruction.name;
  if (!target_.node) return;
  node.delegate = instruction.delegate;
  node.node = *target_.node;
  node.name = node_kind_name(own_.graphs.at({node.method, instruction.delegate}).nodes[*target_.node].kind);
}

Result<void> NodeSession::judge(const NodeOutcome& outcome, report::RunReport& report) {
  PreparedStep& step = steps_.emplace_back();
  step.plan = &plan_.steps.front();
  step.method = own_.method;
  for (const NodeInput& input : outcome.inputs) {
    report.node->inputs.push_back(describe_input(input.name, input.source, input.tensor.view(), hash_files_));
  }
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
    const NodeOutput& output = outcome.outputs[i];
    report::OutputReport described =
        describe_tensor(output.name, i, output.tensor.view(), *plan_.output.print, hash_files_);
    described.method = own_.method->name();
    report.outputs.push_back(std::move(described));
    PTERUN_ASSIGN(HostTensor copy, HostTensor::row_major_copy(output.tensor.view()));
    step.outputs.push_back(std::move(copy));
    for (const NodeExpectation& expectation : output.expectations) {
      PTERUN_ASSIGN(report::ComparisonReport item, compare(i, expectation));
      tell(item, events_);
      report.comparisons.push_back(std::move(item));
    }
  }
  if (report.comparisons.empty()) {
    log_.warn({"nothing_compared", "there is nothing to hold the result against",
               "give --reference pte:FILE, or an --inputs file that holds \"want\"; an operator has one implementation "
               "here"});
  }
  const std::string failed = failed_comparisons(report);
  return failed.empty() ? Result<void>{} : fail(ErrorCode::kMismatch, failed);
}

Result<report::ComparisonReport> NodeSession::compare(std::size_t output, const NodeExpectation& expectation) const {
  const Tensor& want = expectation.want.view();
  PTERUN_TRY(compare::check_comparable(std::to_string(output), expectation.got.view(), want));
  PTERUN_ASSIGN(compare::Tolerance tolerance, tolerance_for(plan_.steps.front(), output, expectation.judged));
  if (tolerance.bounds.empty()) {
    const double most = tolerance.atol + tolerance.rtol * largest(want) +
                        rounding_allowance(expectation.judged, expectation.rounding, largest(want));
    tolerance.bounds.push_back({"max_abs", true, most});
  }
  report::ComparisonReport item;
  item.method = own_.method->name();
  item.output = output;
  item.reference = expectation.reference;
  item.reference_kind = expectation.reference_kind;
  item.comparison = compare::compare_tensors(expectation.got.view(), want, tolerance);
  // Units in the last place of the double that a number was compared as say nothing about the result.
  if (expectation.got.view().dtype() != expectation.judged) item.comparison.metrics.max_ulp.reset();
  item.quanta = quanta_of(item.comparison.metrics, DType::kFloat64, expectation.scale);
  return item;
}

void NodeSession::describe(report::RunReport& report) {
  describe_plan(plan_, nullptr, report.manifest);
  report.manifest.versions = version_facts();
  if (hash_files_) report.manifest.host = host_facts();
  report.manifest.verification = *plan_.verify == config::Verify::kFull ? "full" : "minimal";
  if (own_.program == nullptr) return;
  const auto add = [&](const char* role, const std::string& path) {
    if (!path.empty()) report.manifest.files.push_back({role, path, 0, ""});
  };
  report.manifest.files.push_back({"model", own_.program->program().path(), own_.program->program().file_bytes(), ""});
  for (const auto& file : plan_.data_files)
    add("data", *file);
  add("inputs", *plan_.steps.front().inputs_file);
  add("reference", reference_file(*plan_.steps.front().reference));
  add("config", *plan_.config_file);
}

}  // namespace pterun::app
