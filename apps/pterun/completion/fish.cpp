// Completion for fish.
#include <fmt/format.h>

#include "pterun/completion/completion.h"

namespace pterun::app {
namespace {

std::string in_single_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// The test for "inside this command".
std::string condition(std::string_view command) {
  const std::size_t space = command.find(' ');
  const std::string first = "__fish_seen_subcommand_from " + std::string(command.substr(0, space));
  if (space == std::string_view::npos) return first;
  return first + "; and __fish_seen_subcommand_from " + std::string(command.substr(space + 1));
}

std::string values(const config::FlagSpec& flag, const std::string& options) {
  switch (flag.hint) {
    case config::ValueHint::kNone: return " -x";
    case config::ValueHint::kFile: return " -r -F";
    case config::ValueHint::kDirectory: return " -x -a '(__fish_complete_directories)'";
    case config::ValueHint::kOption: return fmt::format(" -x -a '{}'", options);
    case config::ValueHint::kChoices: break;
  }
  std::string choices(flag.choices);
  for (char& c : choices) {
    if (c == '|') c = ' ';
  }
  return fmt::format(" -x -a '{}'", choices);
}

std::string flag_line(const config::FlagSpec& flag, const std::string& inside, const std::string& options) {
  std::string line = fmt::format("complete -c pterun -n '{}'", inside);
  if (flag.is_positional()) {
    if (flag.hint == config::ValueHint::kFile) return line + " -F\n";
    if (flag.hint == config::ValueHint::kNone) return "";
    const std::string words = values(flag, options);
    return line + words.substr(words.find(" -a")) + "\n";
  }
  line += fmt::format(" -l {}", flag.name.substr(2));
  if (!flag.short_name.empty()) line += fmt::format(" -s {}", flag.short_name.substr(1));
  if (!flag.is_switch()) line += values(flag, options);
  return line + " -d " + in_single_quotes(flag.doc) + "\n";
}

}  // namespace

std::string fish_completion(std::span<const Command> commands, const CompletionWords& words) {
  std::string options;
  for (const std::string& option : words.options)
    options += (options.empty() ? "" : " ") + option + "=";
  std::string text =
      "# fish completion of pterun. Load it with: pterun completion fish | source\n"
      "complete -c pterun -f\n"
      "complete -c pterun -l help -s h -d 'print help'\n"
      "complete -c pterun -n '__fish_use_subcommand' -l version -s V -d 'print the version'\n";
  for (const std::string& name : top_level_names(commands)) {
    text += fmt::format("complete -c pterun -n '__fish_use_subcommand' -a {}\n", name);
    const auto members = group_members(commands, name);
    std::string all;
    for (const std::string& member : members)
      all += " " + member;
    for (const std::string& member : members) {
      text += fmt::format(
          "complete -c pterun -n '__fish_seen_subcommand_from {}; and not __fish_seen_subcommand_from{}' -a {}\n", name,
          all, member);
    }
  }
  for (const Command& command : commands) {
    for (const config::FlagSpec& flag : command.flags())
      text += flag_line(flag, condition(command.name), options);
  }
  return text;
}

}  // namespace pterun::app
