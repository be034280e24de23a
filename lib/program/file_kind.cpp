// Recognises common file types by their first bytes.
#include "program/file_kind.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/utf8.h"

namespace pterun::program {
namespace {

std::string_view head_of(Bytes file, std::size_t count) {
  return {reinterpret_cast<const char*>(file.data()), std::min(file.size(), count)};
}

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view kind;
};

using namespace std::string_view_literals;

constexpr std::array kMagics = {
    Magic{4, "ET12"sv, "a .pte program"},
    Magic{4, "FT01"sv, "a .ptd data file"},
    Magic{4, "BP08"sv, "a .bpte bundled program"},
    Magic{4, "ED00"sv, "an ETDump profile"},
    Magic{4, "TFL3"sv, "a TensorFlow Lite model"},
    Magic{0, "PK\x03\x04"sv, "a zip archive (.pt, .pt2 or .npz)"},
    Magic{0, "PK\x05\x06"sv, "an empty zip archive"},
    Magic{0, "\x93NUMPY"sv, "a NumPy .npy array"},
    Magic{0,
          "\x7f"
          "ELF"sv,
          "an ELF binary"},
    Magic{0, "\x89HDF"sv, "an HDF5 file"},
    Magic{0, "GGUF"sv, "a GGUF model"},
    Magic{0, "\x1f\x8b"sv, "a gzip archive"},
    Magic{0,
          "\xfd"
          "7zXZ"sv,
          "an xz archive"},
    Magic{0, "\x28\xb5\x2f\xfd"sv, "a zstd archive"},
    Magic{0, "BZh"sv, "a bzip2 archive"},
    Magic{0, "\x89PNG"sv, "a PNG image"},
    Magic{0, "\xff\xd8\xff"sv, "a JPEG image"},
    Magic{0, "%PDF"sv, "a PDF document"},
    Magic{0, "version https://git-lfs"sv, "a Git LFS pointer; the file itself was not downloaded"},
    Magic{0, "<!DOCTYPE"sv, "an HTML page"},
    Magic{0, "<html"sv, "an HTML page"},
    Magic{0, "#!"sv, "a script"},
};

// A safetensors file begins with the length of its JSON header, which begins at byte 8.
bool looks_like_safetensors(Bytes file) {
  const auto length = read_le<std::uint64_t>(file, 0);
  return length && file.size() > 9 && *length >= 2 && range_fits(8, *length, file.size()) &&
         head_of(file.subspan(8), 1) == "{";
}

// ONNX is a protobuf without a magic number: field 1 (ir_version) as a small varint, then field 2, 3, 7 or 8.
bool looks_like_onnx(Bytes file) {
  const std::string_view head = head_of(file, 3);
  if (head.size() < 3 || head[0] != 0x08 || head[1] < 1 || head[1] > 32) return false;
  return head[2] == 0x12 || head[2] == 0x1a || head[2] == 0x3a || head[2] == 0x42;
}

bool is_text(std::string_view head) {
  const bool has_controls = std::any_of(head.begin(), head.end(), [](char c) {
    return (c >= 0 && c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == '\x7f';
  });
  if (has_controls) return false;
  // A sequence cut at the end of what is looked at is no fault of the text.
  for (std::size_t cut = 0; cut < 4 && cut < head.size(); ++cut) {
    if (is_utf8(head.substr(0, head.size() - cut))) return true;
  }
  return false;
}

std::string describe_text(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "blank text";
  if (head[first] == '{' || head[first] == '[') return "JSON text";
  return "text beginning with " + in_quotes(head.substr(first, 24));
}

}  // namespace

bool has_identifier(Bytes file, const char* identifier) {
  return file.size() >= 8 && head_of(file.subspan(4), 4) == identifier;
}

std::string describe_file_kind(Bytes file) {
  if (file.empty()) return "an empty file";
  const std::string_view head = head_of(file, 256);
  for (const Magic& magic : kMagics) {
    if (head.size() >= magic.offset && head.substr(magic.offset).starts_with(magic.bytes))
      return std::string(magic.kind);
  }
  if (looks_like_safetensors(file)) return "a safetensors file";
  if (std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; })) return "zeros";
  if (looks_like_onnx(file)) return "an ONNX model";
  if (is_text(head)) return describe_text(head);
  if (file.size() < 8) return "only " + std::to_string(file.size()) + " bytes of unknown data";
  return "unknown data beginning with " + in_quotes(head.substr(0, 8));
}

}  // namespace pterun::program
