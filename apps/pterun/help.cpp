// Layout of help texts: two columns, wrapped at 100.
#include "pterun/help.h"

#include <algorithm>

namespace pterun::app {
namespace {

constexpr std::size_t kTextColumn = 32;
constexpr std::size_t kWidth = 100;

// Breaks at spaces; lines after the first start at `indent`.
std::string wrap(std::string_view text, std::size_t indent) {
  std::string wrapped;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > indent && column + 1 + word.size() > kWidth) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

std::string entry(const std::string& heading, std::string_view text) {
  std::string line = "  " + heading;
  if (line.size() + 2 > kTextColumn) {
    line += "\n" + std::string(kTextColumn, ' ');
  } else {
    line.resize(kTextColumn, ' ');
  }
  return line + wrap(text, kTextColumn) + "\n";
}

}  // namespace

std::string flag_heading(const config::FlagSpec& flag) {
  std::string heading = flag.short_name.empty() ? "" : std::string(flag.short_name) + ", ";
  heading += flag.name;
  if (!flag.argument.empty()) heading += " " + std::string(flag.argument);
  return heading;
}

std::string commands_help(std::span<const Command> commands, std::string_view group) {
  std::string text = group.empty() ? "pterun runs ExecuTorch programs (.pte) on CPUs and proves what it did.\n\n" : "";
  text += "Usage: pterun " + (group.empty() ? "" : std::string(group) + " ") + "COMMAND [FLAGS]\n\nCommands:\n";
  for (const Command& command : commands) {
    const bool inside = group.empty() || command.name.substr(0, command.name.find(' ')) == group;
    if (inside) text += entry(std::string(command.name), command.summary);
  }
  if (group.empty()) {
    text += "\nFlags:\n" + entry("-h, --help", "print this help; after a command, the command's") +
            entry("-V, --version", "print version, build type, compiler, XNNPACK version and CPU features");
  }
  text += "\n`pterun COMMAND --help` explains a command.\n";
  return text;
}

std::string command_help(const Command& command) {
  const auto flags = command.flags();
  std::string usage = "Usage: pterun " + std::string(command.name) + " [FLAGS]";
  std::string arguments;
  std::string options;
  for (const config::FlagSpec& flag : flags) {
    if (flag.is_positional()) {
      const std::string name = std::string(flag.name) + (flag.repeatable ? "..." : "");
      usage += flag.required ? " " + name : " [" + name + "]";
      arguments += entry(std::string(flag.name), flag.doc);
    } else {
      options += entry(flag_heading(flag),
                       std::string(flag.doc) + (flag.repeatable && !flag.is_switch() ? "; repeatable" : ""));
    }
  }
  options += entry("-h, --help", "print this help");
  std::string text = std::string(command.summary) + "\n\n" + usage + "\n";
  if (!command.details.empty()) text += "\n" + std::string(command.details) + "\n";
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  text += "\nFlags:\n" + options;
  if (!command.examples.empty()) text += "\nExamples:\n" + std::string(command.examples) + "\n";
  return text;
}

}  // namespace pterun::app
