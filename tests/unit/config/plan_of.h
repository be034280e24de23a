// Plans of flags, of environment variables and of configs written as text, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/make_plan.h"

namespace pterun::test {

using config::Command;
using config::FlagValue;
using config::Plan;
using config::PlanRequest;

// Writes a file below a folder of this test program; its path.
std::string write_config(const std::string& name, const std::string& text);

Result<Plan> plan_of(std::vector<FlagValue> flags, const std::map<std::string, std::string>& environment = {},
                     Command command = Command::kRun);
Result<Plan> plan_of_config(const std::string& text, std::vector<FlagValue> flags = {});

// The same where an error fails the test.
Plan good_plan(std::vector<FlagValue> flags, Command command = Command::kRun);
Plan good_plan_of_config(const std::string& text, std::vector<FlagValue> flags = {});

}  // namespace pterun::test
