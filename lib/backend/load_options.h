// Options for one load: per backend, the list that reaches `init` of each of its delegates in every method.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "options/option_value.h"

namespace pterun::backend {

class LoadOptions {
 public:
  // Adds one option. Errors: kOptionValue (a name, key or string outside the limits, a ninth backend),
  // kDuplicateOption (the key is there already). The message names BACKEND.KEY.
  Result<void> add(const std::string& backend, const std::string& key, options::OptionValue value);

  // The backend's options in the order they were added; empty when there are none. Borrowed from this object.
  std::span<const options::Option> for_backend(std::string_view backend) const;
  bool empty() const { return options_.empty(); }
  const std::map<std::string, std::vector<options::Option>, std::less<>>& all() const { return options_; }

 private:
  std::map<std::string, std::vector<options::Option>, std::less<>> options_;
};

}  // namespace pterun::backend
