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

std::string option_list_text(const std::vector<BackendOptions>& backends);
// Two spaces of indent, sorted keys, with a final newline.
std::string option_list_json(const std::vector<BackendOptions>& backends);

}  // namespace pterun::report
