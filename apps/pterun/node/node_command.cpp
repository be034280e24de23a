// Only the settings that a run of one node has a use for.
#include "pterun/node/node_command.h"

#include <vector>

#include <fmt/format.h>

#include "report/formats/wording.h"

namespace pterun::app {

std::string node_command(const report::Manifest& manifest, const config::Plan& plan,
                         const report::DivergeReport& diverge) {
  if (diverge.mapping && !diverge.mapping->through.empty()) return report::command_text(manifest);
  const report::DivergeNode& node = *diverge.first;
  report::Manifest command;
  std::vector<std::string>& argv = command.argv;
  argv = {manifest.argv.empty() ? "pterun" : manifest.argv.front(), "run", *plan.models.front()};
  for (const auto& file : plan.data_files) {
    argv.emplace_back("--data");
    argv.push_back(*file);
  }
  argv.insert(argv.end(), {"--method", node.method, "--node", std::to_string(node.instruction)});
  if (node.node) argv.back() += fmt::format(":{}", *node.node);
  argv.insert(argv.end(), {"--inputs", diverge.inputs_file});
  const std::string& reference = *plan.steps.at(node.step).reference;
  if (node.reference.empty() && reference.starts_with("pte:")) argv.insert(argv.end(), {"--reference", reference});
  argv.insert(argv.end(), {"--tolerance", fmt::format("max_abs<={}", node.allowed)});
  if (plan.threads.value) argv.insert(argv.end(), {"--threads", std::to_string(*plan.threads.value)});
  if (*plan.verify == config::Verify::kMinimal) argv.insert(argv.end(), {"--verify", "minimal"});
  return report::command_text(command);
}

}  // namespace pterun::app
