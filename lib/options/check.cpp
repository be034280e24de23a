// check_options: the stages of the contract over all requests, then the choice of what wins.
#include "options/check.h"

#include <algorithm>

#include "base/suggest.h"
#include "base/utf8.h"
#include "options/typing.h"

namespace pterun::options {
namespace {

using Tables = std::span<const OptionTable* const>;

const OptionTable* find_table(Tables tables, std::string_view backend) {
  for (const OptionTable* table : tables) {
    if (table->backend == backend) return table;
  }
  return nullptr;
}

const OptionSpec* find_spec(Tables tables, const OptionRequest& request) {
  const OptionTable* table = find_table(tables, request.backend);
  return table == nullptr ? nullptr : table->find(request.key);
}

std::string join(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text.empty() ? "none" : text;
}

std::string suggestion_or(std::string_view word, std::span<const std::string_view> names, std::string otherwise) {
  std::string text = did_you_mean(word, names);
  return text.empty() ? otherwise : text;
}

Result<const OptionTable*> check_backend(const OptionRequest& request, Tables tables) {
  if (const OptionTable* table = find_table(tables, request.backend)) return table;
  std::vector<std::string_view> names;
  for (const OptionTable* known : tables)
    names.push_back(known->backend);
  return fail(request_error(ErrorCode::kUnknownBackend, request,
                            "expected a registered backend (" + join(names) + "), found " + in_quotes(request.backend))
                  .with_hint(suggestion_or(request.backend, names, "`pterun options list` shows what there is")));
}

Error unknown_option(const OptionRequest& request, const OptionTable& table) {
  std::vector<std::string_view> keys;
  for (const OptionSpec& spec : table.specs)
    keys.push_back(spec.key);
  return request_error(
             ErrorCode::kUnknownOption, request,
             "expected a key that " + table.backend + " knows (" + join(keys) + "), found " + in_quotes(request.key))
      .with_hint(suggestion_or(request.key, keys, "`pterun options list " + table.backend + "` explains the keys"));
}

std::string paths_of(const OptionSpec& spec) {
  if (spec.action) return "an action, given process-wide";
  return spec.load ? "a load option" : "a process-wide option";
}

Result<void> check_path(const OptionRequest& request, const OptionSpec& spec) {
  if (request.path == OptionPath::kGlobal ? spec.process_wide : spec.load) return {};
  const bool global = request.path == OptionPath::kLoad;
  const OptionPath right = global ? OptionPath::kGlobal : OptionPath::kLoad;
  return fail(request_error(ErrorCode::kOptionPath, request,
                            "expected " + std::string(option_flag(right)) + ", because it is " + paths_of(spec) +
                                "; found " + std::string(option_flag(request.path)))
                  .with_hint("use " + std::string(option_flag(right)) + " (in a config \"" +
                             (global ? "global_options" : "load_options") + "\")"));
}

Result<void> check_load_backends(std::span<const OptionRequest> requests) {
  std::vector<std::string_view> backends;
  for (const OptionRequest& request : requests) {
    if (request.path != OptionPath::kLoad || std::ranges::find(backends, request.backend) != backends.end()) continue;
    if (backends.size() == kMaxLoadBackends) {
      return fail(request_error(ErrorCode::kOptionValue, request,
                                "expected load options for at most 8 backends, found a ninth"));
    }
    backends.push_back(request.backend);
  }
  return {};
}

bool same_key(const OptionRequest& a, const OptionRequest& b) {
  return a.path == b.path && a.backend == b.backend && a.key == b.key;
}

Result<void> check_duplicates(std::span<const OptionRequest> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (requests[i].layer != requests[j].layer || !same_key(requests[i], requests[j])) continue;
      return fail(request_error(ErrorCode::kDuplicateOption, requests[i],
                                "expected it once in one source, found it there twice; first at " + requests[j].source)
                      .with_hint("remove one of the two"));
    }
  }
  return {};
}

// Backend, key, path, type, range.
Result<CheckedOption> check_request(const OptionRequest& request, Tables tables, const CheckSettings& settings,
                                    std::vector<Warning>& warnings) {
  PTERUN_ASSIGN(const OptionTable* table, check_backend(request, tables));
  const auto* mistyped = std::get_if<MistypedJson>(&request.value);
  if (mistyped != nullptr && mistyped->in_place_of_keys) {
    return fail(request_error(ErrorCode::kOptionType, request,
                              "expected an object {\"KEY\": VALUE, ...}, found " + mistyped->found));
  }
  const OptionSpec* spec = table->find(request.key);
  if (spec == nullptr) {
    Error error = unknown_option(request, *table);
    if (!settings.allow_unknown) return fail(std::move(error));
    warnings.push_back({"unknown_option", error.message + "; passed on as asked", error.hint});
  }
  if (spec != nullptr && !settings.raw) PTERUN_TRY(check_path(request, *spec));
  PTERUN_ASSIGN(OptionValue value, type_value(request, spec));
  if (spec != nullptr && !settings.raw) PTERUN_TRY(check_range(request, *spec, value));
  return CheckedOption{
      request.backend, request.key, request.path, std::move(value), requested_text(request.value), request.source,
      spec != nullptr, {}};
}

// Of each option the request of the highest layer goes into its list and keeps those it shadows.
void place_winners(std::span<const OptionRequest> requests, Tables tables, std::span<const CheckedOption> checked,
                   CheckedOptions& result) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    bool wins = true;
    std::vector<ShadowedOption> shadowed;
    for (std::size_t j = 0; j < requests.size(); ++j) {
      if (!same_key(requests[i], requests[j])) continue;
      wins = wins && requests[j].layer <= requests[i].layer;
      if (requests[j].layer < requests[i].layer) shadowed.push_back({checked[j].value, checked[j].source});
    }
    if (!wins) continue;
    CheckedOption option = checked[i];
    option.shadowed = std::move(shadowed);
    const OptionSpec* spec = find_spec(tables, requests[i]);
    if (option.path == OptionPath::kLoad) {
      result.load.push_back(std::move(option));
    } else if (spec == nullptr || !spec->action) {
      result.global.push_back(std::move(option));
    } else {
      if (option.value == OptionValue(false)) {
        result.warnings.push_back(
            {"inert_action", option.name() + "=false does nothing: it acts when it is true", "leave it out"});
      }
      result.actions.push_back(std::move(option));
    }
  }
}

// Whether the bool that `option` requires will be true for it: in this load, else process-wide as asked for, else as
// it is in force.
Result<void> check_requirement(const CheckedOption& option, const std::string& required, const CheckedOptions& all,
                               const CheckSettings& settings) {
  std::optional<OptionValue> value;
  std::string from = "nobody set it";
  const auto look_in = [&](const std::vector<CheckedOption>& options) {
    for (const CheckedOption& other : options) {
      if (value || other.backend != option.backend || other.key != required) continue;
      value = other.value;
      from = "from " + other.source;
    }
  };
  if (option.path == OptionPath::kLoad) look_in(all.load);
  look_in(all.global);
  if (!value && settings.current) {
    value = settings.current(option.backend, required);
    from = "the process-wide value in force";
  }
  if (value && *value == OptionValue(true)) return {};
  const std::string found = value ? value->to_string() : "no value";
  const std::string needed = option_name(option.backend, required);
  return fail(option_error(ErrorCode::kOptionValue, option.name(), option.source,
                           "expected " + needed + " to be true with it, found " + found + " (" + from + ")")
                  .with_hint("add " + std::string(option_flag(option.path)) + " " + needed + "=true"));
}

}  // namespace

Result<CheckedOptions> check_options(std::span<const OptionRequest> requests, Tables tables,
                                     const CheckSettings& settings) {
  for (const OptionRequest& request : requests)
    PTERUN_TRY(check_limits(request, find_spec(tables, request)));
  PTERUN_TRY(check_load_backends(requests));
  PTERUN_TRY(check_duplicates(requests));

  CheckedOptions result;
  std::vector<CheckedOption> checked;
  for (const OptionRequest& request : requests) {
    PTERUN_ASSIGN(CheckedOption option, check_request(request, tables, settings, result.warnings));
    checked.push_back(std::move(option));
  }
  place_winners(requests, tables, checked, result);
  if (settings.raw) return result;
  for (const auto* list : {&result.global, &result.load}) {
    for (const CheckedOption& option : *list) {
      const OptionSpec* spec = find_table(tables, option.backend)->find(option.key);
      if (spec == nullptr || spec->requires_true.empty()) continue;
      PTERUN_TRY(check_requirement(option, spec->requires_true, result, settings));
    }
  }
  return result;
}

Result<void> check_known_backend(const std::string& backend, const std::string& source, Tables tables) {
  const OptionRequest request{backend, "", MistypedJson{"", true}, OptionPath::kGlobal, source, 0};
  PTERUN_TRY(check_names(request));
  PTERUN_ASSIGN([[maybe_unused]] const OptionTable* table, check_backend(request, tables));
  return {};
}

Result<const OptionSpec*> check_readable(const OptionRequest& request, Tables tables) {
  PTERUN_TRY(check_names(request));
  PTERUN_ASSIGN(const OptionTable* table, check_backend(request, tables));
  const OptionSpec* spec = table->find(request.key);
  if (spec == nullptr) return fail(unknown_option(request, *table));
  if (spec->process_wide && !spec->action) return spec;
  return fail(request_error(ErrorCode::kOptionPath, request,
                            "expected an option with a process-wide value to read, found " + paths_of(*spec))
                  .with_hint(spec->action ? "an action keeps no value"
                                          : "a load option has a value only in the load it is given to"));
}

}  // namespace pterun::options
