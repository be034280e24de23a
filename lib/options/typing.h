// One request against the limits and against its backend's table: what type its value has, and whether it may be.
// The parts of check_options (options/check.h), which calls them in the contract's order.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "options/option_request.h"
#include "options/option_table.h"
#include "options/option_value.h"

namespace pterun::options {

// An error about one option: "option BACKEND.KEY (SOURCE): DETAIL", with the places option and source.
Error option_error(ErrorCode code, const std::string& name, const std::string& source, const std::string& detail);
Error request_error(ErrorCode code, const OptionRequest& request, const std::string& detail);

// Backend name and key have 1 to 63 bytes and no NUL (kOptionValue) and are UTF-8 (kOptionType).
Result<void> check_names(const OptionRequest& request);

// The names, and the limits of values: strings of 1 to 255 bytes, no NUL, ints of 32 bit. `spec` is the key's row or
// null; it decides what a flag's text is. Errors: kOptionValue, and those of check_names.
Result<void> check_limits(const OptionRequest& request, const OptionSpec* spec);

// The type that a flag's text has when no table decides: the stated one; else true and false are bools, an optionally
// signed decimal is an int, anything else a string. `stated` is "", "bool", "int" or "str".
OptionType infer_type(std::string_view text, std::string_view stated);

// The value as the type that is due (spec), or as what it looks like (spec null). The limits were checked.
// Errors: kOptionType, naming what was expected and found.
Result<OptionValue> type_value(const OptionRequest& request, const OptionSpec* spec);

// Whether the int lies in the key's range. Errors: kOptionValue.
Result<void> check_range(const OptionRequest& request, const OptionSpec& spec, const OptionValue& value);

// "an int from 0 to 2 (0 disabled, 1 per_model, 2 global)", "a bool", "a string", for messages and lists.
std::string describe_domain(const OptionSpec& spec);

}  // namespace pterun::options
