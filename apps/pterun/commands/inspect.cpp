// pterun inspect: what is in a program, what it needs and what of that is missing here. Loads and executes nothing.
#include "report/formats/inspect.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/thread_pool.h"
#include "config/settings.h"
#include "pterun/catalogue.h"
#include "pterun/commands/commands.h"
#include "pterun/session/host.h"
#include "pterun/session/inspect_session.h"
#include "pterun/session/output_files.h"
#include "pterun/session/plan_manifest.h"
#include "pterun/session/print_plan.h"
#include "pterun/session/report_parts.h"

namespace pterun::app {
namespace {

constexpr std::string_view kOperatorsFlag = "--operators";

// The plan of everything but --operators, which only this command knows.
Result<config::Plan> make_inspect_plan(Invocation& invocation) {
  const std::vector<config::FlagValue> all = invocation.flags;
  std::erase_if(invocation.flags, [](const config::FlagValue& value) { return value.flag == kOperatorsFlag; });
  auto plan = make_plan(invocation, config::Command::kInspect);
  invocation.flags = all;
  return plan;
}

Result<void> inspect(const config::Plan& plan, bool with_operators, bool hash, report::RunReport& report) {
  PTERUN_ASSIGN(const backend::BackendRegistry backends, make_backend_registry());
  const operators::OperatorRegistry operators = make_operators();
  report.inspect.emplace();
  if (!plan.models.empty()) {
    PTERUN_ASSIGN(*report.inspect, inspect_program(plan, backends, operators));
    report.manifest.files.push_back({"model", report.inspect->path, report.inspect->file_bytes, ""});
    report.manifest.verification = report.inspect->verification;
    const auto& threads = *plan.threads;
    report.manifest.threads = threads ? static_cast<std::size_t>(*threads) : ThreadPool::default_threads();
    report.inspect->threads = report.manifest.threads;
  }
  if (with_operators) report.inspect->operators = list_operators(operators);
  if (!hash) return {};
  for (report::FileIdentity& file : report.manifest.files) {
    PTERUN_ASSIGN(file.sha256, sha256_of_file(file.path));
  }
  return {};
}

}  // namespace

std::vector<config::FlagSpec> inspect_flags() {
  std::vector<config::FlagSpec> flags = config::plan_flags(config::Command::kInspect);
  config::FlagSpec operators;
  operators.name = kOperatorsFlag;
  operators.doc = "list every operator overload of this build with its dtypes; needs no MODEL";
  flags.push_back(operators);
  return flags;
}

Result<int> inspect_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_inspect_plan(invocation));
  if (plan.print_config) return print_plan(plan, config::Command::kInspect);
  const bool with_operators = invocation.find(kOperatorsFlag) != nullptr;
  if (plan.models.empty() && !with_operators) {
    return fail(make_error(ErrorCode::kUsage, "inspect needs a MODEL, a .pte or .bpte file, or --operators"));
  }
  PTERUN_ASSIGN(OutputFiles files, OutputFiles::open(plan.output));
  report::RunReport report = begin_report(report::Kind::kInspect, invocation);
  describe_plan(plan, nullptr, report.manifest);
  report.manifest.versions = version_facts();
  if (files.wants_report()) report.manifest.host = host_facts();
  PTERUN_TRY(inspect(plan, with_operators, files.wants_report(), report));
  PTERUN_TRY(files.write(report));
  invocation.report_written = files.wants_report();
  if (!files.owns_stdout()) fmt::print("{}", report::inspect_text(*report.inspect, *plan.output.verbosity));
  return 0;
}

}  // namespace pterun::app
