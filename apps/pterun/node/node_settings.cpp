// The settings, one line each.
#include "pterun/node/node_settings.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace pterun::app {
namespace {

using config::Origin;

constexpr const char* kDefaults = "a node runs with a backend's default options";

struct Unused {
  const Origin* origin;
  const char* reason;
};

std::vector<Unused> unused_settings(const config::Plan& plan) {
  const config::StepPlan& step = plan.steps.front();
  constexpr const char* kOnce = "it runs once, from the state that its inputs are";
  constexpr const char* kFile = "a node's inputs come from --inputs FILE or are generated";
  constexpr const char* kSearch = "which node is off is known";
  constexpr const char* kPython = "no reference is computed by Python";
  std::vector<Unused> rows = {
      {&plan.diverge.origin, kSearch},
      {&plan.diverge_inputs.origin, kSearch},
      {&plan.iterations.origin, kOnce},
      {&plan.warmup.origin, kOnce},
      {&plan.fresh_state.origin, kOnce},
      {&plan.options.raw.origin, kDefaults},
      {&plan.options.allow_unknown.origin, kDefaults},
      {&plan.options.require_evidence.origin, kDefaults},
      {&plan.verify_cache.origin, kDefaults},
      {&plan.bundled_case.origin, kFile},
      {&step.labels.origin, "labels go with the outputs of a method"},
      {&step.reference_kind.origin, "it says what a reference file holds"},
      {&plan.python.origin, kPython},
      {&plan.python_timeout_s.origin, kPython},
  };
  for (const config::InputPlan& input : step.inputs)
    rows.push_back({&input.origin, kFile});
  for (const config::ShapePlan& shape : step.shapes)
    rows.push_back({&shape.origin, kFile});
  for (const config::DimOrderPlan& order : step.input_dim_orders)
    rows.push_back({&order.origin, kFile});
  if (!step.inputs_file->empty()) rows.push_back({&plan.seed.origin, "no input is generated"});
  return rows;
}

Error no_use(const std::string& what, const char* reason) {
  return make_error(ErrorCode::kUsage, fmt::format("{} has no use with --node: {}", what, reason))
      .with_hint("leave it out, or run the whole method without --node");
}

Result<void> check_unused(const Unused& setting, LogSink& log) {
  switch (setting.origin->kind) {
    case Origin::Kind::kDefault:
    case Origin::Kind::kEnvironment: return {};
    case Origin::Kind::kConfig:
      log.warn({"inert_setting",
                fmt::format("{} has no use with --node: {}", setting.origin->describe(), setting.reason), ""});
      return {};
    case Origin::Kind::kOverride:
    case Origin::Kind::kFlag: break;
  }
  return fail(no_use(setting.origin->describe(), setting.reason));
}

}  // namespace

Result<void> check_node_settings(const config::Plan& plan, LogSink& log) {
  if (plan.models.size() != 1) {
    return fail(make_error(ErrorCode::kUsage, "run takes one model, none was given")
                    .with_hint("pterun run MODEL.pte --node INSTRUCTION:NODE"));
  }
  if (plan.steps.size() != 1) {
    return fail(make_error(ErrorCode::kUsage,
                           fmt::format("--node runs one node of one method, {} steps were given", plan.steps.size()))
                    .with_hint("choose the method with --method NAME"));
  }
  for (const Unused& setting : unused_settings(plan))
    PTERUN_TRY(check_unused(setting, log));
  for (const options::OptionRequest& request : plan.options.requests) {
    if (request.source.starts_with("--")) return fail(no_use(request.source, kDefaults));
    log.warn({"inert_setting", fmt::format("{} has no use with --node: {}", request.source, kDefaults), ""});
  }
  const config::Setting<std::string>& reference = plan.steps.front().reference;
  if (reference->empty() || *reference == "interpreter" || reference->starts_with("pte:")) return {};
  return fail(
      make_error(ErrorCode::kUsage, fmt::format("the reference {} knows no single nodes", *reference))
          .with_hint("interpreter (the default for nodes) and pte:FILE do; a file's \"want\" goes with --inputs")
          .at("source", reference.origin.describe()));
}

}  // namespace pterun::app
