// The plan: everything that flags, a config file and the environment say, merged into one plain struct, each value with
// its origin. Flags win over the config, the config over the environment. Made by make_plan (config/make_plan.h).
// Nothing in it was looked up in a model: names, specs and bounds are text that the room concerned parses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/node.h"
#include "config/origin.h"
#include "options/option_request.h"

namespace pterun::config {

// One --input: `target` is the NAME or INDEX in front of `=`, or "" for the next input that has none. A path in `spec`
// is relative to the working directory (paths of a config file were made so).
struct InputPlan {
  std::string target;
  std::string spec;                   // "x.npy", "m.npz:KEY", "zeros", "uniform(0,1)", ...
  std::optional<std::uint64_t> seed;  // for generators; else the plan's seed
  Origin origin;
};

// --shape INDEX=1x3x224x224 (config: "shapes").
struct ShapePlan {
  std::string target;  // name or index of an input
  std::vector<std::int64_t> sizes;
  Origin origin;
};

// --input-dim-order INDEX=0,2,3,1 (config: "input_dim_orders"): feed the input laid out in that order.
struct DimOrderPlan {
  std::string target;
  std::vector<std::uint8_t> order;  // a permutation of 0..rank-1
  Origin origin;
};

// Tolerance of one output, or of all floating ones when `output` is empty. Either bounds on elements (atol, rtol; an
// absent one keeps its default by dtype) or, when `bounds` is not empty, bounds on metrics instead.
struct ToleranceRule {
  std::string output;  // name or index
  std::optional<double> atol;
  std::optional<double> rtol;
  std::string bounds;  // "cosine>=0.999,max_abs<=0.1"
  Origin origin;
};

// One execution of one method on the loaded program. A plain run has one step.
struct StepPlan {
  Setting<std::string> method;       // "": `forward`, else the only one
  std::vector<InputPlan> inputs;     // override entries of inputs_file
  Setting<std::string> inputs_file;  // --inputs: npz or safetensors; "": none
  std::vector<ShapePlan> shapes;
  std::vector<DimOrderPlan> input_dim_orders;
  Setting<std::string> reference;        // "m.expected.npz", "bundled", "pte:FILE", "executorch", ...; "": none
  Setting<std::string> reference_kind;   // what a file holds: "float_eager", "converted_graph"; "": not said
  Setting<std::string> labels;           // FILE.npy or FILE.npz:KEY: classes that output 0 should name; "": none
  std::vector<ToleranceRule> tolerance;  // rules for all outputs first, then those of single outputs
};

enum class Verify : std::uint8_t { kFull, kMinimal };
enum class PrintMode : std::uint8_t { kNone, kStats, kHead, kAll };
enum class When : std::uint8_t { kAuto, kAlways, kNever };
// The levels of the contract, lowest first. kNone: nothing is required.
enum class EvidenceLevel : std::uint8_t { kNone, kParsed, kAccepted, kStored, kDelivered, kEffective };

// Files that results go to; "" is none, "-" is stdout (one of them).
struct OutputPlan {
  Setting<std::string> json;
  Setting<std::string> junit;
  Setting<std::string> markdown;
  Setting<std::string> csv;
  Setting<std::string> html;
  Setting<std::string> events;
  Setting<std::string> export_hyperfine;
  Setting<std::string> export_google_benchmark;
  Setting<std::string> save_outputs;  // FILE.npz, FILE.safetensors or DIR/
  Setting<PrintMode> print{PrintMode::kStats, {}};
  Setting<int> verbosity;  // -1 with -q, 1 or more with -v
  Setting<When> progress;
};

struct OptionsPlan {
  // Of the flags and of every config layer, both paths; not yet checked.
  std::vector<options::OptionRequest> requests;
  Setting<bool> raw;            // --raw-options
  Setting<bool> allow_unknown;  // --allow-unknown-option
  Setting<EvidenceLevel> require_evidence;
};

// One axis of a sweep. Values are text as in flags: "1", "per_model", "true".
struct AxisPlan {
  std::string name;  // "threads", "load_options.XnnpackBackend.workspace_sharing_mode", "global_options.…"
  std::vector<std::string> values;
  Origin origin;
};
using CellPlan = std::vector<std::pair<std::string, std::string>>;  // axis name -> value

struct BenchPlan {
  Setting<std::optional<std::uint64_t>> warmup;  // none: until stable
  Setting<std::uint64_t> min_runs{10, {}};
  Setting<double> min_time_s{1.0, {}};
  Setting<double> max_time_s{60.0, {}};
  Setting<std::optional<double>> until_ci;  // relative width of the interval of the median; "1%" is 0.01
  Setting<std::uint64_t> processes{1, {}};
  Setting<bool> profile;
  Setting<std::uint64_t> input_seeds{1, {}};  // inputs rotated over that many seeds
  std::vector<AxisPlan> axes;
  std::vector<CellPlan> excludes;             // a cell that agrees in all entries of one is left out
  CellPlan baseline_cell;                     // empty: the first cell
  Setting<std::string> baseline_report;       // --baseline REPORT.json
  std::vector<Setting<std::string>> fail_if;  // "p50>+3%"
  Setting<double> margin{0.02, {}};           // differences up to this share count as equivalent
  Setting<std::uint64_t> order_seed;
  Setting<std::string> resume;  // file that finished cells are kept in; "": none
  Setting<bool> plan_only;      // --plan
  Setting<std::string> shard;   // "K/N"; "": all
};

// A value that was given and lost against one of a higher layer. Options keep theirs in options::CheckedOption.
struct Shadowed {
  std::string name;   // JSON pointer of the setting, "/threads"
  std::string value;  // as JSON text
  Origin origin;
  Origin shadowed_by;
};

struct Plan {
  std::vector<Setting<std::string>> models;  // bench takes several; at most one otherwise
  std::vector<Setting<std::string>> data_files;
  Setting<std::uint64_t> bundled_case;  // --case
  Setting<Verify> verify;
  Setting<bool> verify_cache;   // check the weights in cache files, too
  std::vector<StepPlan> steps;  // at least one
  OptionsPlan options;
  Setting<std::optional<std::uint64_t>> threads;  // none: the physical cores available
  Setting<std::optional<double>> timeout_s;       // none: no limit
  Setting<std::uint64_t> seed;
  Setting<std::uint64_t> iterations{1, {}};
  Setting<std::uint64_t> warmup;
  Setting<bool> diverge;                       // find the first node that is off
  Setting<std::string> diverge_inputs;         // .npz for the inputs of that node; "": MODEL.diverge.npz
  Setting<std::string> node;                   // --node INSTRUCTION[:NODE]; "": the whole method
  Setting<bool> fresh_state;                   // reset mutable buffers before every execution
  Setting<std::string> python{"python3", {}};  // interpreter for live references
  Setting<double> python_timeout_s{600.0, {}};
  BenchPlan bench;
  OutputPlan output;
  Setting<std::string> config_file;  // "" without one
  std::vector<Shadowed> shadowed;
  bool print_config = false;  // --print-config: print it (config/print_config.h) and stop
  std::string resolved_json;  // the merged settings (without options) as JSON
  Node resolved;              // the same as a tree with origins
};

}  // namespace pterun::config
