// .ptd files: keys sorted, each with its bytes and, for tensors, its layout.
#include "program/external_data.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/checked.h"
#include "base/utf8.h"
#include "generated/program/flat_tensor_generated.h"
#include "program/container.h"
#include "program/file_kind.h"
#include "program/flatbuffer_access.h"

namespace pterun::program {
namespace {

constexpr std::uint32_t kNewestVersion = 0;

std::unexpected<Error> invalid(std::string message) {
  return fail(program_error(ErrorCode::kInvalidExternalData, std::move(message)));
}

Result<TensorLayout> read_layout(const fb::TensorLayout& layout, Bytes data) {
  TensorLayout result;
  const auto dtype = dtype_from_number(layout.scalar_type());
  if (!dtype) return invalid(fmt::format("it has the unknown scalar type {}", layout.scalar_type()));
  result.dtype = *dtype;
  const auto sizes = items_of(layout.sizes());
  if (sizes.size() > kMaxRank)
    return invalid(fmt::format("it has rank {}; at most {} is possible", sizes.size(), kMaxRank));
  for (const std::int32_t size : sizes)
    result.sizes.push_back(size);
  const auto numel = checked_numel(result.sizes.span());
  const auto nbytes =
      numel ? checked_mul<std::int64_t>(*numel, static_cast<std::int64_t>(dtype_size(*dtype))) : std::nullopt;
  if (!nbytes) return invalid("its sizes " + result.sizes.to_string() + " are negative or overflow");
  const auto order = DimOrder::from(items_of(layout.dim_order()));
  if (!order || order->rank() != result.sizes.rank())
    return invalid("its dim order is no permutation of its dimensions");
  result.dim_order = *order;
  if (static_cast<std::uint64_t>(*nbytes) > data.size()) {
    return invalid(fmt::format("{}{} needs {} bytes; its segment has {}", dtype_name(*dtype), result.sizes.to_string(),
                               *nbytes, data.size()));
  }
  if (reinterpret_cast<std::uintptr_t>(data.data()) % dtype_size(*dtype) != 0 && !data.empty()) {
    return invalid(
        fmt::format("its data is not aligned to the {} bytes of {}", dtype_size(*dtype), dtype_name(*dtype)));
  }
  if (*dtype == DType::kBool && !holds_bools(data.first(static_cast<std::size_t>(*nbytes)))) {
    return invalid("it has a bool that is neither 0 nor 1");
  }
  return result;
}

Result<ExternalEntry> read_entry(const fb::FlatTensor& root, const fb::NamedTensor& entry, Bytes segments) {
  ExternalEntry result;
  result.key = text_of(entry.key());
  if (result.key.empty() || !is_printable(result.key)) return invalid("it is no usable key");
  const TableList table(root.segments());
  if (entry.segment_index() >= table.size()) {
    return invalid(fmt::format("it refers to segment {}; there are {}", entry.segment_index(), table.size()));
  }
  const fb::DataSegment& segment = table[entry.segment_index()];
  const auto data = checked_subspan(segments, segment.offset(), segment.size());
  if (!data) {
    return invalid(fmt::format("its segment {} has {} bytes from offset {}; the segments of the file have {} bytes",
                               entry.segment_index(), segment.size(), segment.offset(), segments.size()));
  }
  result.data = *data;
  if (entry.tensor_layout() != nullptr) {
    PTERUN_ASSIGN(result.layout, read_layout(*entry.tensor_layout(), *data));
  }
  return result;
}

}  // namespace

class ExternalDataReader {
 public:
  static Result<std::shared_ptr<const ExternalDataFile>> open(const std::string& path) {
    PTERUN_ASSIGN(MappedFile file, MappedFile::open(path));
    const Bytes bytes = file.bytes();
    return make(std::move(file), bytes, path);
  }

  static Result<std::shared_ptr<const ExternalDataFile>> make(MappedFile file, Bytes bytes, const std::string& path) {
    auto result = std::make_shared<ExternalDataFile>();
    result->file_ = std::move(file);
    result->path_ = path;
    PTERUN_ASSIGN(const Container container, split_external_data(bytes, path));
    const auto* root = verify_flatbuffer<fb::FlatTensor>(container.flatbuffer, kExternalDataIdentifier);
    if (root == nullptr) {
      return fail(program_error(ErrorCode::kInvalidExternalData,
                                in_quotes(path, 300) + " is damaged: its flatbuffer does not verify")
                      .at("file", path));
    }
    if (auto done = read(*root, container, result->entries_); !done) {
      Error error = std::move(done).error();
      error.message = in_quotes(path, 300) + " is not valid: " + error.message;
      return fail(std::move(error).at("file", path));
    }
    return result;
  }

 private:
  static Result<void> read(const fb::FlatTensor& root, const Container& container,
                           std::vector<ExternalEntry>& entries) {
    if (root.version() > kNewestVersion) {
      return invalid(fmt::format("its schema version {} is newer than {}, the newest that this build knows",
                                 root.version(), kNewestVersion));
    }
    const TableList table(root.named_data());
    for (std::size_t i = 0; i < table.size(); ++i) {
      auto entry = read_entry(root, table[i], container.segments);
      if (!entry) {
        Error error = std::move(entry).error();
        error.message = fmt::format("entry {} ({}): {}", i, in_quotes(text_of(table[i].key())), error.message);
        return fail(std::move(error));
      }
      entries.push_back(*std::move(entry));
    }
    std::sort(entries.begin(), entries.end(),
              [](const ExternalEntry& a, const ExternalEntry& b) { return a.key < b.key; });
    const auto twin = std::adjacent_find(entries.begin(), entries.end(),
                                         [](const ExternalEntry& a, const ExternalEntry& b) { return a.key == b.key; });
    if (twin != entries.end()) return invalid("it has the key " + in_quotes(twin->key) + " twice");
    return {};
  }
};

Result<std::shared_ptr<const ExternalDataFile>> ExternalDataFile::open(const std::string& path) {
  return ExternalDataReader::open(path);
}

Result<std::shared_ptr<const ExternalDataFile>> ExternalDataFile::parse(Bytes bytes, const std::string& name) {
  return ExternalDataReader::make({}, bytes, name);
}

const ExternalEntry* ExternalDataFile::find(std::string_view key) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), key,
                                      [](const ExternalEntry& e, std::string_view wanted) { return e.key < wanted; });
  return found == entries_.end() || found->key != key ? nullptr : &*found;
}

}  // namespace pterun::program
