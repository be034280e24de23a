// The option table as in the contract, and its checks for values that come past the command line's own (--raw-options,
// the C++ API).
#include "backends/xnnpack/backend_options.h"

#include <fmt/format.h>

namespace pterun::backends::xnn {
namespace {

using options::Option;
using options::OptionPath;
using options::OptionSpec;
using options::OptionType;
using options::OptionValue;

options::OptionTable make_table() {
  OptionSpec sharing;
  sharing.key = kWorkspaceSharingKey;
  sharing.type = OptionType::kInt;
  sharing.process_wide = sharing.load = true;
  sharing.default_value = OptionValue(std::int32_t{2});
  sharing.min = 0;
  sharing.max = 2;
  sharing.names = {{"disabled", 0}, {"per_model", 1}, {"global", 2}};
  sharing.doc = "Memory for intermediate results: one workspace per delegate, per loaded program or per process.";

  OptionSpec cache;
  cache.key = kWeightCacheKey;
  cache.type = OptionType::kBool;
  cache.process_wide = cache.load = true;
  cache.default_value = OptionValue(false);
  cache.doc = "Packed weights are shared with the other programs of the process, not only inside each.";

  OptionSpec path;
  path.key = kPackedCachePathKey;
  path.type = OptionType::kString;
  path.load = true;
  path.default_value = OptionValue(std::string());
  path.requires_true = kWeightCacheKey;
  path.doc = "File that keeps packed weights: written after the first load, mapped by later ones.";

  OptionSpec save;
  save.key = kSaveCacheKey;
  save.type = OptionType::kBool;
  save.process_wide = true;
  save.action = true;
  save.doc = "true saves every live cache file (packed_cache_path) that is not up to date.";

  return {"XnnpackBackend", {sharing, cache, path, save}};
}

Error option_error(ErrorCode code, std::string_view key, const std::string& what) {
  const std::string name = fmt::format("XnnpackBackend.{}", key);
  return make_error(code, fmt::format("{}: {}", name, what)).at("option", name);
}

// Type, range and path of an option that the table knows.
Result<void> check_option(const OptionSpec& spec, const Option& option, OptionPath path) {
  const bool has_path = path == OptionPath::kGlobal ? spec.process_wide : spec.load;
  if (!has_path) {
    return fail(option_error(ErrorCode::kInvalidArgument, spec.key,
                             fmt::format("is not a {} option", options::option_path_name(path))));
  }
  if (option.value.type() != spec.type) {
    return fail(option_error(ErrorCode::kInvalidArgument, spec.key,
                             fmt::format("expected {}, found {} {}", options::option_type_name(spec.type),
                                         options::option_type_name(option.value.type()), option.value.to_string())));
  }
  if (const std::int32_t* number = option.value.as_int();
      number != nullptr && (*number < spec.min || *number > spec.max)) {
    return fail(option_error(ErrorCode::kInvalidArgument, spec.key,
                             fmt::format("expected {} to {}, found {}", spec.min, spec.max, *number)));
  }
  return {};
}

void apply(BackendOptions& target, const Option& option) {
  if (option.key == kWorkspaceSharingKey)
    target.workspace_sharing = static_cast<WorkspaceSharing>(*option.value.as_int());
  if (option.key == kWeightCacheKey) target.weight_cache = *option.value.as_bool();
  if (option.key == kPackedCachePathKey) target.packed_cache_path = *option.value.as_string();
}

}  // namespace

const options::OptionTable& option_table() {
  static const options::OptionTable table = make_table();
  return table;
}

Result<BackendOptions> with_process_wide(BackendOptions current, std::span<const Option> options) {
  for (const Option& option : options) {
    const OptionSpec* spec = option_table().find(option.key);
    if (spec == nullptr)
      return fail(option_error(ErrorCode::kNotFound, option.key, "is not an option of this backend"));
    PTERUN_TRY(check_option(*spec, option, OptionPath::kGlobal));
    apply(current, option);
  }
  return current;
}

Result<BackendOptions> with_load_options(BackendOptions process_wide, std::span<const Option> options) {
  for (const Option& option : options) {
    const OptionSpec* spec = option_table().find(option.key);
    if (spec == nullptr) continue;
    PTERUN_TRY(check_option(*spec, option, OptionPath::kLoad));
    apply(process_wide, option);
  }
  if (!process_wide.packed_cache_path.empty() && !process_wide.weight_cache) {
    return fail(option_error(ErrorCode::kInvalidArgument, kPackedCachePathKey,
                             fmt::format("needs {}, which is false for this load", kWeightCacheKey)));
  }
  return process_wide;
}

Result<OptionValue> process_wide_value(const BackendOptions& options, std::string_view key) {
  if (key == kWorkspaceSharingKey) return OptionValue(static_cast<std::int32_t>(options.workspace_sharing));
  if (key == kWeightCacheKey) return OptionValue(options.weight_cache);
  const OptionSpec* spec = option_table().find(key);
  return fail(option_error(ErrorCode::kNotFound, key,
                           spec == nullptr ? "is not an option of this backend" : "has no process-wide value"));
}

std::string_view workspace_sharing_name(WorkspaceSharing mode) {
  switch (mode) {
    case WorkspaceSharing::kDisabled: return "disabled";
    case WorkspaceSharing::kPerModel: return "per_model";
    case WorkspaceSharing::kGlobal: return "global";
  }
  return "unknown";
}

}  // namespace pterun::backends::xnn
