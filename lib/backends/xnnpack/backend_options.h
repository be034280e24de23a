// XnnpackBackend's options: the table, their process-wide values, and what is in force for one load.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "options/option_table.h"
#include "options/option_value.h"

namespace pterun::backends::xnn {

enum class WorkspaceSharing : std::uint8_t { kDisabled = 0, kPerModel = 1, kGlobal = 2 };

struct BackendOptions {
  WorkspaceSharing workspace_sharing = WorkspaceSharing::kGlobal;
  bool weight_cache = false;
  std::string packed_cache_path;  // of one load; empty: none
};

inline constexpr char kWorkspaceSharingKey[] = "workspace_sharing_mode";
inline constexpr char kWeightCacheKey[] = "weight_cache_enabled";
inline constexpr char kPackedCachePathKey[] = "packed_cache_path";
inline constexpr char kSaveCacheKey[] = "save_weight_cache_on_disk";

const options::OptionTable& option_table();

// The process-wide values after these options; an action changes none. Errors, naming XnnpackBackend.KEY: kNotFound
// (unknown key), kInvalidArgument (load-only key, type or range).
Result<BackendOptions> with_process_wide(BackendOptions current, std::span<const options::Option> options);

// What is in force for one load: process-wide values, overridden by load options. Keys that the table does not know
// are left alone. Errors: kInvalidArgument (process-wide-only key, type or range, a cache path with the cache off).
Result<BackendOptions> with_load_options(BackendOptions process_wide, std::span<const options::Option> options);

// A process-wide value. Errors: kNotFound (unknown, load-only or action key).
Result<options::OptionValue> process_wide_value(const BackendOptions& options, std::string_view key);

// "disabled", "per_model", "global".
std::string_view workspace_sharing_name(WorkspaceSharing mode);

}  // namespace pterun::backends::xnn
