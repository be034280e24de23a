// A cache file in use: what was found in it, what the loaded methods use, and what became of saving it. One object per
// path; its delegates share it. Trouble with the file costs the cache and nothing else: it is said and remembered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "backends/xnnpack/cache_file.h"
#include "backends/xnnpack/packed_weights.h"
#include "base/log.h"

namespace pterun::backends::xnn {

// Of the program, by the names and sizes of its named data, and of this build on this processor.
CacheIdentity cache_identity(const backend::NamedData& named_data);

// Thread safe.
class DiskCache {
 public:
  // Opens the file if there is one. A file that must not be used is warned about and will be replaced.
  DiskCache(std::string path, CacheIdentity identity, bool verify_weights, LogSink& log);

  const std::string& path() const { return path_; }
  const CacheIdentity& identity() const { return identity_; }

  // Weights of the file under a key, in place; null when it has none.
  std::shared_ptr<PackedBlock> find(const std::string& key);
  // The method uses these weights under that key.
  void note(const std::string& method, const std::string& key, const std::shared_ptr<PackedBlock>& block);
  // The method has operators with weights that cannot be kept, because they have no name in the program.
  void note_unnamed(const std::string& method, std::size_t operators);

  // The method is loaded: saves the file when the method uses what is not in it. Trouble is warned about.
  void finish_method(const std::string& method, LogSink& log);
  // Saves on demand (save_weight_cache_on_disk); what became of it is in saved_on_demand().
  void save_on_demand();

  // Whether the file holds what the loaded methods use; false while something of it could not be saved.
  bool is_in_force() const;
  // "opened FILE: 38 entries, 42550272 bytes, checksums verified", "FILE was rejected: …; written: …".
  std::string status() const;
  struct Demand {
    bool succeeded = false;
    std::string text;
  };
  // Nothing before save_on_demand() was called.
  std::optional<Demand> saved_on_demand() const;

 private:
  struct Use {
    std::weak_ptr<PackedBlock> block;
    std::set<std::string> methods;
  };

  // With mutex_ held:
  bool is_dirty() const;
  Result<void> save();
  std::vector<CacheEntry> entries_to_write(std::vector<std::shared_ptr<PackedBlock>>& keep_alive) const;

  const std::string path_;
  const CacheIdentity identity_;
  const bool verify_weights_;
  mutable std::mutex mutex_;
  std::shared_ptr<const CacheFile> file_;  // null without a usable one
  std::string opened_;                     // how opening went
  std::string written_;                    // how the last save went
  std::map<std::string, Use> uses_;        // by key
  std::set<std::string> finished_;         // methods
  std::map<std::string, std::size_t> unnamed_;
  std::optional<Demand> demand_;
};

}  // namespace pterun::backends::xnn
