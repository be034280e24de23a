// The resolved settings as a config file: what a plan amounts to, so that it can be read, kept and given to --config
// again.
#pragma once

#include <string>

#include "config/make_plan.h"
#include "config/plan.h"
#include "options/check.h"

namespace pterun::config {

// Every setting that the command knows, defaults included, each followed by its origin as a `//` comment.
std::string annotated_config(const Plan& plan, Command command, const options::CheckedOptions& options);

// What was given, on one line and without comments, options included: the manifest's resolved config.
std::string resolved_config(const Plan& plan, const options::CheckedOptions& options);

}  // namespace pterun::config
