// The course of a run. Nothing is loaded before all options are checked, nothing is executed before all inputs fit and
// every reference file could be read.
#include "pterun/session/run_session.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/clock.h"
#include "pterun/catalogue.h"
#include "pterun/diverge/divergence.h"
#include "pterun/node/node_command.h"
#include "pterun/session/host.h"
#include "pterun/session/inert_settings.h"
#include "pterun/session/interrupt.h"
#include "pterun/session/load_events.h"
#include "pterun/session/plan_manifest.h"
#include "pterun/session/progress.h"
#include "pterun/session/report_parts.h"
#include "pterun/session/verdict.h"
#include "runtime/output_scale.h"
#include "tensor/host_copy.h"
#include "tensor/io/npz.h"

namespace pterun::app {
RunSession::RunSession(const config::Plan& plan, bool hash_files, EventLog& events, Deadline& deadline,
                       Execution execution)
    : plan_(plan),
      hash_files_(hash_files),
      deadline_(deadline),
      execution_(std::move(execution)),
      events_(events),
      log_(events) {}
RunSession::~RunSession() = default;

void RunSession::run(report::RunReport& report) {
  auto result = run_all(report);
  if (!result) report.error = std::move(result).error();
  if (program_ != nullptr && options_ != nullptr) options_->collect(*program_, !report.error);
  describe(report);
  if (!report.error) {
    auto verdict = judge(report);
    if (!verdict) report.error = std::move(verdict).error();
  }
  deadline_.enter("hashing files");
  if (hash_files_) hash(report);
  report.warnings = log_.warnings;
  settle(report);
}

Result<void> RunSession::run_all(report::RunReport& report) {
  PTERUN_ASSIGN(backends_, make_backend_registry());
  operators_ = make_operators();
  PTERUN_ASSIGN(OptionSession options, OptionSession::check(plan_.options, backends_, log_));
  options_ = std::make_unique<OptionSession>(std::move(options));
  if (plan_.models.size() != 1) {
    return fail(
        make_error(ErrorCode::kUsage, "run takes one model, " + std::to_string(plan_.models.size()) + " were given")
            .with_hint("pterun run MODEL.pte, or \"model\" in the config"));
  }
  deadline_.enter("loading");
  PTERUN_TRY(load(report));
  deadline_.enter("reading inputs and references");
  PTERUN_TRY(prepare_steps());
  PTERUN_TRY(references_.prepare(
      plan_, {loader_.get(), &operators_, threads_.get(), &log_, program_->program().verification()}, steps_));
  warn_about_inert();
  // The inputs are read and the program is loaded: what that took is no part of what running takes. A small process
  // keeps its code: mapping it again would be the larger part of its first inference.
  io::release_npz_library();
  constexpr std::int64_t kSmallProcessBytes = 16 << 20;
  if (resident_bytes() > kSmallProcessBytes) release_code_pages();
  deadline_.enter("executing");
  if (execution_) return execution_(*this, report);
  PTERUN_TRY(execute(report));
  return *plan_.diverge ? diverge(report) : Result<void>{};
}

Result<void> RunSession::diverge(report::RunReport& report) {
  deadline_.enter("looking for a divergence");
  DivergenceRequest request;
  request.walk = {&request_, "", &operators_, threads_.get(), &log_, steps_};
  request.inputs_file = *plan_.diverge_inputs;
  if (request.inputs_file.empty()) {
    request.inputs_file = std::filesystem::path(request_.path).stem().string() + ".diverge.npz";
  }
  for (const PreparedStep& step : steps_) {
    if (step.plan->reference->starts_with("pte:")) request.walk.reference_program = step.plan->reference->substr(4);
  }
  request.comparisons = report.comparisons;
  PTERUN_ASSIGN(report.diverge, find_divergence(request));
  if (report.diverge->first) report.diverge->command = node_command(report.manifest, plan_, *report.diverge);
  return {};
}

Result<StepInputs> RunSession::inputs_with_seed(const PreparedStep& step, std::uint64_t seed) const {
  return resolve_inputs(*step.plan, *step.method, bundle_.get(), static_cast<std::size_t>(*plan_.bundled_case), seed);
}

Result<void> RunSession::load(report::RunReport& report) {
  threads_ = std::make_unique<ThreadPool>(plan_.threads.value ? static_cast<std::size_t>(*plan_.threads.value)
                                                              : ThreadPool::default_threads());
  report.manifest.threads = threads_->threads();
  PTERUN_TRY(options_->apply_process_wide());
  request_.path = *plan_.models.front();
  for (const auto& file : plan_.data_files)
    request_.data_paths.push_back(*file);
  request_.verification =
      *plan_.verify == config::Verify::kFull ? program::Verification::kFull : program::Verification::kMinimal;
  request_.verify_caches = *plan_.verify_cache;
  PTERUN_ASSIGN(request_.options, options_->load_options());
  loader_ = std::make_unique<runtime::Loader>(backends_, operators_, *threads_, log_);
  note_memory(report, "before_load", nullptr);
  const std::int64_t begin_ns = now_ns();
  PTERUN_ASSIGN(program_, loader_->load(request_));
  for (const config::StepPlan& step : plan_.steps) {
    PTERUN_ASSIGN(const std::string name, choose_method(program_->program(), *step.method));
    auto method = program_->load_method(name);
    if (!method && step.method.given()) {
      return fail(std::move(method).error().at("source", step.method.origin.describe()));
    }
    if (!method) return fail(std::move(method).error());
    PreparedStep prepared;
    prepared.plan = &step;
    prepared.method = *method;
    steps_.push_back(std::move(prepared));
  }
  PTERUN_TRY(options_->apply_actions());
  const auto keeps_weights = [](const options::CheckedOption& option) { return option.key == "packed_cache_path"; };
  if (*plan_.verify_cache && std::ranges::none_of(options_->checked().load, keeps_weights)) {
    log_.warn({"verify_cache_unused", "--verify-cache has nothing to check: no cache file is given",
               "give --load-option XnnpackBackend.packed_cache_path=FILE, or leave it out"});
  }
  report.timing.load_ns = now_ns() - begin_ns;
  note_memory(report, "after_load", program_.get());
  if (events_.wanted()) tell_loaded(options_->reports(), *program_, events_);
  return {};
}

Result<std::unique_ptr<runtime::LoadedProgram>> RunSession::load_profiled() const {
  runtime::LoadRequest request = request_;
  request.profile_nodes = true;
  PTERUN_ASSIGN(auto program, loader_->load(request));
  for (const PreparedStep& step : steps_) {
    PTERUN_ASSIGN([[maybe_unused]] const runtime::Method* method, program->load_method(step.method->name()));
  }
  return program;
}

Result<void> RunSession::prepare_steps() {
  const std::string& path = *plan_.models.front();
  if (program_->program().is_bundled()) {
    PTERUN_ASSIGN(bundle_, program::BundledProgram::open(path));
  }
  for (PreparedStep& step : steps_) {
    PTERUN_ASSIGN(step.inputs, resolve_inputs(*step.plan, *step.method, bundle_.get(),
                                              static_cast<std::size_t>(*plan_.bundled_case), *plan_.seed));
    PTERUN_TRY(set_inputs(*step.method, step.inputs));
  }
  return {};
}

void RunSession::warn_about_inert() {
  CallFacts facts;
  facts.bundled = bundle_ != nullptr;
  facts.one_execution = !execution_ && *plan_.iterations == 1;
  for (const PreparedStep& step : steps_) {
    const std::string& spec = *step.plan->reference;
    facts.generated_inputs = facts.generated_inputs || step.inputs.generated;
    facts.live_reference = facts.live_reference || spec == "executorch" || spec.starts_with("eager:");
  }
  warn_about_inert_flags(plan_, facts, log_);
}

Result<void> RunSession::execute_once() {
  for (PreparedStep& step : steps_) {
    // Steps of one method share its input slots, so each sets its own.
    if (steps_.size() > 1) PTERUN_TRY(set_inputs(*step.method, step.inputs));
    PTERUN_TRY(step.method->execute());
  }
  return {};
}

Result<void> RunSession::execute(report::RunReport& report) {
  const auto reset = [this]() -> Result<void> {
    for (const auto& method : program_->methods())
      PTERUN_TRY(method->reset_state());
    return {};
  };
  Progress progress(*plan_.output.progress, *plan_.warmup + *plan_.iterations);
  const auto timed = [&]() -> Result<std::int64_t> {
    PTERUN_TRY(check_interrupt());
    const std::int64_t begin_ns = now_ns();
    PTERUN_TRY(execute_once());
    const std::int64_t elapsed_ns = now_ns() - begin_ns;
    if (report.timing.first_ns == 0) report.timing.first_ns = std::max<std::int64_t>(elapsed_ns, 1);
    progress.advance();
    return elapsed_ns;
  };
  for (std::uint64_t i = 0; i < *plan_.warmup; ++i) {
    PTERUN_ASSIGN(const std::int64_t elapsed_ns, timed());
    events_.emit("executed", {{"phase", "warmup"}, {"iteration", i}, {"elapsed_ns", elapsed_ns}});
  }
  // What is compared starts from the state after loading, whatever the warm-up did.
  if (*plan_.warmup > 0) PTERUN_TRY(reset());
  for (std::uint64_t i = 0; i < *plan_.iterations; ++i) {
    if (i > 0 && *plan_.fresh_state) PTERUN_TRY(reset());
    if (i == 0) {
      // The reported execution: outputs are kept step by step, since a later step may overwrite shared memory.
      PTERUN_TRY(keep_outputs(report));
      progress.advance();
      continue;
    }
    PTERUN_ASSIGN(const std::int64_t elapsed_ns, timed());
    report.timing.steady_ns.push_back(elapsed_ns);
    events_.emit("executed", {{"phase", "measured"}, {"iteration", i}, {"elapsed_ns", elapsed_ns}});
  }
  note_memory(report, "steady", program_.get());
  report.memory["peak_rss_bytes"] = peak_resident_bytes();
  return {};
}

Result<void> RunSession::keep_outputs(report::RunReport& report) {
  PTERUN_TRY(check_interrupt());
  std::int64_t total_ns = 0;
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    PreparedStep& step = steps_[index];
    if (steps_.size() > 1) PTERUN_TRY(set_inputs(*step.method, step.inputs));
    const std::int64_t begin_ns = now_ns();
    PTERUN_TRY(step.method->execute());
    const std::int64_t elapsed_ns = now_ns() - begin_ns;
    total_ns += elapsed_ns;
    events_.emit("step", {{"step", index}, {"method", step.method->name()}, {"elapsed_ns", elapsed_ns}});
    for (std::size_t i = 0; i < step.method->outputs().size(); ++i) {
      const Value& output = step.method->output(i);
      if (output.is_none()) continue;
      PTERUN_ASSIGN(HostTensor copy, host_copy(output));
      report.outputs.push_back(describe_output(index, *step.method, step.outputs.size(), output, copy.view(),
                                               *plan_.output.print, hash_files_));
      step.outputs.push_back(std::move(copy));
      step.output_scales.push_back(step.source == nullptr ? std::nullopt : runtime::output_scale(*step.method, i));
    }
  }
  if (report.timing.first_ns == 0) {
    report.timing.first_ns = std::max<std::int64_t>(total_ns, 1);
  } else {
    report.timing.steady_ns.push_back(total_ns);
  }
  deadline_.enter("comparing with the reference");
  PTERUN_TRY(compare_with_references(steps_, events_, report));
  deadline_.enter("executing");
  return {};
}

Result<void> RunSession::judge(report::RunReport& report) const {
  std::string failed = failed_comparisons(report);
  if (report.diverge && report.diverge->first) {
    const report::DivergeNode& first = *report.diverge->first;
    failed +=
        fmt::format("{}{} at instruction {} of '{}' is the first of {} to exceed its share of the tolerance",
                    failed.empty() ? "" : "; ", first.name, first.instruction, first.method, report.diverge->diverging);
  }
  if (!failed.empty()) return fail(ErrorCode::kMismatch, failed);
  return options_->require(*plan_.options.require_evidence);
}

void RunSession::describe(report::RunReport& report) {
  describe_plan(plan_, options_ == nullptr ? nullptr : &options_->checked(), report.manifest);
  report.manifest.versions = version_facts();
  if (hash_files_) report.manifest.host = host_facts();
  report.manifest.verification = *plan_.verify == config::Verify::kFull ? "full" : "minimal";
  report.required_evidence = required_evidence(plan_.options);
  if (options_ != nullptr) report.options = options_->reports();
  if (program_ == nullptr) return;
  report.manifest.files.push_back({"model", program_->program().path(), program_->program().file_bytes(), ""});
  report.load = describe_load(*program_);
  std::set<const runtime::Method*> described;
  for (const PreparedStep& step : steps_) {
    if (!described.insert(step.method).second) continue;
    report.methods.push_back(describe_method(*step.method, step.inputs, hash_files_));
  }
  warn_without_delegate(*program_, log_);
}

void RunSession::hash(report::RunReport& report) const {
  const auto add = [&](const std::string& role, const std::string& path) {
    const bool known = std::ranges::any_of(report.manifest.files, [&](const auto& file) { return file.path == path; });
    if (!known && !path.empty()) report.manifest.files.push_back({role, path, 0, ""});
  };
  for (const auto& file : plan_.data_files)
    add("data", *file);
  for (const PreparedStep& step : steps_) {
    for (const std::string& path : step.inputs.files)
      add("inputs", path);
    add("reference", reference_file(*step.plan->reference));
  }
  add("config", *plan_.config_file);
  hash_files(report.manifest);
}

}  // namespace pterun::app
