// The .npy header is a Python dict literal with three known keys; only that subset is understood.
#include "tensor/io/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/utf8.h"
#include "tensor/io/named_tensor.h"

namespace pterun::io {
namespace {

using namespace std::string_view_literals;
constexpr std::string_view kMagic = "\x93NUMPY"sv;

struct Kind {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr std::array kKinds = {
    Kind{"b1", DType::kBool},      Kind{"u1", DType::kUInt8},       Kind{"i1", DType::kInt8},
    Kind{"u2", DType::kUInt16},    Kind{"i2", DType::kInt16},       Kind{"u4", DType::kUInt32},
    Kind{"i4", DType::kInt32},     Kind{"u8", DType::kUInt64},      Kind{"i8", DType::kInt64},
    Kind{"f2", DType::kFloat16},   Kind{"f4", DType::kFloat32},     Kind{"f8", DType::kFloat64},
    Kind{"c8", DType::kComplex64}, Kind{"c16", DType::kComplex128},
};

// Reads the dict of a header. Every function returns false at the first thing that is not as expected.
class DictParser {
 public:
  explicit DictParser(std::string_view text) : text_(text) {}

  bool parse() {
    if (!take('{')) return false;
    while (!take('}')) {
      if (!parse_item()) return false;
      if (take(',')) continue;
      if (!take('}')) return false;
      break;
    }
    skip_space();
    return text_.empty() && descr && has_order_ && shape;
  }

  std::optional<std::string_view> descr;
  std::optional<Shape> shape;
  bool fortran_order = false;
  bool rank_too_high = false;

 private:
  bool parse_item() {
    std::string_view key;
    if (!take_string(key) || !take(':')) return false;
    if (key == "descr" && !descr) {
      // A list of fields describes records; what stands there is kept for the message.
      std::string_view value;
      if (!take_string(value)) return false;
      descr = value;
      return true;
    }
    if (key == "fortran_order" && !has_order_) return parse_bool();
    return key == "shape" && !shape && parse_shape();
  }

  bool parse_bool() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      fortran_order = value;
      has_order_ = true;
      return true;
    }
    return false;
  }

  bool parse_shape() {
    if (!take('(')) return false;
    Shape sizes;
    while (!take(')')) {
      skip_space();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) return false;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2's long integers
      rank_too_high |= sizes.rank() == kMaxRank;
      sizes.push_back(size);
      if (take(',')) continue;
      if (!take(')')) return false;
      break;
    }
    shape = sizes;
    return true;
  }

  bool take(char c) {
    skip_space();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take_string(std::string_view& value) {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const std::size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return false;
    value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }

  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }

  bool has_order_ = false;
  std::string_view text_;
};

std::string_view text_at(Bytes bytes, std::size_t offset, std::size_t length) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, length};
}

// Length of the dict and where it starts, or nullopt.
struct Extent {
  std::size_t offset;
  std::uint64_t length;
};
std::optional<Extent> header_extent(Bytes head) {
  const int major = std::to_integer<int>(head[6]);
  if (major == 1) return Extent{10, *read_le<std::uint16_t>(head, 8)};
  if (const auto length = read_le<std::uint32_t>(head, 8)) return Extent{12, *length};
  return std::nullopt;
}

Shape reversed(const Shape& shape) {
  Shape result;
  for (std::size_t i = shape.rank(); i-- > 0;)
    result.push_back(shape[i]);
  return result;
}

void swap_bytes(Tensor& tensor) {
  const std::size_t width = dtype_size(is_complex(tensor.dtype()) ? complex_part(tensor.dtype()) : tensor.dtype());
  auto* data = static_cast<std::byte*>(tensor.mutable_raw_data());
  for (std::size_t at = 0; at < tensor.nbytes(); at += width)
    std::reverse(data + at, data + at + width);
}

}  // namespace

Result<NpyHeader> parse_npy_header(Bytes head, const std::string& file, std::string_view key) {
  const auto refuse = [&](const std::string& what) { return fail(input_error(file, key, what)); };
  if (head.size() < 10 || text_at(head, 0, kMagic.size()) != kMagic) return refuse("it is not a .npy array");
  const int major = std::to_integer<int>(head[6]);
  if (major < 1 || major > 3) return refuse("it is a .npy of version " + std::to_string(major) + "; 1 to 3 are known");
  const auto extent = header_extent(head);
  if (!extent || !range_fits(extent->offset, extent->length, head.size())) {
    return refuse("its .npy header says that it is " + (extent ? std::to_string(extent->length) : "some") +
                  " bytes long, which is more than there are or than any header needs");
  }
  DictParser dict(text_at(head, extent->offset, static_cast<std::size_t>(extent->length)));
  const bool understood = dict.parse();
  if (dict.rank_too_high) return refuse("it has a rank above " + std::to_string(kMaxRank));
  if (!understood) {
    return refuse("its .npy header is not understood: " +
                  printable(text_at(head, extent->offset, static_cast<std::size_t>(extent->length))));
  }
  const std::string_view descr = *dict.descr;
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const Kind& k) { return descr.size() >= 3 && descr.substr(1) == k.code; });
  if (kind == kKinds.end() || std::string_view("<>=|").find(descr[0]) == std::string_view::npos) {
    return refuse("its elements are of NumPy's type " + in_quotes(descr) +
                  "; bool, integers and floats of 16 to 64 bits can be read (bfloat16 comes in safetensors)");
  }
  NpyHeader header{kind->dtype, descr[0] == '>', dict.fortran_order, *dict.shape, extent->offset + extent->length, 0};
  const auto nbytes = tensor_nbytes(header.dtype, header.shape);
  if (!nbytes) return refuse("its shape " + header.shape.to_string() + " overflows");
  header.data_bytes = *nbytes;
  return header;
}

Result<HostTensor> allocate_npy(const NpyHeader& header, const std::string& file, std::string_view key) {
  auto tensor = HostTensor::allocate(header.dtype, header.fortran_order ? reversed(header.shape) : header.shape);
  if (!tensor) return fail(input_error(file, key, tensor.error().message));
  return tensor;
}

Result<HostTensor> finish_npy(const NpyHeader& header, HostTensor filled, const std::string& file,
                              std::string_view key) {
  PTERUN_TRY(check_bools(filled.view(), file, key));
  if (header.big_endian) swap_bytes(filled.view());
  if (!header.fortran_order || header.shape.rank() < 2) return filled;
  // Fortran order is row-major of the reversed dimensions.
  std::array<std::uint8_t, kMaxRank> order{};
  const std::size_t rank = std::min(header.shape.rank(), order.size());
  for (std::size_t i = 0; i < rank; ++i)
    order[i] = static_cast<std::uint8_t>(rank - 1 - i);
  const DimOrder dim_order = *DimOrder::from({order.data(), rank});
  return HostTensor::row_major_copy(Tensor(header.dtype, header.shape, dim_order, filled.view().mutable_raw_data()));
}

Result<HostTensor> parse_npy(Bytes bytes, const std::string& file, std::string_view key) {
  PTERUN_ASSIGN(const NpyHeader header,
                parse_npy_header(bytes.first(std::min(bytes.size(), kMaxNpyHeaderBytes)), file, key));
  const Bytes elements = bytes.subspan(static_cast<std::size_t>(header.header_bytes));
  if (elements.size() != header.data_bytes) {
    return fail(input_error(file, key,
                            std::string(dtype_name(header.dtype)) + header.shape.to_string() + " needs " +
                                std::to_string(header.data_bytes) + " bytes; there are " +
                                std::to_string(elements.size())));
  }
  PTERUN_ASSIGN(HostTensor tensor, allocate_npy(header, file, key));
  if (!elements.empty()) std::memcpy(tensor.view().mutable_raw_data(), elements.data(), elements.size());
  return finish_npy(header, std::move(tensor), file, key);
}

Result<HostTensor> read_npy(const std::string& path) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  return parse_npy(file.bytes(), path);
}

Result<std::string> npy_header_text(DType dtype, const Shape& shape, const std::string& file) {
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.dtype == dtype; });
  if (kind == kKinds.end()) {
    return fail(output_error(file, "NumPy has no type " + std::string(dtype_name(dtype)))
                    .with_hint("write a .safetensors file instead"));
  }
  std::string dict = "{'descr': '" + std::string(dtype_size(dtype) == 1 ? "|" : "<") + std::string(kind->code) +
                     "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : shape)
    dict += std::to_string(size) + (shape.rank() == 1 ? "," : ", ");
  if (shape.rank() > 1) dict.resize(dict.size() - 2);
  dict += "), }";
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kPadding = 64;
  dict.resize(round_up(kPrefix + dict.size() + 1, kPadding) - kPrefix, ' ');
  dict.back() = '\n';
  std::string text(kMagic);
  text += {'\x01', '\x00', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return text + dict;
}

Result<void> write_npy(const std::string& path, const Tensor& tensor) {
  PTERUN_ASSIGN(const std::string header, npy_header_text(tensor.dtype(), tensor.shape(), path));
  HostTensor copy;
  const Tensor* source = &tensor;
  if (!tensor.is_row_major()) {
    PTERUN_ASSIGN(copy, HostTensor::row_major_copy(tensor));
    source = &copy.view();
  }
  const std::array parts = {std::as_bytes(std::span(header)),
                            Bytes(static_cast<const std::byte*>(source->raw_data()), source->nbytes())};
  return write_file(path, parts);
}

}  // namespace pterun::io
