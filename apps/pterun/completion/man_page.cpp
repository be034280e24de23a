// The manual page, in the man macros.
#include <fmt/format.h>

#include "generated/version.h"
#include "pterun/completion/completion.h"
#include "pterun/help.h"

namespace pterun::app {
namespace {

// Text as roff: hyphens that are not to be broken, backslashes, and no request at the start of a line.
std::string roff(std::string_view text) {
  std::string result;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_start = c == '\n';
  }
  return result;
}

std::string entry(const std::string& heading, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}.\n", roff(heading), roff(text));
}

std::string command_section(const Command& command) {
  const auto flags = command.flags();
  std::string text = fmt::format(".SS \"pterun {}\"\n{}.\n", command.name, roff(command.summary));
  if (!command.details.empty()) text += ".PP\n" + roff(command.details) + "\n";
  for (const config::FlagSpec& flag : flags) {
    text +=
        entry(flag_heading(flag), std::string(flag.doc) + (flag.repeatable && !flag.is_switch() ? "; repeatable" : ""));
  }
  return text + ".PP\nExamples:\n.PP\n.nf\n" + roff(command.examples) + "\n.fi\n";
}

}  // namespace

std::string man_page(std::span<const Command> commands) {
  std::string text = fmt::format(
      ".TH PTERUN 1 \"\" \"pterun {}\" \"User Commands\"\n.SH NAME\npterun \\- run, check and measure ExecuTorch "
      "programs\n"
      ".SH SYNOPSIS\n.B pterun\n.I COMMAND\n[\\fIFLAGS\\fR]\n.SH DESCRIPTION\n"
      "pterun runs ExecuTorch programs (.pte) on CPUs with XNNPACK, compares their outputs with a reference and "
      "reports for\n"
      "every backend option how far it provably got.\n.SH COMMANDS\n",
      kVersion);
  text += entry("-h, --help", "print the help of the program or of a command");
  text += entry("-V, --version", "print version, build type, compiler, XNNPACK version and CPU features");
  for (const Command& command : commands)
    text += command_section(command);
  text += ".SH \"EXIT STATUS\"\n";
  for (const auto& [code, meaning] :
       {std::pair("0", "done, and every comparison and gate passed"),
        std::pair("1", "outputs differ from the reference"),
        std::pair("2", "usage, config or option error, or an output that cannot be written"),
        std::pair("3", "the cause is in the program or its data, or in what this build lacks"),
        std::pair("4", "an input or reference cannot be had or does not fit"),
        std::pair("5", "an option did not reach the required evidence"),
        std::pair("6", "a backend refuses, or loading or executing fails while running"),
        std::pair("7", "a performance gate failed"), std::pair("70", "a bug in pterun"),
        std::pair("130", "interrupted")}) {
    text += entry(code, meaning);
  }
  text += ".SH ENVIRONMENT\n";
  text += entry("PTERUN_CONFIG", "config file for commands without --config");
  text += entry("PTERUN_THREADS", "number of threads where neither a flag nor the config says it");
  text += entry("PTERUN_PYTHON", "Python interpreter for live references where neither a flag nor the config says it");
  text += entry("NO_COLOR", "when set and not empty, no colour");
  return text;
}

}  // namespace pterun::app
