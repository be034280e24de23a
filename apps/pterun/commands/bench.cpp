// pterun bench: latency and memory of one configuration or of many.
#include <filesystem>

#include <fmt/format.h>

#include "base/sha256.h"
#include "pterun/commands/commands.h"
#include "pterun/failure.h"
#include "pterun/session/bench_compare.h"
#include "pterun/session/bench_measure.h"
#include "pterun/session/bench_sweep.h"
#include "pterun/session/host.h"
#include "pterun/session/inert_settings.h"
#include "pterun/session/interrupt.h"
#include "pterun/session/output_files.h"
#include "pterun/session/plan_manifest.h"
#include "pterun/session/print_plan.h"
#include "pterun/session/report_parts.h"
#include "pterun/session/run_session.h"
#include "pterun/session/save_outputs.h"
#include "pterun/session/terminal.h"

namespace pterun::app {
namespace {

void take_error(report::RunReport& report, Error error) {
  const bool verdict = error.blame == Blame::kOutputs || error.blame == Blame::kEvidence || error.blame == Blame::kGate;
  report.exit_code = exit_code(error);
  report.status = verdict ? report::Status::kFail : report::Status::kError;
  report.error = std::move(error);
}

// One cell, in this process.
void bench_here(const config::Plan& plan, OutputFiles& files, Deadline& deadline, const OutputSaver& saver,
                report::RunReport& report) {
  RunSession session(plan, files.wants_report(), files.events(), deadline, bench_execution(plan));
  session.run(report);
  deadline.disarm();
  if (report.bench) {
    report.bench->cells.front().name = std::filesystem::path(*plan.models.front()).filename();
  }
  if (report.status == report::Status::kError) return;
  auto saved = saver.save(session.steps());
  if (!saved) take_error(report, std::move(saved).error());
}

// Many, in processes of their own.
void bench_sweep(const config::Plan& plan, const std::vector<BenchCell>& cells, OutputFiles& files,
                 report::RunReport& report, LogSink& log) {
  auto result = run_sweep(plan, cells, report, log, files.events());
  if (result) result = judge_sweep(*report.bench);
  describe_plan(plan, nullptr, report.manifest);
  report.manifest.versions = version_facts();
  report.manifest.verification = *plan.verify == config::Verify::kFull ? "full" : "minimal";
  if (files.wants_report()) {
    report.manifest.host = host_facts();
    for (const auto& model : plan.models) {
      auto digest = sha256_of_file(*model);
      std::error_code ignored;
      const auto size_bytes = std::filesystem::file_size(*model, ignored);
      if (digest) report.manifest.files.push_back({"model", *model, size_bytes, *std::move(digest)});
    }
  }
  if (!result) take_error(report, std::move(result).error());
}

void print_cells(const std::vector<BenchCell>& cells) {
  for (const BenchCell& cell : cells) {
    fmt::print("# {}{}\n{}\n", cell.name, cell.is_baseline ? " (baseline)" : "", cell.command());
  }
}

}  // namespace

Result<int> bench_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kBench));
  if (plan.print_config) return print_plan(plan, config::Command::kBench);
  PTERUN_ASSIGN(std::vector<BenchCell> cells, make_cells(plan, invocation));
  PTERUN_ASSIGN(cells, take_shard(std::move(cells), plan.bench.shard));
  PTERUN_ASSIGN(const GatePlan gates, read_gates(plan.bench, cells.size()));
  if (*plan.bench.plan_only) {
    print_cells(cells);
    return 0;
  }
  const bool sweep = needs_sweep(plan);
  if (sweep && !plan.output.save_outputs->empty()) {
    return fail(ErrorCode::kUsage, "--save-outputs goes with one cell in one process");
  }
  PTERUN_ASSIGN(OutputFiles files, OutputFiles::open(plan.output));
  PTERUN_ASSIGN(OutputSaver saver, OutputSaver::open(*plan.output.save_outputs));
  watch_for_interrupt();
  report::RunReport report = begin_report(report::Kind::kBench, invocation);
  begin_events(files, invocation);
  EventingLog log(files.events());
  warn_about_inert_bench_flags(plan, sweep, log);
  if (sweep) {
    bench_sweep(plan, cells, files, report, log);
  } else {
    Deadline deadline(plan.timeout_s, [&](const Error& error) { report_expiry(invocation, error, files); });
    bench_here(plan, files, deadline, saver, report);
  }
  if (report.bench && report.status != report::Status::kError) {
    report.bench->baseline = *plan.bench.baseline_report;
    auto judged = judge_gates(gates, *report.bench, log);
    for (const report::GateReport& gate : report.bench->gates) {
      files.events().emit("gate",
                          {{"gate", gate.gate}, {"cell", gate.cell}, {"verdict", gate.verdict}, {"value", gate.value}});
    }
    if (!judged && !report.error) take_error(report, std::move(judged).error());
  }
  report.warnings.insert(report.warnings.end(), log.warnings.begin(), log.warnings.end());
  PTERUN_TRY(files.write(report));
  invocation.report_written = files.wants_report();
  print_warnings(report, *plan.output.verbosity);
  // A sweep in which a cell failed still has the others to show.
  if (!files.owns_stdout() && (report.status != report::Status::kError || (sweep && report.bench))) {
    fmt::print("{}", report::to_text(report, text_style(plan.output)));
  }
  if (report.status == report::Status::kError) return fail(*report.error);
  return report.exit_code;
}

}  // namespace pterun::app
