// Look-up in an option table.
#include "options/option_table.h"

namespace pterun::options {

std::string_view option_path_name(OptionPath path) {
  return path == OptionPath::kGlobal ? "process-wide" : "load";
}

const OptionSpec* OptionTable::find(std::string_view key) const {
  for (const OptionSpec& spec : specs) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

}  // namespace pterun::options
