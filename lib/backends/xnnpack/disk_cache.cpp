// What is kept and when: after a method was loaded, the file holds what the methods loaded here use, and what it held
// for methods that were not. That bounds its size by the program's.
#include "backends/xnnpack/disk_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/xnnpack/weight_keys.h"
#include "xnnpack/library.h"

namespace pterun::backends::xnn {

CacheIdentity cache_identity(const backend::NamedData& named_data) {
  auto list = named_data.list();
  std::ranges::sort(list);
  std::string names;
  for (const auto& [name, size] : list) {
    const auto bytes = static_cast<std::uint64_t>(size);
    const auto length = static_cast<std::uint64_t>(name.size());
    names.append(reinterpret_cast<const char*>(&length), sizeof length).append(name);
    names.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  }
  CacheIdentity identity;
  identity.program = fingerprint(std::as_bytes(std::span(names)));
  identity.library = fmt::format("{} build {}", xnnpack::library_version(), xnnpack::build_identifier());
  for (const std::string& feature : xnnpack::cpu_features())
    identity.cpu += (identity.cpu.empty() ? "" : " ") + feature;
  return identity;
}

DiskCache::DiskCache(std::string path, CacheIdentity identity, bool verify_weights, LogSink& log)
    : path_(std::move(path)), identity_(std::move(identity)), verify_weights_(verify_weights) {
  auto opened = CacheFile::open(path_, identity_, verify_weights_);
  if (opened) {
    file_ = *std::move(opened);
    opened_ = fmt::format("opened {}: {} entries, {} bytes{}", path_, file_->entries().size(), file_->file_bytes(),
                          verify_weights_ ? ", all checksums right" : "");
  } else if (opened.error().code == ErrorCode::kNotFound) {
    opened_ = fmt::format("{} was not there", path_);
  } else {
    opened_ = fmt::format("{} was rejected: {}", path_, opened.error().message);
    log.warn({"weight_cache_rejected", fmt::format("weight cache {}", opened_),
              "it is not used, and written anew; use one file for each program"});
  }
}

std::shared_ptr<PackedBlock> DiskCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const CacheEntry* entry = file_ == nullptr ? nullptr : file_->find(key);
  return entry == nullptr ? nullptr : PackedBlock::view(file_, entry->weights);
}

void DiskCache::note(const std::string& method, const std::string& key, const std::shared_ptr<PackedBlock>& block) {
  const std::lock_guard lock(mutex_);
  Use& use = uses_[key];
  use.block = block;
  use.methods.insert(method);
}

void DiskCache::note_unnamed(const std::string& method, std::size_t operators) {
  const std::lock_guard lock(mutex_);
  unnamed_[method] += operators;
}

void DiskCache::finish_method(const std::string& method, LogSink& log) {
  const std::lock_guard lock(mutex_);
  finished_.insert(method);
  if (const auto unnamed = unnamed_.find(method); unnamed != unnamed_.end()) {
    log.warn({"weights_not_cached",
              fmt::format("{} operators of method '{}' have weights without a name in the program: they are packed in "
                          "every load and not kept in {}",
                          unnamed->second, method, path_),
              "export with named constants (executorch 0.6 or later)"});
  }
  if (uses_.empty()) {
    written_ = "not written: nothing to keep";
    log.warn({"weight_cache_empty",
              fmt::format("nothing of method '{}' can be kept in {}: no delegate packs weights that have a name and "
                          "that XNNPACK has a cache for",
                          method, path_),
              "leave packed_cache_path out"});
    return;
  }
  if (!is_dirty()) return;
  if (auto saved = save(); !saved) {
    log.warn({"weight_cache_not_saved",
              saved.error().message + "; the weights will be packed again in the next process",
              "choose a path that can be written, with enough space"});
  }
}

void DiskCache::save_on_demand() {
  const std::lock_guard lock(mutex_);
  const auto on_disk = CacheFile::open(path_, identity_, verify_weights_);
  if (!on_disk && file_ != nullptr) file_ = nullptr;  // it was removed or damaged since: all of it is due
  if (on_disk) file_ = *on_disk;
  if (uses_.empty()) {
    demand_ = {false, fmt::format("{} not saved: nothing to keep", path_)};
  } else if (!is_dirty()) {
    demand_ = {true, fmt::format("{} is up to date: {} entries, {} bytes", path_, file_->entries().size(),
                                 file_->file_bytes())};
  } else {
    const auto saved = save();
    demand_ = {saved.has_value(), saved ? fmt::format("{} {}", path_, written_) : saved.error().message};
  }
}

// Whether a method that is loaded uses what the file does not hold for it.
bool DiskCache::is_dirty() const {
  for (const auto& [key, use] : uses_) {
    const CacheEntry* entry = file_ == nullptr ? nullptr : file_->find(key);
    for (const std::string& method : use.methods) {
      if (!finished_.contains(method)) continue;
      if (entry == nullptr && use.block.expired()) continue;  // went with its delegates
      if (entry == nullptr || std::ranges::find(entry->methods, method) == entry->methods.end()) return true;
    }
  }
  return false;
}

// Views into uses_, finished_ and file_.
std::vector<CacheEntry> DiskCache::entries_to_write(std::vector<std::shared_ptr<PackedBlock>>& keep_alive) const {
  std::vector<CacheEntry> entries;
  for (const auto& [key, use] : uses_) {
    CacheEntry entry{key, {}, {}, {}};
    for (const std::string& method : use.methods) {
      if (finished_.contains(method)) entry.methods.push_back(method);
    }
    const CacheEntry* old = file_ == nullptr ? nullptr : file_->find(key);
    if (old != nullptr) {
      entry.weights = old->weights;
      entry.fingerprint = old->fingerprint;
      for (const std::string_view method : old->methods) {
        if (!finished_.contains(std::string(method))) entry.methods.push_back(method);
      }
    } else if (auto block = use.block.lock()) {
      entry.weights = {block->data(), block->size()};
      keep_alive.push_back(std::move(block));
    } else {
      continue;  // went with its delegates
    }
    if (!entry.methods.empty()) entries.push_back(std::move(entry));
  }
  if (file_ == nullptr) return entries;
  for (const CacheEntry& old : file_->entries()) {
    if (uses_.contains(std::string(old.key))) continue;
    CacheEntry kept{old.key, old.weights, old.fingerprint, {}};
    for (const std::string_view method : old.methods) {
      if (!finished_.contains(std::string(method))) kept.methods.push_back(method);
    }
    if (!kept.methods.empty()) entries.push_back(std::move(kept));
  }
  return entries;
}

Result<void> DiskCache::save() {
  const auto attempt = [&]() -> Result<void> {
    PTERUN_ASSIGN(CacheWriter writer, CacheWriter::begin(path_));
    // Another process may have written it since it was opened here; what it holds for other methods is kept.
    if (auto current = CacheFile::open(path_, identity_, verify_weights_)) file_ = *std::move(current);
    if (!is_dirty()) {
      written_ = "written by another process meanwhile";
      return {};
    }
    std::vector<std::shared_ptr<PackedBlock>> keep_alive;
    std::vector<CacheEntry> entries = entries_to_write(keep_alive);
    const std::size_t count = entries.size();
    PTERUN_ASSIGN(const std::uint64_t bytes, writer.commit(identity_, std::move(entries)));
    written_ = fmt::format("written: {} entries, {} bytes", count, bytes);
    PTERUN_ASSIGN(file_, CacheFile::open(path_, identity_, false));
    return {};
  };
  auto result = attempt();
  if (!result) written_ = "not written: " + result.error().message;
  return result;
}

bool DiskCache::is_in_force() const {
  const std::lock_guard lock(mutex_);
  return file_ != nullptr && !uses_.empty() && !is_dirty();
}

std::string DiskCache::status() const {
  const std::lock_guard lock(mutex_);
  return written_.empty() ? opened_ : fmt::format("{}; {}", opened_, written_);
}

std::optional<DiskCache::Demand> DiskCache::saved_on_demand() const {
  const std::lock_guard lock(mutex_);
  return demand_;
}

}  // namespace pterun::backends::xnn
