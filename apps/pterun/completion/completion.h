// Shell completions and the man page: static text made from the table of commands, naming every flag.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pterun/command.h"

namespace pterun::app {

// What completions know beside the commands: "XnnpackBackend.workspace_sharing_mode", ...
struct CompletionWords {
  std::vector<std::string> options;
};

// The script for "bash", "zsh" or "fish", or the manual page for "man"; nullopt for another name. None of them runs
// pterun.
std::optional<std::string> completion_text(std::string_view shell, std::span<const Command> commands,
                                           const CompletionWords& words);

// One generator each.
std::string bash_completion(std::span<const Command> commands, const CompletionWords& words);
std::string zsh_completion(std::span<const Command> commands, const CompletionWords& words);
std::string fish_completion(std::span<const Command> commands, const CompletionWords& words);
std::string man_page(std::span<const Command> commands);

// "run", "options", ...: the first words of the commands, each once.
std::vector<std::string> top_level_names(std::span<const Command> commands);
// The second words of a group's commands; empty when `name` is a command itself.
std::vector<std::string> group_members(std::span<const Command> commands, std::string_view name);

}  // namespace pterun::app
