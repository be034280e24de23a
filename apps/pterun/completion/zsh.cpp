// Completion for zsh, in the terms of its _arguments.
#include <fmt/format.h>

#include "pterun/completion/completion.h"

namespace pterun::app {
namespace {

// Text inside single quotes and inside the brackets or after the colons of a specification.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result;
}

std::string action(const config::FlagSpec& flag, const std::string& options) {
  switch (flag.hint) {
    case config::ValueHint::kNone: return " ";
    case config::ValueHint::kFile: return "_files";
    case config::ValueHint::kDirectory: return "_files -/";
    case config::ValueHint::kOption: return "(" + options + ")";
    case config::ValueHint::kChoices: break;
  }
  std::string choices(flag.choices);
  for (char& c : choices) {
    if (c == '|') c = ' ';
  }
  return "(" + choices + ")";
}

std::string specification(const config::FlagSpec& flag, const std::string& options) {
  std::string value;
  if (!flag.is_switch()) {
    value = fmt::format(":{}:{}", escaped(flag.argument.empty() ? flag.name : flag.argument), action(flag, options));
  }
  if (flag.is_positional()) return fmt::format("    '{}{}'", flag.repeatable ? "*" : "", value);
  const std::string doc = fmt::format("[{}]{}", escaped(flag.doc), value);
  const std::string many = flag.repeatable ? "*" : "";
  std::string text = fmt::format("    '{}{}{}'", many, flag.name, doc);
  if (!flag.short_name.empty()) text += fmt::format(" \\\n    '{}{}{}'", many, flag.short_name, doc);
  return text;
}

std::string command_list(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text;
  for (const auto& [name, summary] : entries)
    text += fmt::format(" '{}:{}'", name, escaped(summary));
  return text;
}

std::string function_name(std::string_view command) {
  std::string name = "_pterun_" + std::string(command);
  for (char& c : name) {
    if (c == ' ') c = '_';
  }
  return name;
}

std::string_view summary_of(std::span<const Command> commands, const std::string& name) {
  for (const Command& command : commands) {
    if (command.name == name) return command.summary;
  }
  return "a group of commands";
}

// A function that completes the next word from `names`, then hands over to the function of the word that stands there.
std::string dispatcher(std::span<const Command> commands, const std::string& function, const std::string& prefix,
                       const std::vector<std::string>& names, const std::string& flags) {
  std::vector<std::pair<std::string, std::string>> entries;
  std::string cases;
  for (const std::string& name : names) {
    entries.emplace_back(name, summary_of(commands, prefix + name));
    cases += fmt::format("        {}) {} ;;\n", name, function_name(prefix + name));
  }
  return fmt::format(
      "{}() {{\n  local state line\n  local -a commands=({})\n  _arguments -C {} '1:command:->command' "
      "'*::argument:->argument'\n"
      "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $line[1] in\n{}      "
      "esac ;;\n"
      "  esac\n}}\n",
      function, command_list(entries), flags, cases);
}

}  // namespace

std::string zsh_completion(std::span<const Command> commands, const CompletionWords& words) {
  std::string options;
  for (const std::string& option : words.options)
    options += (options.empty() ? "" : " ") + option + "=";
  std::string text = "#compdef pterun\n# zsh completion of pterun. Put it into a folder of $fpath as _pterun.\n";
  for (const Command& command : commands) {
    text += function_name(command.name) + "() {\n  _arguments -s \\\n    '(-h --help)'{-h,--help}'[print help]'";
    for (const config::FlagSpec& flag : command.flags())
      text += " \\\n" + specification(flag, options);
    text += "\n}\n";
  }
  const auto top = top_level_names(commands);
  for (const std::string& name : top) {
    const auto members = group_members(commands, name);
    if (members.empty()) continue;
    text += dispatcher(commands, function_name(name), name + " ", members, "'--help[print help]'");
  }
  text += dispatcher(commands, "_pterun", "", top, "'--help[print help]' '--version[print the version]'");
  // Loaded from $fpath the file is the function's first call; sourced it only defines.
  return text + "if [[ $funcstack[1] == _pterun ]]; then _pterun \"$@\"; else compdef _pterun pterun; fi\n";
}

}  // namespace pterun::app
