// Headers of .pte and .ptd files.
//   .pte:  0 root offset | 4 "ET12" | 8 "eh00" | 12 header length | 16 program size | 24 segment base | 32 segments'
//   size .ptd:  0 root offset | 4 "FT01" | 8 "FH01" | 12 header length | 16 flatbuffer offset | 24 flatbuffer size |
//         32 segment base | 40 segments' size
#include "program/container.h"

#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/utf8.h"
#include "program/file_kind.h"

namespace pterun::program {
namespace {

constexpr std::size_t kSmallestProgram = 64;
constexpr std::uint32_t kShortHeader = 24;
constexpr std::uint32_t kFullHeader = 32;
constexpr std::uint32_t kExternalDataHeader = 40;
// Flatbuffer offsets are 32 bit, and its verifier takes no more than this.
constexpr std::uint64_t kLargestFlatbuffer = std::numeric_limits<std::int32_t>::max();

Error damaged(ErrorCode code, const std::string& name, const std::string& what) {
  return program_error(code, in_quotes(name, 300) + " is damaged: " + what).at("file", name);
}

std::string head_text(Bytes file, std::size_t offset) {
  return in_quotes({reinterpret_cast<const char*>(file.data()) + offset, 4});
}

// The parts of a file as its header gives them.
struct Parts {
  std::uint64_t flatbuffer_bytes = 0;
  std::uint64_t segment_base = 0;   // 0: no segments
  std::uint64_t segment_bytes = 0;  // 0: unknown, up to the end of the file
};

Result<Container> split(Bytes file, const std::string& name, ErrorCode code, const Parts& parts) {
  if (parts.flatbuffer_bytes > file.size()) {
    return fail(damaged(code, name,
                        fmt::format("it has {} bytes, its header says {} for the flatbuffer alone; it is "
                                    "probably truncated",
                                    file.size(), parts.flatbuffer_bytes)));
  }
  if (parts.flatbuffer_bytes < kSmallestProgram) {
    return fail(damaged(code, name,
                        fmt::format("its header says that its flatbuffer has {} bytes; at least {} are "
                                    "needed",
                                    parts.flatbuffer_bytes, kSmallestProgram)));
  }
  if (parts.flatbuffer_bytes > kLargestFlatbuffer) {
    return fail(damaged(code, name,
                        fmt::format("its flatbuffer has {} bytes; at most {} are possible", parts.flatbuffer_bytes,
                                    kLargestFlatbuffer)));
  }
  Container container{file.first(static_cast<std::size_t>(parts.flatbuffer_bytes)), {}};
  if (parts.segment_base == 0) {
    if (parts.segment_bytes == 0) return container;
    return fail(
        damaged(code, name, fmt::format("its header says {} bytes of segments, but not where", parts.segment_bytes)));
  }
  if (parts.segment_base < parts.flatbuffer_bytes) {
    return fail(damaged(code, name,
                        fmt::format("its segments begin at byte {}, inside the flatbuffer of {} bytes",
                                    parts.segment_base, parts.flatbuffer_bytes)));
  }
  const bool base_fits = parts.segment_base <= file.size();
  const std::uint64_t length =
      parts.segment_bytes != 0 || !base_fits ? parts.segment_bytes : file.size() - parts.segment_base;
  const auto segments = checked_subspan(file, parts.segment_base, length);
  if (!segments) {
    const auto expected = checked_add(parts.segment_base, length);
    return fail(damaged(
        code, name,
        fmt::format("it has {} bytes, its header says {} (segments of {} bytes from byte {}); "
                    "it is probably truncated",
                    file.size(), expected ? std::to_string(*expected) : "more than 2^64", length, parts.segment_base)));
  }
  container.segments = *segments;
  return container;
}

Result<void> check_identifier(Bytes file, const std::string& name, ErrorCode code, const char* identifier,
                              const std::string& wanted) {
  if (has_identifier(file, identifier)) return {};
  if (file.size() >= 8 && std::memcmp(file.data() + 4, identifier, 2) == 0) {
    return fail(
        program_error(code, fmt::format("{} is a {} of another format version (found {}, this build reads '{}')",
                                        in_quotes(name, 300), wanted, head_text(file, 4), identifier))
            .at("file", name));
  }
  return fail(program_error(code, fmt::format("{} is not a {} (found {})", in_quotes(name, 300), wanted,
                                              describe_file_kind(file)))
                  .at("file", name));
}

}  // namespace

Result<Container> split_program(Bytes file, const std::string& name) {
  constexpr auto kCode = ErrorCode::kInvalidProgram;
  PTERUN_TRY(check_identifier(file, name, kCode, kProgramIdentifier, ".pte program"));
  if (file.size() < kSmallestProgram) {
    return fail(damaged(kCode, name,
                        fmt::format("it has {} bytes, a program has at least {}; it is probably truncated", file.size(),
                                    kSmallestProgram)));
  }
  const std::string_view magic(reinterpret_cast<const char*>(file.data()) + 8, 4);
  if (magic != "eh00") {
    if (magic.starts_with("eh")) {
      return fail(damaged(kCode, name, "its extended header has the unknown version " + in_quotes(magic)));
    }
    return split(file, name, kCode, Parts{file.size(), 0, 0});
  }
  const std::uint32_t length = *read_le<std::uint32_t>(file, 12);
  Parts parts{*read_le<std::uint64_t>(file, 16), *read_le<std::uint64_t>(file, 24), 0};
  if (length < kShortHeader || length > parts.flatbuffer_bytes) {
    return fail(damaged(kCode, name,
                        fmt::format("its extended header says that it is {} bytes long; {} to {} are "
                                    "possible",
                                    length, kShortHeader, parts.flatbuffer_bytes)));
  }
  if (length >= kFullHeader) parts.segment_bytes = *read_le<std::uint64_t>(file, 32);
  return split(file, name, kCode, parts);
}

Result<Container> split_external_data(Bytes file, const std::string& name) {
  constexpr auto kCode = ErrorCode::kInvalidExternalData;
  PTERUN_TRY(check_identifier(file, name, kCode, kExternalDataIdentifier, ".ptd data file"));
  if (file.size() < kSmallestProgram) {
    return fail(damaged(kCode, name,
                        fmt::format("it has {} bytes, a data file has at least {}; it is probably truncated",
                                    file.size(), kSmallestProgram)));
  }
  if (std::string_view(reinterpret_cast<const char*>(file.data()) + 8, 4) != "FH01") {
    return fail(damaged(kCode, name, "its header begins with " + head_text(file, 8) + " instead of 'FH01'"));
  }
  const std::uint32_t length = *read_le<std::uint32_t>(file, 12);
  if (length < kExternalDataHeader) {
    return fail(damaged(
        kCode, name,
        fmt::format("its header says that it is {} bytes long; at least {} are needed", length, kExternalDataHeader)));
  }
  const auto end = checked_add(*read_le<std::uint64_t>(file, 16), *read_le<std::uint64_t>(file, 24));
  if (!end) return fail(damaged(kCode, name, "the offset and size of its flatbuffer overflow"));
  return split(file, name, kCode, Parts{*end, *read_le<std::uint64_t>(file, 32), *read_le<std::uint64_t>(file, 40)});
}

}  // namespace pterun::program
