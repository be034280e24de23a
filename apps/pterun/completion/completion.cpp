// Which generator makes which text.
#include "pterun/completion/completion.h"

#include <algorithm>

namespace pterun::app {

std::optional<std::string> completion_text(std::string_view shell, std::span<const Command> commands,
                                           const CompletionWords& words) {
  if (shell == "bash") return bash_completion(commands, words);
  if (shell == "zsh") return zsh_completion(commands, words);
  if (shell == "fish") return fish_completion(commands, words);
  if (shell == "man") return man_page(commands);
  return std::nullopt;
}

std::vector<std::string> top_level_names(std::span<const Command> commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    const std::string name(command.name.substr(0, command.name.find(' ')));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> group_members(std::span<const Command> commands, std::string_view name) {
  std::vector<std::string> members;
  for (const Command& command : commands) {
    const std::size_t space = command.name.find(' ');
    if (space != std::string_view::npos && command.name.substr(0, space) == name) {
      members.emplace_back(command.name.substr(space + 1));
    }
  }
  return members;
}

}  // namespace pterun::app
