// Reading and writing the file of packed weights. Nothing in a file is believed before it was checked.
#include "backends/xnnpack/cache_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backends/xnnpack/weight_keys.h"

namespace pterun::backends::xnn {
namespace {

constexpr std::string_view kMagic = "PTWCACHE";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kCheckedHeaderBytes = 48;
constexpr std::size_t kFingerprintBytes = 16;
constexpr std::size_t kAlignment = 64;  // of XNNPACK's packed weights

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Error rejected(const std::string& reason) {
  return program_error(ErrorCode::kInvalidExternalData, reason);
}

std::string header_fingerprint(Bytes header, Bytes index) {
  return fingerprint(as_bytes(fingerprint(header) + fingerprint(index)));
}

// Reads the index front to back; every part that does not fit is nothing.
class IndexReader {
 public:
  explicit IndexReader(Bytes bytes) : bytes_(bytes) {}
  template <typename T>
  std::optional<T> number() {
    const auto value = read_le<T>(bytes_, at_);
    at_ += sizeof(T);
    return value;
  }
  std::optional<std::string_view> bytes(std::uint64_t size) {
    const auto part = checked_subspan(bytes_, at_, size);
    if (!part) return std::nullopt;
    at_ += size;
    return as_text(*part);
  }
  std::optional<std::string_view> text() {
    const auto size = number<std::uint32_t>();
    return size ? bytes(*size) : std::nullopt;
  }
  bool is_at_end() const { return at_ == bytes_.size(); }

 private:
  Bytes bytes_;
  std::uint64_t at_ = 0;
};

std::optional<CacheEntry> read_entry(IndexReader& reader, const std::vector<std::string_view>& methods, Bytes file) {
  const auto key = reader.text();
  const auto offset = reader.number<std::uint64_t>();
  const auto size = reader.number<std::uint64_t>();
  const auto print = reader.bytes(kFingerprintBytes);
  const auto uses = reader.number<std::uint32_t>();
  if (!key || !offset || !size || !print || !uses || *offset % kAlignment != 0) return std::nullopt;
  const auto weights = checked_subspan(file, *offset, *size);
  if (!weights) return std::nullopt;
  CacheEntry entry{*key, *weights, *print, {}};
  for (std::uint32_t i = 0; i < *uses; ++i) {
    const auto method = reader.number<std::uint32_t>();
    if (!method || *method >= methods.size()) return std::nullopt;
    entry.methods.push_back(methods[*method]);
  }
  return entry;
}

// Three texts, the methods' names, the entries. Nothing when it is not exactly that.
struct Index {
  CacheIdentity identity;
  std::vector<CacheEntry> entries;
};
std::optional<Index> read_index(Bytes bytes, Bytes file) {
  IndexReader reader(bytes);
  const auto program = reader.text();
  const auto library = reader.text();
  const auto cpu = reader.text();
  const auto num_methods = reader.number<std::uint32_t>();
  if (!program || !library || !cpu || !num_methods) return std::nullopt;
  std::vector<std::string_view> methods;
  for (std::uint32_t i = 0; i < *num_methods; ++i) {
    const auto name = reader.text();
    if (!name) return std::nullopt;
    methods.push_back(*name);
  }
  const auto num_entries = reader.number<std::uint32_t>();
  if (!num_entries) return std::nullopt;
  Index index{{std::string(*program), std::string(*library), std::string(*cpu)}, {}};
  for (std::uint32_t i = 0; i < *num_entries; ++i) {
    auto entry = read_entry(reader, methods, file);
    if (!entry) return std::nullopt;
    index.entries.push_back(*std::move(entry));
  }
  return reader.is_at_end() ? std::optional(std::move(index)) : std::nullopt;
}

// Header and index, with all offsets, for entries that have fingerprints.
class Layout {
 public:
  Layout(const CacheIdentity& identity, const std::vector<CacheEntry>& entries) {
    // The index has one size whatever the offsets are: once to learn it, once to write it.
    write(identity, entries);
    write(identity, entries);
  }
  const std::string& head() const { return head_; }  // what stands before the weights
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  template <typename T>
  static void add(std::string& target, T value) {
    target.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static void add_text(std::string& target, std::string_view text) {
    add(target, static_cast<std::uint32_t>(text.size()));
    target.append(text);
  }

  void place(const std::vector<CacheEntry>& entries) {
    std::uint64_t at = round_up(std::max(head_.size(), kHeaderBytes), kAlignment);
    offsets_.clear();
    file_bytes_ = head_.size();
    for (const CacheEntry& entry : entries) {
      offsets_.push_back(at);
      file_bytes_ = at + entry.weights.size();
      at = round_up(file_bytes_, kAlignment);
    }
  }

  void write(const CacheIdentity& identity, const std::vector<CacheEntry>& entries) {
    place(entries);
    std::vector<std::string_view> methods;
    for (const CacheEntry& entry : entries) {
      for (const std::string_view method : entry.methods) {
        if (std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
      }
    }
    std::string index;
    for (const std::string& text : {identity.program, identity.library, identity.cpu})
      add_text(index, text);
    add(index, static_cast<std::uint32_t>(methods.size()));
    for (const std::string_view method : methods)
      add_text(index, method);
    add(index, static_cast<std::uint32_t>(entries.size()));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      add_text(index, entries[i].key);
      add(index, offsets_[i]);
      add(index, static_cast<std::uint64_t>(entries[i].weights.size()));
      index.append(entries[i].fingerprint);
      add(index, static_cast<std::uint32_t>(entries[i].methods.size()));
      for (const std::string_view method : entries[i].methods)
        add(index, static_cast<std::uint32_t>(std::ranges::find(methods, method) - methods.begin()));
    }
    head_.assign(kMagic);
    add(head_, kVersion);
    add(head_, std::uint32_t{0});
    add(head_, file_bytes_);
    add(head_, std::uint64_t{kHeaderBytes});
    add(head_, static_cast<std::uint64_t>(index.size()));
    add(head_, std::uint64_t{0});
    head_ += header_fingerprint(as_bytes(head_), as_bytes(index)) + index;
  }

  std::string head_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t file_bytes_ = 0;
};

Error write_error(const std::string& path, const std::string& reason) {
  return make_error(ErrorCode::kAccessFailed, fmt::format("cannot write '{}': {}", path, reason)).at("file", path);
}

bool write_all(int descriptor, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

std::string temporary_name(const std::string& path) {
  return path + ".tmp";
}

// A cache file of any kind may be replaced; what `path` names by mistake may not: programs, data files and archives.
bool is_precious(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  char head[8] = {};
  const ssize_t size = ::read(descriptor, head, sizeof head);
  ::close(descriptor);
  if (size < static_cast<ssize_t>(sizeof head)) return false;
  const std::string_view identifier(head + 4, 2);
  const bool is_numbered = head[6] >= '0' && head[6] <= '9' && head[7] >= '0' && head[7] <= '9';
  if (is_numbered && (identifier == "ET" || identifier == "FT" || identifier == "BP")) return true;
  return std::string_view(head, 4) == "PK\x03\x04" || std::string_view(head, 6) == "\x93NUMPY";
}

bool is_same_file(int descriptor, const std::string& path) {
  struct stat open_one{}, named_one{};
  return ::fstat(descriptor, &open_one) == 0 && ::stat(path.c_str(), &named_one) == 0 &&
         open_one.st_dev == named_one.st_dev && open_one.st_ino == named_one.st_ino;
}

}  // namespace

// Reading ---------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const CacheFile>> CacheFile::open(const std::string& path, const CacheIdentity& identity,
                                                         bool verify_weights) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    return fail(make_error(ErrorCode::kNotFound, "there is no file yet"));
  }
  auto file = std::make_shared<CacheFile>();
  PTERUN_ASSIGN(file->file_, MappedFile::open(path));
  PTERUN_TRY(file->read(identity));
  for (const CacheEntry& entry : file->entries_) {
    if (verify_weights && fingerprint(entry.weights) != entry.fingerprint) {
      return fail(rejected(fmt::format("the weights at byte {} are damaged (checksum)",
                                       entry.weights.data() - file->file_.bytes().data())));
    }
  }
  return file;
}

Result<void> CacheFile::read(const CacheIdentity& identity) {
  const Bytes bytes = file_.bytes();
  if (bytes.size() < kHeaderBytes || as_text(bytes.first(kMagic.size())) != kMagic) {
    return fail(rejected("it is no weight cache of pterun"));
  }
  const auto version = *read_le<std::uint32_t>(bytes, 8);
  if (version != kVersion) {
    return fail(rejected(fmt::format("it has format version {}, this build reads version {}", version, kVersion)));
  }
  const auto file_bytes = *read_le<std::uint64_t>(bytes, 16);
  const auto index_bytes = *read_le<std::uint64_t>(bytes, 32);
  if (file_bytes != bytes.size()) {
    return fail(rejected(fmt::format("it has {} bytes and should have {}", bytes.size(), file_bytes)));
  }
  const auto index_range = checked_subspan(bytes, kHeaderBytes, index_bytes);
  if (!index_range || *read_le<std::uint64_t>(bytes, 24) != kHeaderBytes ||
      header_fingerprint(bytes.first(kCheckedHeaderBytes), *index_range) !=
          as_text(bytes.subspan(kCheckedHeaderBytes, kFingerprintBytes))) {
    return fail(rejected("its header or index is damaged (checksum)"));
  }
  auto index = read_index(*index_range, bytes);
  if (!index) return fail(rejected("its index makes no sense"));
  const auto differs = [](const char* what, const std::string& found, const std::string& expected) {
    return fail(rejected(fmt::format("it was made {} '{}', here it is '{}'", what, found, expected)));
  };
  if (index->identity.library != identity.library)
    return differs("by XNNPACK", index->identity.library, identity.library);
  if (index->identity.cpu != identity.cpu) return differs("on a processor with", index->identity.cpu, identity.cpu);
  if (index->identity.program != identity.program) {
    return fail(rejected("it belongs to another program: names or sizes of the weights differ"));
  }
  entries_ = std::move(index->entries);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!by_key_.emplace(entries_[i].key, i).second) return fail(rejected("its index has one key twice"));
  }
  return {};
}

const CacheEntry* CacheFile::find(std::string_view key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &entries_[found->second];
}

// Writing ---------------------------------------------------------------------------------------------------------

// The temporary file is the lock: it has one name, and whoever holds its lock may write and rename it. A writer that
// was killed leaves a file without a lock, which the next one takes over.
Result<CacheWriter> CacheWriter::begin(const std::string& path) {
  if (is_precious(path)) {
    return fail(write_error(path, "it is a program, data or archive file, which a cache must not replace"));
  }
  const std::string temporary = temporary_name(path);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (descriptor < 0) return fail(write_error(path, std::strerror(errno)));
    CacheWriter writer(path, descriptor);
    writer.renamed_ = true;  // not ours to remove yet
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int code = errno;
      if (code != EWOULDBLOCK) return fail(write_error(path, std::strerror(code)));
      return fail(make_error(ErrorCode::kInvalidState, fmt::format("'{}' is being written by another process", path)));
    }
    // Between opening and locking the writer before may have renamed it: then it is the cache file now.
    if (!is_same_file(descriptor, temporary)) continue;
    writer.renamed_ = false;
    if (::ftruncate(descriptor, 0) != 0) return fail(write_error(path, std::strerror(errno)));
    return writer;
  }
  return fail(make_error(ErrorCode::kInvalidState, fmt::format("'{}' is being written by others all the time", path)));
}

CacheWriter::CacheWriter(CacheWriter&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), renamed_(other.renamed_) {}

CacheWriter::~CacheWriter() {
  if (descriptor_ < 0) return;
  if (!renamed_) ::unlink(temporary_name(path_).c_str());
  ::close(descriptor_);
}

Result<std::uint64_t> CacheWriter::commit(const CacheIdentity& identity, std::vector<CacheEntry> entries) {
  std::vector<std::string> prints(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].fingerprint.empty()) continue;
    prints[i] = fingerprint(entries[i].weights);
    entries[i].fingerprint = prints[i];
  }
  const Layout layout(identity, entries);
  const auto failed = [&] { return fail(write_error(path_, std::strerror(errno))); };
  if (!write_all(descriptor_, as_bytes(layout.head()))) return failed();
  std::uint64_t at = layout.head().size();
  const std::byte padding[kAlignment] = {};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t gap = layout.offsets()[i] - at;
    if (!write_all(descriptor_, Bytes(padding).first(static_cast<std::size_t>(gap)))) return failed();
    if (!write_all(descriptor_, entries[i].weights)) return failed();
    at += gap + entries[i].weights.size();
  }
  // On the disk before it has the name: after a power failure the old file is there or the whole new one.
  if (::fdatasync(descriptor_) != 0) return failed();
  if (::rename(temporary_name(path_).c_str(), path_.c_str()) != 0) return failed();
  renamed_ = true;
  return layout.file_bytes();
}

}  // namespace pterun::backends::xnn
