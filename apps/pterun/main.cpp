// pterun: runs ExecuTorch programs. main parses the command line, runs one command, prints its outcome and turns it
// into an exit code.
#include <fmt/format.h>

#include "generated/version.h"

int main() {
  fmt::print("pterun {} ({}, {}, XNNPACK {})\n", pterun::kVersion, pterun::kBuildType, pterun::kCompiler,
             pterun::kXnnpackVersion);
  return 0;
}
