// Measuring one cell in this process: load, first execution, warm-up, timed executions, and a profiled run of its own.
#pragma once

#include "base/error.h"
#include "config/plan.h"
#include "pterun/session/run_session.h"
#include "report/run_report.h"

namespace pterun::app {

// An Execution for RunSession: leaves report.bench with one cell of one process, and report.timing. The first execution
// starts from the state after loading; its outputs are kept and compared with the reference where there is one.
RunSession::Execution bench_execution(const config::Plan& plan);

// Adds what a reader of the numbers should know as warnings: a debug build, more threads than CPUs, a busy or throttled
// machine, noise, outliers, drift, warm-up that did not settle.
void warn_about_measurement(const report::ProcessReport& process, std::size_t threads, LogSink& log);

}  // namespace pterun::app
