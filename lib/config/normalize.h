// One form for what a config may say in several, with paths relative to the working directory, so that merging and
// reading meet only one shape.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/node.h"
#include "options/option_request.h"

namespace pterun::config {

// Brings a config file's tree, a profile or a --set overlay into one form and checks it:
// - every simple setting against its row;
// - "inputs" becomes an array of {"input": NAME, INDEX or "*", "spec": SPEC, "seed": N, "shape": [..]}, where "*"
// stands
//   for a file with all inputs and an absent "input" for the next one;
// - "tolerance" becomes {"atol", "rtol", "bounds", "outputs": {NAME: {"atol", "rtol", "bounds"}}};
// - the same inside "steps";
// - relative paths get `folder` in front ("" leaves them).
// Errors: setting_error's codes.
Result<void> normalize(Node& root, const std::string& folder);

// Takes "global_options" and "load_options" out of the tree. Errors: kOptionType (no object), kDuplicateOption (a
// backend twice in one map).
Result<std::vector<options::OptionRequest>> take_options(Node& root, int layer);

}  // namespace pterun::config
