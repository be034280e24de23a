// The list of options as text and JSON.
#include "report/formats/option_list.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "options/typing.h"

namespace pterun::report {
namespace {

using nlohmann::json;

json value_json(const std::optional<options::OptionValue>& value) {
  if (!value) return nullptr;
  if (const bool* flag = value->as_bool()) return *flag;
  if (const std::int32_t* integer = value->as_int()) return *integer;
  return *value->as_string();
}

json option_json(const ListedOption& option) {
  const options::OptionSpec& spec = option.spec;
  json paths = json::array();
  if (spec.process_wide) paths.push_back("process-wide");
  if (spec.load) paths.push_back("load");
  json described = {{"key", spec.key},
                    {"type", options::option_type_name(spec.type)},
                    {"paths", paths},
                    {"action", spec.action},
                    {"default", value_json(spec.default_value)},
                    {"current", value_json(option.current)},
                    {"requires", spec.requires_true.empty() ? json(nullptr) : json(spec.requires_true)},
                    {"doc", spec.doc}};
  if (spec.type == options::OptionType::kInt) {
    described["min"] = spec.min;
    described["max"] = spec.max;
    json names = json::object();
    for (const auto& [name, number] : spec.names)
      names[name] = number;
    described["names"] = names;
  }
  return described;
}

std::string paths_text(const options::OptionSpec& spec) {
  if (spec.action) return "action, --global-option";
  if (spec.process_wide && spec.load) return "--global-option and --load-option";
  return spec.load ? "--load-option only" : "--global-option only";
}

// With the highest value, which is no default where there is another.
std::string example_text(const std::string& backend, const options::OptionSpec& spec) {
  const char* const flag = spec.process_wide && !spec.load ? "--global-option" : "--load-option";
  std::string value = "FILE";
  if (spec.type == options::OptionType::kBool) value = "true";
  if (spec.type == options::OptionType::kInt) value = std::to_string(spec.max);
  return fmt::format("      e.g. {} {}.{}={}\n", flag, backend, spec.key, value);
}

std::string names_text(const std::vector<BackendOptions>& backends) {
  std::string text;
  for (const BackendOptions& backend : backends) {
    for (const ListedOption& option : backend.options)
      text += backend.backend + "." + option.spec.key + "\n";
  }
  return text;
}

}  // namespace

std::string option_list_text(const std::vector<BackendOptions>& backends, int verbosity) {
  if (verbosity < 0) return names_text(backends);
  std::string text;
  for (const BackendOptions& backend : backends) {
    text += fmt::format("{}{}{}\n", text.empty() ? "" : "\n", backend.backend,
                        backend.available ? "" : " (not available on this machine)");
    if (backend.options.empty()) text += "  no options\n";
    for (const ListedOption& option : backend.options) {
      const options::OptionSpec& spec = option.spec;
      text += fmt::format("  {}: {}\n      {}", spec.key, options::describe_domain(spec), paths_text(spec));
      if (spec.default_value) text += "; default " + spec.default_value->to_string();
      if (option.current) text += "; now " + option.current->to_string();
      if (!spec.requires_true.empty()) text += "; needs " + spec.requires_true + "=true";
      text += "\n";
      if (!spec.doc.empty()) text += "      " + spec.doc + "\n";
      if (verbosity > 0) text += example_text(backend.backend, spec);
    }
  }
  return text;
}

std::string option_list_json(const std::vector<BackendOptions>& backends) {
  json list = json::array();
  for (const BackendOptions& backend : backends) {
    json options = json::array();
    for (const ListedOption& option : backend.options)
      options.push_back(option_json(option));
    list.push_back({{"backend", backend.backend}, {"available", backend.available}, {"options", options}});
  }
  return json{{"schema", "pterun.options/1"}, {"backends", list}}.dump(2) + "\n";
}

}  // namespace pterun::report
