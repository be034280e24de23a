// Reading and writing npz through libzip, from memory. Sizes in a zip are claims: none is believed before it is
// compared with what the bytes can hold.
#include "tensor/io/npz.h"

#include <algorithm>
#include <memory>
#include <set>

#include "base/utf8.h"
#include "tensor/io/libzip.h"
#include "tensor/io/npy.h"

namespace pterun::io {
namespace {

// Deflate cannot do better: 258 bytes from two bits.
constexpr std::uint64_t kMaxDeflateRatio = 1032;
constexpr std::uint64_t kRatioSlack = 4096;
constexpr std::string_view kSuffix = ".npy";
// An archive without members: nothing but the end record.
constexpr std::string_view kSmallestArchive("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);

struct Discard {
  void operator()(zip_t* archive) const { libzip().zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
struct CloseMember {
  void operator()(zip_file_t* file) const { libzip().zip_fclose(file); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;

std::string zip_error_text(zip_error_t& error) {
  std::string text = libzip().zip_error_strerror(&error);
  libzip().zip_error_fini(&error);
  return text;
}

Result<Archive> open_archive(Bytes bytes, const std::string& file) {
  // libzip takes no bytes at all for an archive without members.
  if (bytes.size() < kSmallestArchive.size())
    return fail(input_error(file, {}, "it is not a .npz archive, but has " + std::to_string(bytes.size()) + " bytes"));
  PTERUN_TRY(load_libzip());
  zip_error_t error;
  libzip().zip_error_init(&error);
  zip_source_t* source = libzip().zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) return fail(input_error(file, {}, zip_error_text(error)));
  zip_t* archive = libzip().zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    libzip().zip_source_free(source);
    return fail(input_error(file, {}, "it is not a .npz archive: " + zip_error_text(error)));
  }
  libzip().zip_error_fini(&error);
  return Archive(archive);
}

struct Entry {
  zip_uint64_t index = 0;
  std::string key;
  std::uint64_t size = 0;  // as the archive says; checked to be possible
};

Result<Entry> read_entry(zip_t* archive, zip_uint64_t index, const std::string& file) {
  zip_stat_t stat;
  if (libzip().zip_stat_index(archive, index, 0, &stat) != 0) {
    return fail(input_error(file, {}, "member " + std::to_string(index) + ": " + libzip().zip_strerror(archive)));
  }
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) {
    return fail(input_error(file, {}, "member " + std::to_string(index) + " has an incomplete directory entry"));
  }
  const std::string_view name = stat.name;
  if (!name.ends_with(kSuffix) || !is_printable(name)) {
    return fail(input_error(file, {}, "member " + in_quotes(name) + " is not a .npy array; is this a .npz?"));
  }
  Entry entry{index, std::string(name.substr(0, name.size() - kSuffix.size())), stat.size};
  const bool encrypted = (stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE;
  if (encrypted) return fail(input_error(file, entry.key, "it is encrypted"));
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return fail(input_error(file, entry.key,
                            "it is compressed by method " + std::to_string(stat.comp_method) +
                                "; stored and deflated members can be read"));
  }
  return entry;
}

// The directory: checked names, and sizes that this file can hold.
Result<std::vector<Entry>> read_entries(zip_t* archive, std::uint64_t file_bytes, const std::string& file) {
  const zip_int64_t count = libzip().zip_get_num_entries(archive, 0);
  std::vector<Entry> entries;
  std::set<std::string_view> keys;
  std::uint64_t total = 0;
  const std::uint64_t limit = file_bytes * kMaxDeflateRatio + kRatioSlack;
  for (zip_int64_t i = 0; i < count; ++i) {
    PTERUN_ASSIGN(Entry entry, read_entry(archive, static_cast<zip_uint64_t>(i), file));
    const auto sum = checked_add(total, entry.size);
    if (!sum || *sum > limit) {
      return fail(input_error(file, entry.key,
                              "its members say that they have more bytes than a file of " + std::to_string(file_bytes) +
                                  " bytes can hold"));
    }
    total = *sum;
    entries.push_back(std::move(entry));
  }
  for (const Entry& entry : entries) {
    if (!keys.insert(entry.key).second) return fail(input_error(file, entry.key, "it is there twice"));
  }
  return entries;
}

class MemberReader {
 public:
  MemberReader(zip_t* archive, const Entry& entry, const std::string& file)
      : archive_(archive), entry_(entry), file_(file) {}

  Result<HostTensor> read() {
    member_.reset(libzip().zip_fopen_index(archive_, entry_.index, 0));
    if (member_ == nullptr) return fail(error(libzip().zip_strerror(archive_)));
    std::vector<std::byte> head(static_cast<std::size_t>(std::min<std::uint64_t>(entry_.size, kMaxNpyHeaderBytes)));
    PTERUN_TRY(read_bytes(head));
    PTERUN_ASSIGN(const NpyHeader header, parse_npy_header(head, file_, entry_.key));
    if (header.header_bytes + header.data_bytes != entry_.size) {
      return fail(error(std::string(dtype_name(header.dtype)) + header.shape.to_string() + " needs " +
                        std::to_string(header.data_bytes) + " bytes; there are " +
                        std::to_string(entry_.size - header.header_bytes)));
    }
    PTERUN_ASSIGN(HostTensor tensor, allocate_npy(header, file_, entry_.key));
    const std::span<std::byte> elements(static_cast<std::byte*>(tensor.view().mutable_raw_data()),
                                        static_cast<std::size_t>(header.data_bytes));
    const std::span<const std::byte> known = std::span(head).subspan(static_cast<std::size_t>(header.header_bytes));
    std::copy(known.begin(), known.end(), elements.begin());
    PTERUN_TRY(read_bytes(elements.subspan(known.size())));
    PTERUN_TRY(check_end());
    return finish_npy(header, std::move(tensor), file_, entry_.key);
  }

 private:
  Result<void> read_bytes(std::span<std::byte> into) {
    while (!into.empty()) {
      const zip_int64_t count = libzip().zip_fread(member_.get(), into.data(), into.size());
      if (count < 0) return fail(error(libzip().zip_file_strerror(member_.get())));
      if (count == 0)
        return fail(error("it is shorter than the archive says (" + std::to_string(entry_.size) + " bytes)"));
      into = into.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

  // The checksum is compared when the end is read.
  Result<void> check_end() {
    std::byte extra{};
    const zip_int64_t count = libzip().zip_fread(member_.get(), &extra, 1);
    if (count < 0) return fail(error(libzip().zip_file_strerror(member_.get())));
    if (count > 0) return fail(error("it is longer than the archive says (" + std::to_string(entry_.size) + " bytes)"));
    return {};
  }

  Error error(const std::string& what) const { return input_error(file_, entry_.key, what); }

  zip_t* archive_;
  const Entry& entry_;
  const std::string& file_;
  Member member_;
};

}  // namespace

Result<std::vector<NamedTensor>> parse_npz(Bytes bytes, const std::string& file) {
  PTERUN_ASSIGN(const Archive archive, open_archive(bytes, file));
  PTERUN_ASSIGN(const std::vector<Entry> entries, read_entries(archive.get(), bytes.size(), file));
  std::vector<NamedTensor> result;
  result.reserve(entries.size());
  for (const Entry& entry : entries) {
    PTERUN_ASSIGN(HostTensor tensor, MemberReader(archive.get(), entry, file).read());
    result.push_back({entry.key, std::move(tensor)});
  }
  return result;
}

Result<std::vector<NamedTensor>> read_npz(const std::string& path) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  return parse_npz(file.bytes(), path);
}

Result<HostTensor> read_npz_entry(const std::string& path, std::string_view key) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  PTERUN_ASSIGN(const Archive archive, open_archive(file.bytes(), path));
  PTERUN_ASSIGN(const std::vector<Entry> entries, read_entries(archive.get(), file.bytes().size(), path));
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  if (found != entries.end()) return MemberReader(archive.get(), *found, path).read();
  std::vector<std::string> keys;
  for (const Entry& entry : entries)
    keys.push_back(entry.key);
  return fail(unknown_key(path, key, keys));
}

Result<std::vector<std::string>> read_npz_keys(const std::string& path) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  PTERUN_ASSIGN(const Archive archive, open_archive(file.bytes(), path));
  PTERUN_ASSIGN(std::vector<Entry> entries, read_entries(archive.get(), file.bytes().size(), path));
  std::vector<std::string> keys;
  for (Entry& entry : entries)
    keys.push_back(std::move(entry.key));
  return keys;
}

namespace {

// What a member is made of; lives until the archive is written.
struct Output {
  std::string header;
  HostTensor copy;  // when the tensor is not row-major
  zip_buffer_fragment_t parts[2];
};

Result<std::unique_ptr<Output>> make_output(const NamedTensorView& named, const std::string& path) {
  auto output = std::make_unique<Output>();
  const Tensor* tensor = named.tensor;
  PTERUN_ASSIGN(output->header, npy_header_text(tensor->dtype(), tensor->shape(), path));
  if (!tensor->is_row_major()) {
    PTERUN_ASSIGN(output->copy, HostTensor::row_major_copy(*tensor));
    tensor = &output->copy.view();
  }
  output->parts[0] = {reinterpret_cast<zip_uint8_t*>(output->header.data()), output->header.size()};
  output->parts[1] = {static_cast<zip_uint8_t*>(const_cast<void*>(tensor->raw_data())), tensor->nbytes()};
  return output;
}

Result<void> add_member(zip_t* archive, const std::string& name, const Output& output, const std::string& path) {
  zip_source_t* source = libzip().zip_source_buffer_fragment(archive, output.parts, 2, 0);
  if (source == nullptr) return fail(output_error(path, libzip().zip_strerror(archive)));
  const zip_int64_t index = libzip().zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    libzip().zip_source_free(source);
    return fail(output_error(path, libzip().zip_strerror(archive)));
  }
  constexpr zip_uint16_t kFirstOfJanuary1980 = (1 << 5) | 1;
  const auto member = static_cast<zip_uint64_t>(index);
  if (libzip().zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) != 0 ||
      libzip().zip_file_set_dostime(archive, member, 0, kFirstOfJanuary1980, 0) != 0) {
    return fail(output_error(path, libzip().zip_strerror(archive)));
  }
  return {};
}

}  // namespace

Result<void> write_npz(const std::string& path, std::span<const NamedTensorView> tensors) {
  PTERUN_TRY(load_libzip());
  if (tensors.empty()) {  // libzip would remove the file
    const Bytes end = std::as_bytes(std::span(kSmallestArchive));
    return write_file(path, std::span(&end, 1));
  }
  std::vector<std::unique_ptr<Output>> outputs;
  int code = 0;
  Archive archive(libzip().zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (archive == nullptr) {
    zip_error_t error;
    libzip().zip_error_init_with_code(&error, code);
    return fail(output_error(path, zip_error_text(error)));
  }
  for (const NamedTensorView& named : tensors) {
    PTERUN_ASSIGN(auto output, make_output(named, path));
    PTERUN_TRY(add_member(archive.get(), std::string(named.name) + std::string(kSuffix), *output, path));
    outputs.push_back(std::move(output));
  }
  if (libzip().zip_close(archive.get()) != 0) return fail(output_error(path, libzip().zip_strerror(archive.get())));
  archive.release();
  return {};
}

void release_npz_library() {
  unload_libzip();
}

}  // namespace pterun::io
