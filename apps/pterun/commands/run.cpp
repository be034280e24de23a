// pterun run: load, set inputs, execute, report, compare.
#include <fmt/format.h>

#include "pterun/commands/commands.h"
#include "pterun/failure.h"
#include "pterun/node/node_session.h"
#include "pterun/session/interrupt.h"
#include "pterun/session/output_files.h"
#include "pterun/session/print_plan.h"
#include "pterun/session/report_parts.h"
#include "pterun/session/run_session.h"
#include "pterun/session/save_outputs.h"
#include "pterun/session/terminal.h"
#include "pterun/session/verdict.h"
#include "report/formats/text.h"

namespace pterun::app {

namespace {

// Runs a session to its end; what it saves afterwards can fail as well.
template <typename Session>
void finish(Session&& session, Deadline& deadline, const OutputSaver& saver, report::RunReport& report) {
  session.run(report);
  deadline.disarm();
  if (report.status == report::Status::kError) return;
  auto saved = saver.save(session.steps());
  if (saved) return;
  report.error = std::move(saved).error();
  settle(report);
}

}  // namespace

Result<int> run_command(Invocation& invocation) {
  PTERUN_ASSIGN(const config::Plan plan, make_plan(invocation, config::Command::kRun));
  if (plan.print_config) return print_plan(plan, config::Command::kRun);
  PTERUN_ASSIGN(OutputFiles files, OutputFiles::open(plan.output));
  PTERUN_ASSIGN(OutputSaver saver, OutputSaver::open(*plan.output.save_outputs));
  watch_for_interrupt();
  report::RunReport report = begin_report(report::Kind::kRun, invocation);
  begin_events(files, invocation);
  Deadline deadline(plan.timeout_s, [&](const Error& error) { report_expiry(invocation, error, files); });
  if (plan.node->empty()) {
    finish(RunSession(plan, files.wants_report(), files.events(), deadline), deadline, saver, report);
  } else {
    finish(NodeSession(plan, files.wants_report(), files.events(), deadline), deadline, saver, report);
  }
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
