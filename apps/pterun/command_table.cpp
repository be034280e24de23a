// The explicit table of commands, in the order of --help.
#include <array>

#include "config/settings.h"
#include "pterun/command.h"
#include "pterun/commands/commands.h"

namespace pterun::app {
namespace {

std::vector<config::FlagSpec> run_flags() {
  return config::plan_flags(config::Command::kRun);
}

std::vector<config::FlagSpec> bench_flags() {
  return config::plan_flags(config::Command::kBench);
}

// The flags of list and get: no options are applied there.
std::vector<config::FlagSpec> options_flags(config::FlagSpec argument) {
  std::vector<config::FlagSpec> flags = {argument};
  for (const config::FlagSpec& flag : config::plan_flags(config::Command::kOptions)) {
    const bool applies = flag.name.ends_with("-option") || flag.name.ends_with("-options");
    if (!applies && flag.name != "--require-evidence") flags.push_back(flag);
  }
  return flags;
}

std::vector<config::FlagSpec> options_list_flags() {
  return options_flags({"BACKEND", "", "", "only this backend", false, false, config::ValueHint::kNone, ""});
}

std::vector<config::FlagSpec> options_get_flags() {
  return options_flags({"BACKEND.KEY", "", "", "the option to read", false, true, config::ValueHint::kOption, ""});
}

std::vector<config::FlagSpec> options_check_flags() {
  std::vector<config::FlagSpec> flags = config::plan_flags(config::Command::kOptions);
  flags.push_back({"--self-test", "", "", "make every kind of wrong and inert option and show that each is caught",
                   false, false, config::ValueHint::kNone, ""});
  return flags;
}

std::vector<config::FlagSpec> completion_flags() {
  return {{"SHELL", "", "", "bash, zsh or fish; man for the manual page", false, true, config::ValueHint::kChoices,
           "bash|zsh|fish|man"}};
}

constexpr Command kRun = {
    "run",
    "Load a program, execute it, report and compare its outputs",
    "Without inputs, floats are drawn from uniform(0,1) and the rest from int(0,1), by --seed.\n"
    "Exit codes: 0 done and everything agreed, 1 outputs differ, 2 usage or options, 3 the program, 4 inputs or\n"
    "reference, 5 evidence, 6 loading or executing failed while running.",
    "  pterun run model.pte\n"
    "  pterun run model.pte --inputs in.npz --reference expected.npz --json report.json\n"
    "  pterun run model.pte --load-option XnnpackBackend.workspace_sharing_mode=per_model\n"
    "  pterun run model.pte --method encode,decode --threads 2 --iterations 100 --warmup 10\n"
    "  pterun run model.pte --node 0:1 --inputs model.diverge.npz",
    &run_flags,
    &run_command};

constexpr Command kBench = {
    "bench",
    "Measure latency and memory, and compare configurations",
    "Load, first execution and steady state are kept apart. A percentile that the sample cannot support is\n"
    "null, with the number of runs that it needs. Exit codes as for run, and 7 when a gate failed.",
    "  pterun bench model.pte\n"
    "  pterun bench model.pte --until-ci 1% --max-time 30 --json report.json\n"
    "  pterun bench model.pte --profile --threads 2\n"
    "  pterun bench model.pte --axis threads=1,2,4 --processes 10 --resume sweep.jsonl\n"
    "  pterun bench model.pte --processes 10 --baseline main.json --fail-if 'p50>+3%'",
    &bench_flags,
    &bench_command};

constexpr Command kInspect = {
    "inspect",
    "Show what a program holds, what it needs and what of that is missing here",
    "Nothing is loaded or executed. Exit code 0 also when operators or backends are missing; 3 for a file that\n"
    "cannot be read as a program.",
    "  pterun inspect model.pte\n"
    "  pterun inspect model.pte --data weights.ptd --method encode --json -\n"
    "  pterun inspect --operators",
    &inspect_flags,
    &inspect_command};

constexpr Command kOptionsList = {"options list",
                                  "List what each backend accepts: key, type, values, default, paths",
                                  "",
                                  "  pterun options list\n"
                                  "  pterun options list XnnpackBackend --json -",
                                  &options_list_flags,
                                  &options_list_command};

constexpr Command kOptionsGet = {"options get",
                                 "Print the process-wide value of an option",
                                 "A load option has no process-wide value, and an action keeps none: both are errors.",
                                 "  pterun options get XnnpackBackend.workspace_sharing_mode",
                                 &options_get_flags,
                                 &options_get_command};

constexpr Command kOptionsCheck = {
    "options check",
    "Set, read back and restore options without a model",
    "Process-wide options must read back as set, else the exit code is 5. Load options are checked against the\n"
    "backend's table and the load map; that they arrive is shown by the receipts of `pterun run`.",
    "  pterun options check --global-option XnnpackBackend.weight_cache_enabled=true\n"
    "  pterun options check --self-test\n"
    "  pterun options check --config options.json --load-option XnnpackBackend.workspace_sharing_mode=1",
    &options_check_flags,
    &options_check_command};

constexpr Command kCompare = {
    "compare",
    "Compare two sets of tensors: npz, safetensors, npy, bundled programs or reports",
    "A is judged against B. Tensors are matched by name, or where no name is in both by the numbers that their\n"
    "names end in. Exit code 1 when they differ, also in shape, dtype or number; 4 when one cannot be read.",
    "  pterun compare got.npz expected.npz\n"
    "  pterun compare got.safetensors model.bpte --case 1 --tolerance 'cosine>=0.999'\n"
    "  pterun compare before.json after.json --html difference.html",
    &compare_flags,
    &compare_command};

constexpr Command kReport = {
    "report",
    "Show a saved report in any format, or merge the shares of a sweep",
    "Exit code 0 when it could be read, whatever its verdict; 4 when it could not. Reports of several shares\n"
    "(`pterun bench --shard K/N`) become one: each cell is compared with the baseline of its own share.",
    "  pterun report report.json\n"
    "  pterun report report.json --html report.html --junit report.xml\n"
    "  pterun report shard1.json shard2.json --json sweep.json --html sweep.html\n"
    "  pterun bench model.pte --json - | pterun report - --markdown -",
    &report_flags,
    &report_command};

constexpr Command kCompletion = {
    "completion",
    "Print a completion script for a shell, or the manual page",
    "The scripts are static: they name every command, flag and backend option of this build and do not run "
    "pterun.",
    "  source <(pterun completion bash)\n"
    "  pterun completion zsh > ~/.zsh/completions/_pterun\n"
    "  pterun completion fish | source\n"
    "  pterun completion man > pterun.1",
    &completion_flags,
    &completion_command};

}  // namespace

std::span<const Command> commands() {
  static constexpr std::array kCommands = {kRun,          kBench,   kInspect, kOptionsList, kOptionsGet,
                                           kOptionsCheck, kCompare, kReport,  kCompletion};
  return kCommands;
}

}  // namespace pterun::app
