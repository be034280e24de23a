// What backends accept, as `pterun options list` shows it: text, or JSON of the schema "pterun.options/1"
// (configs/schema/options.schema.json).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/option_table.h"
#include "options/option_value.h"

namespace pterun::report {

struct ListedOption {
  options::OptionSpec spec;
  std::optional<options::OptionValue> current;  // process-wide value in force; none where there is none to read
};

struct BackendOptions {
  std::string backend;
  bool available = true;
  std::vector<ListedOption> options;
};

// With verbosity -1 names only, one a line; with 1 an example of each option as a flag as well.
std::string option_list_text(const std::vector<BackendOptions>& backends, int verbosity = 0);
// Two spaces of indent, sorted keys, with a final newline.
std::string option_list_json(const std::vector<BackendOptions>& backends);

}  // namespace pterun::report
