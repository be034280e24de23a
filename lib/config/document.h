// JSON text with comments -> Node, keeping line and JSON pointer of every value. The only place that knows the JSON
// library.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "config/node.h"

namespace pterun::config {

// Parses a document; `file` is its name for origins and errors. `//` and `/* */` comments are allowed, trailing commas
// are not. A name twice in one object is an error, except inside "global_options" and "load_options", where both are
// kept for the check of options. Errors: kConfig with places file, line and pointer; kOptionType, naming BACKEND.KEY,
// for bytes that are not UTF-8 inside an option map.
Result<Node> parse_document(std::string_view text, const std::string& file);

// Reads and parses a file of at most 16 MiB. Errors: kConfig.
Result<Node> load_document(const std::string& path);

// The value of --set: JSON when it is JSON, else the text as a string.
Node parse_value(const std::string& text, const Origin& origin);

// An error about a value of the configuration: "SOURCE: DETAIL" with places source, and file, pointer and line where
// the value came from a file. kConfig for files, kUsage for flags, --set and the environment.
Error setting_error(const Origin& origin, const std::string& detail);

}  // namespace pterun::config
