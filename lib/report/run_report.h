// RunReport: everything a command found out, as plain data. Formats turn it into text, JSON, JUnit, HTML; none of them
// computes. Times are in nanoseconds, sizes in bytes. Absent parts (a phase that was not reached) are empty.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/receipt.h"
#include "base/error.h"
#include "base/log.h"
#include "compare/comparison.h"
#include "options/option_table.h"
#include "options/option_value.h"
#include "report/bench_report.h"
#include "report/diverge_report.h"
#include "report/evidence.h"
#include "report/inspect_report.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pterun::report {

enum class Kind : std::uint8_t { kRun, kBench, kInspect, kOptions, kCompare };
enum class Status : std::uint8_t { kPass, kFail, kError };

struct FileIdentity {
  std::string role;  // "model", "data", "inputs", "reference", "config", "outputs"
  std::string path;
  std::uint64_t bytes = 0;
  std::string sha256;  // lower-case hex; empty when no report was asked for
};

// A setting that was given and lost against a flag, --set or a config further up. Options keep theirs themselves.
struct ShadowedSetting {
  std::string setting;  // JSON pointer
  std::string value_json;
  std::string source;
  std::string shadowed_by;
};

struct Manifest {
  std::string started_at;  // UTC, "2026-12-02T09:30:00Z"
  std::vector<std::string> argv;
  std::string resolved_config_json;  // empty without a plan
  std::vector<ShadowedSetting> shadowed;
  std::vector<std::pair<std::string, std::string>> versions;  // "pterun", "build_type", "compiler", "xnnpack", …
  std::vector<std::pair<std::string, std::string>> host;      // "system", "cpu", "cpu_features", "cores", …
  std::vector<FileIdentity> files;
  std::uint64_t seed = 0;
  std::size_t threads = 0;
  std::string verification;  // "full", "minimal": the level actually used
};

struct ShadowedRequest {
  options::OptionValue value;
  std::string source;
};

// What one delegate says it did with an option.
struct EffectReport {
  std::string method;
  std::size_t delegate = 0;
  options::OptionValue value;
  std::string detail;
};

struct OptionReport {
  std::string backend;
  std::string key;
  options::OptionPath path = options::OptionPath::kGlobal;
  bool action = false;
  options::OptionValue requested{false};
  std::string source;
  std::vector<ShadowedRequest> shadowed;
  std::optional<options::OptionValue> original;      // process-wide: value before
  std::optional<options::OptionValue> stored;        // process-wide: read back before loading
  std::optional<options::OptionValue> stored_after;  // process-wide: read back after the run
  std::optional<options::OptionValue> restored;      // `options check`: read back after restoring
  std::vector<backend::Receipt> receipts;
  std::vector<EffectReport> effects;
  Evidence evidence = Evidence::kParsed;
};

struct DelegateReport {
  std::string method;
  std::size_t index = 0;
  std::string backend;
  std::size_t payload_bytes = 0;
  std::int64_t init_ns = 0;
  std::size_t calls = 0;
  std::vector<backend::OptionEffect> effects;
  backend::Metrics metrics;
};

struct LoadReport {
  std::int64_t program_ns = 0;
  std::int64_t methods_ns = 0;
  std::vector<DelegateReport> delegates;
};

struct IoReport {
  std::string kind;   // "tensor", "int", …
  std::string dtype;  // tensors
  std::vector<std::int64_t> shape;
  std::string description;
  std::string source;  // inputs: where the value came from
  std::string sha256;  // inputs: of the bytes in row-major order, when a report was asked for
};

// Of `pterun run --node`: what ran by itself, an operator or a node of a delegate.
struct NodeReport {
  std::string method;
  std::size_t instruction = 0;  // index in the method's chain
  std::optional<std::size_t> delegate;
  std::optional<std::size_t> node;  // index in the delegate's list of nodes
  std::string name;                 // "aten::add.out", "Conv2d"
  std::vector<IoReport> inputs;
};

struct MethodReport {
  std::string name;
  std::int64_t load_ns = 0;
  std::vector<IoReport> inputs;
  std::vector<IoReport> outputs;
  std::vector<std::uint64_t> planned_bytes;
  std::size_t delegates = 0;
  std::size_t delegate_calls = 0;
  std::size_t kernel_calls = 0;
};

struct TensorStats {
  double min = 0;
  double max = 0;
  double mean = 0;
  double stddev = 0;
  std::int64_t nan = 0;
  std::int64_t inf = 0;
};

struct OutputReport {
  std::size_t step = 0;
  std::string method;
  std::size_t index = 0;
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string sha256;
  std::optional<TensorStats> stats;  // none for empty tensors
  std::string value;                 // numbers: their text; empty for tensors
  std::string preview;               // --print head or all: elements as text
};

// An error in steps of the output's scale, where that is known: of a quantised result one step is the least error.
struct Quanta {
  double scale = 0;
  double max_abs = 0;
  double mean_abs = 0;
};

struct ComparisonReport {
  std::size_t step = 0;
  std::string method;
  std::size_t output = 0;
  std::string name;       // the tensor's key, of `pterun compare`; else empty
  std::string reference;  // the spec, and what it is ("float eager", …) where known
  compare::Comparison comparison;
  std::string reference_kind = "file";  // "float_eager", "converted_graph", …: reference::kind_name
  std::optional<Quanta> quanta;         // of quantised programs
};

// Share of rows of an output whose first maximum is at the label's place (--labels).
struct AccuracyReport {
  std::size_t step = 0;
  std::string method;
  std::size_t output = 0;
  std::string labels;  // the file
  std::int64_t correct = 0;
  std::int64_t total = 0;
};

struct TimingSummary {
  std::size_t runs = 0;
  std::int64_t min_ns = 0;
  std::optional<std::int64_t> p50_ns;  // none when the sample cannot support the percentile
  std::optional<std::int64_t> p90_ns;
  std::optional<std::int64_t> p99_ns;
  double mean_ns = 0;
  double stddev_ns = 0;
};
// Percentile p is given when n (1 - p) >= 5, the median from 1 run on.
TimingSummary summarize(const std::vector<std::int64_t>& samples_ns);

struct Timing {
  std::int64_t load_ns = 0;             // program and methods
  std::int64_t first_ns = 0;            // first execution after loading
  std::vector<std::int64_t> steady_ns;  // executions after warm-up, in order
  // Of a report that was read back, which holds only every `sample_stride`-th execution.
  std::size_t sample_stride = 1;
  std::optional<TimingSummary> summary;
};
// The summary that was read back, else that of the samples.
TimingSummary steady_summary(const Timing& timing);
// Every how many of `runs` samples one is kept in a report, so that at most kMostSamples are.
std::size_t stride_for(std::size_t runs);

struct RunReport {
  Kind kind = Kind::kRun;
  Status status = Status::kPass;
  int exit_code = 0;
  std::optional<Error> error;
  Manifest manifest;
  std::vector<OptionReport> options;
  std::optional<Evidence> required_evidence;  // of --require-evidence
  LoadReport load;
  std::vector<MethodReport> methods;
  std::vector<OutputReport> outputs;
  std::vector<ComparisonReport> comparisons;
  std::vector<AccuracyReport> accuracy;
  Timing timing;
  std::map<std::string, std::int64_t> memory;  // "peak_rss_bytes", "planned_bytes", …
  std::vector<Warning> warnings;
  std::optional<NodeReport> node;        // of `pterun run --node`
  std::optional<DivergeReport> diverge;  // of `pterun run --diverge`
  std::optional<InspectReport> inspect;  // of `pterun inspect`
  std::optional<BenchReport> bench;      // of `pterun bench`
};

}  // namespace pterun::report
