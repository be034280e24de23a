// pterun options list, get and check: what backends accept, a value in force, and setting, reading back and restoring
// without a model.
#include <algorithm>

#include <fmt/format.h>

#include "options/check.h"
#include "options/typing.h"
#include "pterun/catalogue.h"
#include "pterun/commands/commands.h"
#include "pterun/session/host.h"
#include "pterun/session/option_round_trip.h"
#include "pterun/session/option_self_test.h"
#include "pterun/session/output_files.h"
#include "pterun/session/plan_manifest.h"
#include "pterun/session/print_plan.h"
#include "pterun/session/report_parts.h"
#include "pterun/session/terminal.h"
#include "report/formats/option_list.h"

namespace pterun::app {
namespace {

using options::OptionTable;

std::vector<const OptionTable*> tables_of(const backend::BackendRegistry& registry) {
  std::vector<const OptionTable*> tables;
  for (const std::string& name : registry.names())
    tables.push_back(&registry.find(name)->option_table());
  return tables;
}

// What stands in the list for one backend; `key` picks one option, "" all.
report::BackendOptions describe_backend(const backend::BackendRegistry& registry, const std::string& name,
                                        std::string_view key) {
  const backend::Backend* backend = registry.find(name);
  report::BackendOptions described{name, backend->is_available(), {}};
  for (const options::OptionSpec& spec : backend->option_table().specs) {
    if (!key.empty() && spec.key != key) continue;
    report::ListedOption option{spec, std::nullopt};
    if (spec.process_wide && !spec.action) {
      if (auto value = registry.get_option(name, spec.key)) option.current = *std::move(value);
    }
    described.options.push_back(std::move(option));
  }
  return described;
}

// Prints text, or writes the JSON document when one was asked for.
Result<void> print_result(const config::Plan& plan, const std::string& json, const std::string& text) {
  if (!plan.output.json.value.empty()) {
    PTERUN_ASSIGN(OutputFile file, OutputFile::open(plan.output.json, "--json"));
    PTERUN_TRY(file.write(json));
    if (file.is_stdout()) return {};
  }
  fmt::print("{}", text);
  return {};
}

std::string value_text(const options::OptionValue& value) {
  return value.as_string() != nullptr ? *value.as_string() : value.to_string();
}

// With verbosity 1 also what each option takes.
std::string check_text(const std::vector<report::OptionReport>& reports, const backend::BackendRegistry& registry,
                       int verbosity) {
  std::string text;
  const auto line = [&](std::string_view name, const std::optional<options::OptionValue>& value) {
    if (value) text += fmt::format("  {:<10} {}\n", name, value->to_string());
  };
  for (const report::OptionReport& option : reports) {
    const std::string_view path = option.action ? "action" : options::option_path_name(option.path);
    text += fmt::format("{}.{}  {}, from {}\n", option.backend, option.key, path, option.source);
    const backend::Backend* backend = verbosity > 0 ? registry.find(option.backend) : nullptr;
    const options::OptionSpec* spec = backend == nullptr ? nullptr : backend->option_table().find(option.key);
    if (spec != nullptr) text += fmt::format("  {:<10} {}\n", "takes", options::describe_domain(*spec));
    line("original", option.original);
    line(option.path == options::OptionPath::kGlobal ? "set" : "value", option.requested);
    line("read back", option.stored);
    line("restored", option.restored);
    for (const report::ShadowedRequest& shadowed : option.shadowed) {
      text += fmt::format("  {:<10} {} from {}\n", "over", shadowed.value.to_string(), shadowed.source);
    }
    text += fmt::format("  {:<10} {}\n", "evidence", report::evidence_name(option.evidence));
  }
  return text;
}

Result<int> self_test(const config::Plan& plan) {
  if (!plan.options.requests.empty()) {
    return fail(ErrorCode::kUsage,
                "--self-test makes its own options, expected none, found " + plan.options.requests.front().source);
  }
  PTERUN_ASSIGN(const backend::BackendRegistry registry, make_backend_registry());
  const std::vector<SelfTestCase> cases = self_test_options(registry);
  PTERUN_TRY(print_result(plan, self_test_json(cases), self_test_text(cases)));
  if (std::ranges::all_of(cases, &SelfTestCase::caught)) return 0;
  return fail(ErrorCode::kBug, "a wrong or inert option was not caught");
}

}  // namespace

Result<int> options_list_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kOptions));
  if (plan.print_config) return print_plan(plan, config::Command::kOptions);
  PTERUN_ASSIGN(const backend::BackendRegistry registry, make_backend_registry());
  std::vector<std::string> names = registry.names();
  if (const std::string* wanted = invocation.find("BACKEND")) {
    PTERUN_TRY(options::check_known_backend(*wanted, "BACKEND", tables_of(registry)));
    names = {*wanted};
  }
  std::vector<report::BackendOptions> backends;
  for (const std::string& name : names)
    backends.push_back(describe_backend(registry, name, ""));
  PTERUN_TRY(print_result(plan, report::option_list_json(backends),
                          report::option_list_text(backends, *plan.output.verbosity)));
  return 0;
}

Result<int> options_get_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kOptions));
  if (plan.print_config) return print_plan(plan, config::Command::kOptions);
  PTERUN_ASSIGN(const backend::BackendRegistry registry, make_backend_registry());
  const std::string& name = *invocation.find("BACKEND.KEY");
  PTERUN_ASSIGN(const options::OptionRequest request, options::parse_name(name, "BACKEND.KEY"));
  PTERUN_TRY(options::check_readable(request, tables_of(registry)));
  PTERUN_ASSIGN(const options::OptionValue value, registry.get_option(request.backend, request.key));
  const std::vector<report::BackendOptions> listed = {describe_backend(registry, request.backend, request.key)};
  const int verbosity = *plan.output.verbosity;
  std::string text = value_text(value) + "\n";
  if (verbosity < 0) text.clear();  // the exit code says whether it can be read
  if (verbosity > 0) text = report::option_list_text(listed, verbosity);
  PTERUN_TRY(print_result(plan, report::option_list_json(listed), text));
  return 0;
}

Result<int> options_check_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kOptions));
  if (plan.print_config) return print_plan(plan, config::Command::kOptions);
  if (invocation.find("--self-test") != nullptr) return self_test(plan);
  PTERUN_ASSIGN(OutputFiles files, OutputFiles::open(plan.output));
  PTERUN_ASSIGN(backend::BackendRegistry registry, make_backend_registry());
  CollectingLog log;
  report::RunReport report = begin_report(report::Kind::kOptions, invocation);
  const auto checked = check_round_trip(plan.options, registry, log, report.options);
  report.warnings = log.warnings;
  report.required_evidence = required_evidence(plan.options);
  if (!checked) {
    const bool evidence = checked.error().blame == Blame::kEvidence;
    report.status = evidence ? report::Status::kFail : report::Status::kError;
    report.exit_code = exit_code(checked.error());
    report.error = checked.error();
  }
  if (files.wants_report()) {
    report.manifest.versions = version_facts();
    report.manifest.host = host_facts();
    describe_plan(plan, nullptr, report.manifest);
    PTERUN_TRY(files.write(report));
    invocation.report_written = true;
  }
  print_warnings(report, *plan.output.verbosity);
  if (!files.owns_stdout() && *plan.output.verbosity >= 0) {
    fmt::print("{}", check_text(report.options, registry, *plan.output.verbosity));
  }
  if (!checked) return fail(checked.error());
  return 0;
}

}  // namespace pterun::app
