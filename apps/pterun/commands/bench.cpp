// pterun bench: latency and memory of one configuration or of many.
#include <fmt/format.h>

#include "pterun/commands/commands.h"
#include "pterun/session/bench_measure.h"
#include "pterun/session/interrupt.h"
#include "pterun/session/output_files.h"
#include "pterun/session/print_plan.h"
#include "pterun/session/run_session.h"
#include "pterun/session/save_outputs.h"
#include "pterun/session/terminal.h"

namespace pterun::app {
namespace {

void take_error(report::RunReport& report, Error error) {
  report.error = std::move(error);
  report.exit_code = exit_code(*report.error);
  report.status = report::Status::kError;
}

// One cell, in this process.
void bench_here(const config::Plan& plan, bool hash_files, const OutputSaver& saver, report::RunReport& report) {
  RunSession session(plan, hash_files, bench_execution(plan));
  session.run(report);
  if (report.status == report::Status::kError) return;
  auto saved = saver.save(session.steps());
  if (!saved) take_error(report, std::move(saved).error());
}

}  // namespace

Result<int> bench_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kBench));
  if (plan.print_config) return print_plan(plan, config::Command::kBench);
  PTERUN_ASSIGN(OutputFiles files, OutputFiles::open(plan.output));
  PTERUN_ASSIGN(OutputSaver saver, OutputSaver::open(*plan.output.save_outputs));
  watch_for_interrupt();
  report::RunReport report;
  report.kind = report::Kind::kBench;
  report.manifest.argv = invocation.argv;
  bench_here(plan, files.wants_report(), saver, report);
  PTERUN_TRY(files.write(report));
  invocation.report_written = files.wants_report();
  print_warnings(report, *plan.output.verbosity);
  if (!files.owns_stdout() && report.status != report::Status::kError) {
    fmt::print("{}", report::to_text(report, text_style(plan.output)));
  }
  if (report.status == report::Status::kError) return fail(*report.error);
  return report.exit_code;
}

}  // namespace pterun::app
