#include "unit/config/plan_of.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <catch2/catch_test_macros.hpp>

namespace pterun::test {

std::string write_config(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path("config_test_files") / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

Result<Plan> plan_of(std::vector<FlagValue> flags, const std::map<std::string, std::string>& environment,
                     Command command) {
  PlanRequest request;
  request.command = command;
  request.flags = std::move(flags);
  request.environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  return make_plan(request);
}

Plan good_plan(std::vector<FlagValue> flags, Command command) {
  auto plan = plan_of(std::move(flags), {}, command);
  if (!plan) FAIL(plan.error().to_string());
  return *std::move(plan);
}

Result<Plan> plan_of_config(const std::string& text, std::vector<FlagValue> flags) {
  flags.insert(flags.begin(), {"--config", write_config("c.json", text)});
  return plan_of(std::move(flags));
}

Plan good_plan_of_config(const std::string& text, std::vector<FlagValue> flags) {
  auto plan = plan_of_config(text, std::move(flags));
  if (!plan) FAIL(plan.error().to_string());
  return *std::move(plan);
}

}  // namespace pterun::test
