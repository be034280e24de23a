// What `pterun bench` found: cells (one configuration each), the processes that measured them, and what follows from
// comparing them. Plain data; times in nanoseconds, sizes in bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "bench/gate.h"
#include "bench/statistics.h"
#include "bench/verdict.h"
#include "report/evidence.h"

namespace pterun::report {

// Time of one node inside a delegate; XNNPACK counts in whole microseconds, so that each call loses up to one.
struct ProfileNode {
  std::string name;  // the backend's: "Fully Connected (NC, F32) GEMM"
  std::int64_t total_ns = 0;
  std::int64_t calls = 0;
  double share = 0;  // of the delegate's time
};

// Time of one instruction in the profiled run, which is a run of its own: looking costs time.
struct ProfileEntry {
  std::string method;
  std::size_t instruction = 0;
  std::string name;  // operator, or "delegate 3 (XnnpackBackend)"
  std::int64_t total_ns = 0;
  std::int64_t calls = 0;
  double share = 0;  // of the sum over all instructions
  // Of a delegate whose backend can tell, in its order. What they leave of the delegate's time is its overhead.
  std::vector<ProfileNode> nodes;
};

// One process that measured one cell.
struct ProcessReport {
  std::size_t block = 0;
  std::int64_t load_ns = 0;
  std::int64_t first_ns = 0;
  std::uint64_t warmup_runs = 0;
  bool warmup_stable = true;
  std::string stop;  // "enough", "interval", "max_time"
  bench::Statistics steady;
  // The runs in order; of more than kMostSamples every `sample_stride`-th.
  std::vector<std::int64_t> samples_ns;
  std::size_t sample_stride = 1;
  std::map<std::string, std::int64_t> memory;
  std::vector<std::string> output_sha256;  // by step and output
};
inline constexpr std::size_t kMostSamples = 2000;

// The outputs of a cell against those of the baseline cell.
struct OutputCheck {
  bool identical = false;  // equal hashes
  bool pass = false;       // identical, or within the tolerances of the plan
  std::string reason;      // why not
  double max_abs = 0;
};

struct CellComparison {
  bench::RatioTest test;  // of per-process medians
  bench::Judgement judgement;
};

struct CellFailure {
  std::string code;
  std::string message;
  int exit_code = 6;
};

// A value for every bench::GateMetric: the median over processes (of `min` the least); none when no process has it.
using CellMetrics = std::array<std::optional<double>, bench::kGateMetricNames.size()>;

// An option in the processes of a cell.
struct CellOption {
  std::string backend;
  std::string key;
  std::string path;                       // "process-wide", "load"
  std::string value;                      // as text: 1, true, "a string"
  Evidence evidence = Evidence::kParsed;  // the lowest that a process reached
};

struct CellReport {
  std::string name;  // "threads=1 XnnpackBackend.workspace_sharing_mode=per_model"
  std::string model;
  std::vector<std::pair<std::string, std::string>> axes;
  std::string command;  // measures this cell once; empty without a sweep
  bool is_baseline = false;
  std::vector<ProcessReport> processes;
  CellMetrics metrics;
  std::vector<CellOption> options;           // of a sweep; a single measurement has them in its report
  std::vector<CellFailure> failures;         // of processes; the other ones count
  std::optional<CellComparison> comparison;  // with the baseline cell
  std::optional<OutputCheck> outputs;        // the same
  std::vector<ProfileEntry> profile;         // with --profile
  std::vector<Warning> warnings;             // of its processes, each code once
};

// The baseline cell measured a second time as if it were another one.
struct ControlReport {
  CellComparison comparison;
  std::optional<double> false_positive_rate;  // bench::false_positive_rate
};

struct GateReport {
  std::string gate;  // "p50>+3%"
  std::string cell;
  double value = 0;
  std::optional<double> baseline;           // of relative gates
  std::optional<bench::Interval> interval;  // of value / baseline
  // "passed", "failed", or "inconclusive": beyond the limit, but the interval of the ratio includes 1.
  std::string verdict;
};

struct BenchReport {
  std::vector<CellReport> cells;
  std::size_t processes = 1;
  std::uint64_t order_seed = 0;
  double margin = 0;
  std::string shard;     // "1/4", or empty
  std::string baseline;  // the report that gates compare with, or empty
  std::optional<ControlReport> control;
  std::vector<GateReport> gates;
};

// Fills `metrics` of a cell from its processes.
CellMetrics summarize_cell(const std::vector<ProcessReport>& processes);

}  // namespace pterun::report
