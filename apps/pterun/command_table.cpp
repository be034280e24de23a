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

}  // namespace

std::span<const Command> commands() {
  static const std::array kCommands = {
      Command{
          "run", "Load a program, execute it, report and compare its outputs",
          "Without inputs, floats are drawn from uniform(0,1) and the rest from int(0,1), by --seed.\n"
          "Exit codes: 0 done and everything agreed, 1 outputs differ, 2 usage or options, 3 the program, 4 inputs or\n"
          "reference, 5 evidence, 6 loading or executing failed while running.",
          "  pterun run model.pte\n"
          "  pterun run model.pte --inputs in.npz --reference expected.npz --json report.json\n"
          "  pterun run model.pte --load-option XnnpackBackend.workspace_sharing_mode=per_model\n"
          "  pterun run model.pte --method encode,decode --threads 2 --iterations 100 --warmup 10",
          &run_flags, &run_command},
  };
  return kCommands;
}

}  // namespace pterun::app
