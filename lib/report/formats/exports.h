// A benchmark in the JSON of other tools, for the scripts that people have for them. Other reports export the
// executions of a run as one benchmark.
#pragma once

#include <string>

#include "report/run_report.h"

namespace pterun::report {

// hyperfine's --export-json: one result a cell with all kept samples as `times` in seconds and the axes as
// `parameters`; the other figures are of these samples. `user` and `system` are null: CPU time is not measured.
std::string to_hyperfine(const RunReport& report);

// Google Benchmark's --benchmark_out: one repetition a process, its mean time per execution, and the aggregates mean,
// median, stddev and cv over them. `cpu_time` repeats `real_time`: CPU time is not measured.
std::string to_google_benchmark(const RunReport& report);

}  // namespace pterun::report
