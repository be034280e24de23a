// Checks what was asked for against the limits and the backends' tables, all of it before anything is applied.
// Order: limits (a ninth backend among them), the same key twice in one source, then per request backend, key, path,
// type, range; last what needs another option. The first error is returned.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "options/option_request.h"
#include "options/option_table.h"
#include "options/option_value.h"

namespace pterun::options {

struct CheckSettings {
  bool allow_unknown = false;  // a key without a table entry is a warning and is passed on
  bool raw = false;            // no range and path checks, no check of what an option requires
  // The value of a process-wide option in force now, for options that require another one; nullopt when there is none.
  std::function<std::optional<OptionValue>(const std::string& backend, const std::string& key)> current;
};

// A request that lost against one of a higher layer.
struct ShadowedOption {
  OptionValue value;
  std::string source;
};

struct CheckedOption {
  std::string backend;
  std::string key;
  OptionPath path;
  OptionValue value;
  std::string requested;  // as asked for: "'per_model'", "the integer 1"
  std::string source;
  bool known = true;  // has a row in the backend's table
  std::vector<ShadowedOption> shadowed;

  std::string name() const { return option_name(backend, key); }
};

struct CheckedOptions {
  std::vector<CheckedOption> global;  // in the order asked for; set before loading
  std::vector<CheckedOption> load;
  std::vector<CheckedOption> actions;  // process-wide, set after loading
  std::vector<Warning> warnings;
};

// `tables` are those of all registered backends. Requests that are shadowed are checked like the others.
Result<CheckedOptions> check_options(std::span<const OptionRequest> requests,
                                     std::span<const OptionTable* const> tables, const CheckSettings& settings);

// Errors: kOptionValue (name lengths), kUnknownBackend, with `source` as the place that named it.
Result<void> check_known_backend(const std::string& backend, const std::string& source,
                                 std::span<const OptionTable* const> tables);

// The row of BACKEND.KEY for `options get`, which reads process-wide values. Errors: kOptionSyntax (no `.`),
// kOptionValue (name lengths), kUnknownBackend, kUnknownOption, kOptionPath (a load-only or action key).
Result<const OptionSpec*> check_readable(const OptionRequest& request, std::span<const OptionTable* const> tables);

}  // namespace pterun::options
