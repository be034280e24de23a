// Completion for bash, without the bash-completion package.
#include <fmt/format.h>

#include "pterun/completion/completion.h"

namespace pterun::app {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string spaces_for_bars(std::string_view choices) {
  std::string text(choices);
  for (char& c : text) {
    if (c == '|') c = ' ';
  }
  return text;
}

// The lines that complete a value after its flag.
std::string value_cases(const std::vector<config::FlagSpec>& flags, const std::string& options) {
  std::string text;
  for (const config::FlagSpec& flag : flags) {
    if (flag.is_positional() || flag.is_switch()) continue;
    std::string action = "return";
    if (flag.hint == config::ValueHint::kFile) action = "COMPREPLY=($(compgen -f -- \"$cur\")); return";
    if (flag.hint == config::ValueHint::kDirectory) action = "COMPREPLY=($(compgen -d -- \"$cur\")); return";
    if (flag.hint == config::ValueHint::kChoices) {
      action = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return", spaces_for_bars(flag.choices));
    }
    if (flag.hint == config::ValueHint::kOption) {
      action = fmt::format("compopt -o nospace; COMPREPLY=($(compgen -S = -W '{}' -- \"$cur\")); return", options);
    }
    text += fmt::format("        {}) {} ;;\n", flag.name, action);
  }
  return text;
}

// What stands where no flag does.
std::string positional_words(const std::vector<config::FlagSpec>& flags, const std::string& options) {
  for (const config::FlagSpec& flag : flags) {
    if (!flag.is_positional()) continue;
    if (flag.hint == config::ValueHint::kFile) return "compgen -f -- \"$cur\"";
    if (flag.hint == config::ValueHint::kChoices) {
      return fmt::format("compgen -W '{}' -- \"$cur\"", spaces_for_bars(flag.choices));
    }
    if (flag.hint == config::ValueHint::kOption) return fmt::format("compgen -W '{}' -- \"$cur\"", options);
  }
  return "true";
}

}  // namespace

std::string bash_completion(std::span<const Command> commands, const CompletionWords& words) {
  const std::string options = join(words.options);
  const auto top = top_level_names(commands);
  std::string groups;
  std::string group_cases;
  for (const std::string& name : top) {
    const auto members = group_members(commands, name);
    if (members.empty()) continue;
    groups += (groups.empty() ? "" : "|") + name;
    group_cases += fmt::format("    {}) COMPREPLY=($(compgen -W '{} --help' -- \"$cur\")) ;;\n", name, join(members));
  }
  std::string text =
      "# bash completion of pterun. Load it with: source <(pterun completion bash)\n"
      "_pterun() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' word i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    [[ $word == -* ]] && break\n"
      "    case $command in\n"
      "      '') command=$word ;;\n";
  if (!groups.empty()) text += fmt::format("      {}) command=\"$command $word\" ;;\n", groups);
  text += "      *) break ;;\n    esac\n  done\n  case $command in\n";
  text += fmt::format("    '') COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\")) ;;\n", join(top));
  text += group_cases;
  for (const Command& command : commands) {
    const auto flags = command.flags();
    std::string names = "--help -h";
    for (const config::FlagSpec& flag : flags) {
      if (flag.is_positional()) continue;
      names += " " + std::string(flag.name);
      if (!flag.short_name.empty()) names += " " + std::string(flag.short_name);
    }
    text += fmt::format("    '{}')\n      case $prev in\n{}      esac\n", command.name, value_cases(flags, options));
    text += fmt::format("      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n", names);
    text += fmt::format("      else COMPREPLY=($({})); fi ;;\n", positional_words(flags, options));
  }
  return text + "  esac\n}\ncomplete -o filenames -F _pterun pterun\n";
}

}  // namespace pterun::app
