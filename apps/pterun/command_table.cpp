// The explicit table of commands, in the order of --help.
#include <array>

#include "pterun/command.h"
#include "pterun/commands/commands.h"

namespace pterun::app {
namespace {}  // namespace

std::span<const Command> commands() {
  static const std::array<Command, 0> kCommands = {};
  return kCommands;
}

}  // namespace pterun::app
