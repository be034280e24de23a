// The rows of the table of settings. A new setting is a row here, a member of Plan and a line in make_plan.cpp.
#include "config/settings.h"

namespace pterun::config {
namespace {

constexpr std::uint8_t kRun = 1u << static_cast<unsigned>(Command::kRun);
constexpr std::uint8_t kBench = 1u << static_cast<unsigned>(Command::kBench);
constexpr std::uint8_t kInspect = 1u << static_cast<unsigned>(Command::kInspect);
constexpr std::uint8_t kOptions = 1u << static_cast<unsigned>(Command::kOptions);
constexpr std::uint8_t kCompare = 1u << static_cast<unsigned>(Command::kCompare);
constexpr std::uint8_t kReport = 1u << static_cast<unsigned>(Command::kReport);
constexpr std::uint8_t kModel = kRun | kBench | kInspect;
constexpr std::uint8_t kWork = kRun | kBench;
constexpr std::uint8_t kAll = kModel | kOptions;
constexpr std::uint8_t kEvery = kAll | kCompare | kReport;
constexpr std::uint8_t kFormats = kWork | kCompare | kReport;  // commands that write every format of a report

constexpr double kMaxCount = kUnbounded;

constexpr FlagSpec value_flag(std::string_view name, std::string_view argument, std::string_view doc,
                              ValueHint hint = ValueHint::kNone) {
  return {name, "", argument, doc, false, false, hint, ""};
}
constexpr FlagSpec list_flag(std::string_view name, std::string_view argument, std::string_view doc,
                             ValueHint hint = ValueHint::kNone) {
  return {name, "", argument, doc, true, false, hint, ""};
}
constexpr FlagSpec choice_flag(std::string_view name, std::string_view choices, std::string_view doc) {
  return {name, "", choices, doc, false, false, ValueHint::kChoices, choices};
}
constexpr FlagSpec switch_flag(std::string_view name, std::string_view doc, std::string_view short_name = "") {
  return {name, short_name, "", doc, false, false, ValueHint::kNone, ""};
}
constexpr FlagSpec config_only(std::string_view choices = "") {
  return {"", "", "", "", false, false, ValueHint::kNone, choices};
}

constexpr ValueHint kFile = ValueHint::kFile;
using Kind = SettingKind;

constexpr SettingRow kRows[] = {
    // The program.
    {{"MODEL", "", "", "the program, a .pte or .bpte file", false, false, kFile, ""},
     "/model/path",
     Kind::kPaths,
     kRun | kInspect},
    {{"MODEL", "", "", "the programs, .pte or .bpte files", true, false, kFile, ""},
     "/model/path",
     Kind::kPaths,
     kBench},
    {list_flag("--data", "FILE.ptd", "external constants of the program", kFile), "/model/data", Kind::kPaths, kModel},
    {value_flag("--method", "NAME[,NAME]", "method to load; several are executed in order on one loaded program"),
     "/model/method", Kind::kText, kModel | kCompare},
    {value_flag("--case", "N", "test case of a .bpte whose inputs are used"), "/model/case", Kind::kInteger,
     kWork | kCompare, 0, kMaxCount, "0"},
    {choice_flag("--verify", "full|minimal", "how much of the program is checked before it is used"), "/verify",
     Kind::kChoice, kModel, 0, 0, "\"full\""},

    {switch_flag("--verify-cache", "check the checksums of the weights in cache files, not only of header and index"),
     "/verify_cache", Kind::kSwitch, kWork, 0, 0, "false"},

    // Backend options.
    {list_flag("--global-option", "BACKEND.KEY[:TYPE]=VALUE", "set a process-wide backend option before loading",
               ValueHint::kOption),
     "/global_options", Kind::kStructured, kWork | kOptions},
    {list_flag("--load-option", "BACKEND.KEY[:TYPE]=VALUE", "hand a backend option to this load, to every delegate",
               ValueHint::kOption),
     "/load_options", Kind::kStructured, kWork | kOptions},
    {switch_flag("--raw-options", "send options without the table's range and path checks"), "/raw_options",
     Kind::kSwitch, kWork | kOptions, 0, 0, "false"},
    {switch_flag("--allow-unknown-option", "pass keys on that the backend's table does not know"),
     "/allow_unknown_options", Kind::kSwitch, kWork | kOptions, 0, 0, "false"},
    {choice_flag("--require-evidence", "parsed|accepted|stored|delivered|effective",
                 "exit with 5 when an option provably got less far"),
     "/require_evidence", Kind::kChoice, kWork | kOptions},

    // Inputs.
    {list_flag("--input", "[NAME|INDEX=]SPEC",
               "one input: FILE.npy, FILE.npz[:KEY], FILE.safetensors[:KEY], FILE.bin, zeros, ones, arange, const(V), "
               "uniform(LO,HI), normal(MU,SD), int(LO,HI)",
               kFile),
     "/inputs", Kind::kStructured, kWork},
    {value_flag("--inputs", "FILE", "all inputs from one npz or safetensors file", kFile), "/inputs", Kind::kStructured,
     kWork},
    {list_flag("--shape", "INDEX=1x3x224x224", "size of a dynamic input"), "/shapes", Kind::kStructured, kWork},
    {list_flag("--input-dim-order", "INDEX=0,2,3,1", "feed an input laid out in this dim order"), "/input_dim_orders",
     Kind::kStructured, kWork},
    {value_flag("--seed", "N", "seed of generated inputs"), "/seed", Kind::kInteger, kWork, 0, kMaxCount, "0"},

    // Reference and tolerance.
    {value_flag("--reference", "SPEC",
                "expected outputs: FILE.npz, FILE.safetensors, bundled, pte:FILE.pte, eager:FILE.pt2, executorch, "
                "interpreter",
                kFile),
     "/reference", Kind::kText, kWork},
    {choice_flag("--reference-kind", "float_eager|converted_graph",
                 "what the reference file holds: outputs of the float model or of the quantised graph in eager"),
     "/reference_kind", Kind::kChoice, kWork},
    {value_flag("--labels", "FILE", "integer labels; the report gives the accuracy of output 0", kFile), "/labels",
     Kind::kPath, kRun},
    {list_flag("--atol", "[OUTPUT:]V", "absolute tolerance of elements"), "/tolerance", Kind::kStructured,
     kWork | kCompare},
    {list_flag("--rtol", "[OUTPUT:]V", "relative tolerance of elements"), "/tolerance", Kind::kStructured,
     kWork | kCompare},
    {list_flag("--tolerance", "[OUTPUT:]BOUNDS", "bounds on metrics instead, such as 'cosine>=0.999,max_abs<=0.1'"),
     "/tolerance", Kind::kStructured, kWork | kCompare},
    {switch_flag("--diverge",
                 "compute every operator and delegate's node again by reference kernels from the inputs it had, "
                 "and name the first whose error exceeds its share of the tolerance"),
     "/diverge", Kind::kSwitch, kRun, 0, 0, "false"},
    {value_flag("--diverge-inputs", "FILE.npz", "where --diverge writes that node's inputs; default: MODEL.diverge.npz",
                kFile),
     "/diverge_inputs", Kind::kPath, kRun},
    {value_flag("--node", "INSTRUCTION[:NODE]",
                "run only this operator, or this node of the delegate that the instruction calls, on --inputs; "
                "inspect -v lists the numbers"),
     "/node", Kind::kText, kRun},
    {value_flag("--python", "PROGRAM", "Python interpreter for live references", kFile), "/python", Kind::kPath, kWork,
     0, 0, "\"python3\""},
    {value_flag("--python-timeout", "SECONDS", "how long a live reference may take for each answer"),
     "/python_timeout_s", Kind::kNumber, kWork, 0.001, 1e9, "600.0"},

    // Execution.
    {value_flag("--threads", "N", "number of threads, 1 to 1024; default: the physical cores available"), "/threads",
     Kind::kInteger, kModel, 1, 1024},
    {value_flag("--iterations", "N", "number of executions"), "/iterations", Kind::kInteger, kRun, 1, kMaxCount, "1"},
    {value_flag("--warmup", "N", "executions before those that count"), "/warmup", Kind::kInteger, kRun, 0, kMaxCount,
     "0"},
    {switch_flag("--fresh-state", "give mutable buffers their initial values before every execution"), "/fresh_state",
     Kind::kSwitch, kWork, 0, 0, "false"},

    {value_flag("--timeout", "SECONDS",
                "end with an error when loading and executing take longer; in a sweep, one process"),
     "/timeout_s", Kind::kNumber, kWork, 0.001, 1e9},

    // Benchmarks.
    {value_flag("--warmup", "N", "executions before those that count; default: until times are stable"),
     "/bench/warmup", Kind::kInteger, kBench, 0, kMaxCount},
    {value_flag("--min-runs", "N", "at least this many timed executions"), "/bench/min_runs", Kind::kInteger, kBench, 1,
     kMaxCount, "10"},
    {value_flag("--min-time", "SECONDS", "at least this long"), "/bench/min_time_s", Kind::kNumber, kBench, 0, 1e9,
     "1.0"},
    {value_flag("--max-time", "SECONDS", "at most this long"), "/bench/max_time_s", Kind::kNumber, kBench, 0, 1e9,
     "60.0"},
    {value_flag("--until-ci", "P%", "until the median's confidence interval is this narrow"), "/bench/until_ci",
     Kind::kShare, kBench, 0, 1},
    {value_flag("--processes", "N", "repeat in this many fresh processes"), "/bench/processes", Kind::kInteger, kBench,
     1, 100000, "1"},
    {switch_flag("--profile", "time per operator and node, in a run of its own"), "/bench/profile", Kind::kSwitch,
     kBench, 0, 0, "false"},
    {value_flag("--input-seeds", "K", "rotate generated inputs over this many seeds"), "/bench/input_seeds",
     Kind::kInteger, kBench, 1, 100000, "1"},
    {list_flag("--axis", "NAME=V1,V2,...",
               "sweep: threads, BACKEND.KEY (load path) or global:BACKEND.KEY over these values"),
     "/matrix", Kind::kStructured, kBench},
    {value_flag("--baseline", "REPORT.json", "earlier report to compare with", kFile), "/bench/baseline", Kind::kPath,
     kBench},
    {list_flag("--fail-if", "GATE", "performance gate such as 'p50>+3%'; exit 7 when it holds"), "/bench/fail_if",
     Kind::kTexts, kBench},
    {value_flag("--margin", "P%", "differences up to this share count as equivalent"), "/bench/margin", Kind::kShare,
     kBench, 0, 1, "\"2%\""},
    {value_flag("--order-seed", "N", "seed of the order of cells"), "/bench/order_seed", Kind::kInteger, kBench, 0,
     kMaxCount, "0"},
    {value_flag("--resume", "FILE", "keep finished cells in this file and go on from it", kFile), "/bench/resume",
     Kind::kPath, kBench},
    {value_flag("--shard", "K/N", "run only this share of the cells"), "/bench/shard", Kind::kText, kBench},
    {switch_flag("--plan", "print the cells and a command for each, and stop"), "/bench/plan", Kind::kSwitch, kBench},

    // Results.
    {value_flag("--json", "FILE|-", "write the report as JSON; - is stdout", kFile), "/output/json", Kind::kPath,
     kEvery},
    {value_flag("--junit", "FILE|-", "write the verdicts as JUnit XML", kFile), "/output/junit", Kind::kPath, kFormats},
    {value_flag("--markdown", "FILE|-", "write the report as Markdown", kFile), "/output/markdown", Kind::kPath,
     kFormats},
    {value_flag("--csv", "FILE|-", "write the numbers as CSV", kFile), "/output/csv", Kind::kPath, kFormats},
    {value_flag("--html", "FILE|-", "write the report as one self-contained page", kFile), "/output/html", Kind::kPath,
     kFormats},
    {value_flag("--events", "FILE|-", "write what happens when it happens, as JSON Lines", kFile), "/output/events",
     Kind::kPath, kWork},
    {value_flag("--export-hyperfine", "FILE|-", "write the samples as hyperfine's JSON", kFile),
     "/output/export_hyperfine", Kind::kPath, kBench | kReport},
    {value_flag("--export-google-benchmark", "FILE|-", "write the times as Google Benchmark's JSON", kFile),
     "/output/export_google_benchmark", Kind::kPath, kBench | kReport},
    {value_flag("--save-outputs", "FILE|DIR/", "write the outputs to FILE.npz, FILE.safetensors or a folder", kFile),
     "/output/save_outputs", Kind::kPath, kWork},
    {choice_flag("--print", "none|stats|head|all", "how much of the outputs to print"), "/output/print", Kind::kChoice,
     kRun, 0, 0, "\"stats\""},
    {switch_flag("--progress", "show progress also when stderr is no terminal"), "", Kind::kSwitch, kWork},
    {switch_flag("--no-progress", "show no progress"), "", Kind::kSwitch, kWork},
    {config_only("auto|always|never"), "/output/progress", Kind::kChoice, 0},
    {{"--verbose", "-v", "", "say more: every receipt, delegate and named blob", true, false, ValueHint::kNone, ""},
     "",
     Kind::kSwitch,
     kEvery},
    {switch_flag("--quiet", "say less: one line of result, and of diagnostics only errors", "-q"), "", Kind::kSwitch,
     kEvery},
    {config_only(), "/output/verbosity", Kind::kInteger, 0, -1, 9},

    // The config itself.
    {value_flag("--config", "FILE.json", "read settings from this file; flags win", kFile), "", Kind::kPath, kAll},
    {value_flag("--config-profile", "NAME", "apply this profile of the config file"), "", Kind::kText, kAll},
    {list_flag("--set", "POINTER=VALUE", "change one value of the config, such as bench.min_runs=50"), "", Kind::kTexts,
     kAll},
    {switch_flag("--print-config", "print the resolved settings, each with its origin, and stop"), "", Kind::kSwitch,
     kAll},
    {config_only("pterun.config/1"), "/schema", Kind::kChoice, 0},
    {config_only(), "/$schema", Kind::kText, 0},
    {config_only(), "/extends", Kind::kPaths, 0},
    {config_only(), "/profiles", Kind::kStructured, 0},
    {config_only(), "/steps", Kind::kStructured, 0},
};

}  // namespace

std::span<const SettingRow> setting_rows() {
  return kRows;
}

}  // namespace pterun::config
