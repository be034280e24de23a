// The header is read as a stream of JSON events, so that depth and size are bounded before anything is built.
#include "tensor/io/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace pterun::io {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

struct Kind {
  std::string_view name;
  DType dtype;
};
constexpr std::array kKinds = {
    Kind{"BOOL", DType::kBool},
    Kind{"U8", DType::kUInt8},
    Kind{"I8", DType::kInt8},
    Kind{"U16", DType::kUInt16},
    Kind{"I16", DType::kInt16},
    Kind{"U32", DType::kUInt32},
    Kind{"I32", DType::kInt32},
    Kind{"U64", DType::kUInt64},
    Kind{"I64", DType::kInt64},
    Kind{"F16", DType::kFloat16},
    Kind{"BF16", DType::kBFloat16},
    Kind{"F32", DType::kFloat32},
    Kind{"F64", DType::kFloat64},
    Kind{"C64", DType::kComplex64},
    Kind{"C128", DType::kComplex128},
    Kind{"F8_E5M2", DType::kFloat8E5M2},
    Kind{"F8_E4M3", DType::kFloat8E4M3FN},
};

struct Entry {
  std::string key;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;
};

// Receives the events of the header. Depth 0 is outside, 1 in the header, 2 in a tensor or the metadata, 3 in a list.
// The first event that does not belong ends the parse with `problem`.
class HeaderHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  std::string problem;

  bool start_object(std::size_t) override {
    if (depth_ > 1) return refuse("an object in the wrong place");
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !in_metadata_ && !complete()) return false;
    --depth_;
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ == 1) return start_entry(name);
    field_ = name;
    if (in_metadata_ || fields_.insert(field_).second) return true;
    return refuse("the field " + in_quotes(field_) + " twice");
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || (field_ != "shape" && field_ != "data_offsets"))
      return refuse("a list in the wrong place");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool string(std::string& value) override {
    if (depth_ != 2) return refuse("text in the wrong place");
    if (in_metadata_) return true;
    if (field_ != "dtype") return refuse("text as " + in_quotes(field_));
    entries.back().dtype = value;
    return true;
  }
  bool number_unsigned(std::uint64_t value) override {
    if (depth_ != 3) return refuse("a number in the wrong place");
    auto& list = field_ == "shape" ? entries.back().shape : entries.back().offsets;
    if (list.size() == (field_ == "shape" ? kMaxRank : 2)) return refuse("too many numbers in " + in_quotes(field_));
    list.push_back(value);
    return true;
  }
  bool number_integer(std::int64_t) override { return refuse("a negative number"); }
  bool number_float(double, const std::string&) override { return refuse("a number that is no integer"); }
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("true or false"); }
  bool binary(nlohmann::json::binary_t&) override { return refuse("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return refuse("no JSON at byte " + std::to_string(position));
  }

 private:
  bool refuse(const std::string& what) {
    problem = what;
    if (depth_ >= 2 && !in_metadata_ && !entries.empty()) problem += " for " + in_quotes(entries.back().key);
    return false;
  }
  bool start_entry(const std::string& name) {
    in_metadata_ = name == kMetadata;
    if (in_metadata_) return metadata_count_++ == 0 || refuse("the metadata twice");
    if (!keys_.insert(name).second) return refuse("the key " + in_quotes(name) + " twice");
    entries.push_back({name, {}, {}, {}});
    fields_.clear();
    return true;
  }
  bool complete() {
    if (fields_.contains("dtype") && fields_.contains("shape") && entries.back().offsets.size() == 2) return true;
    return refuse("no dtype, shape or data_offsets");
  }

  int depth_ = 0;
  bool in_metadata_ = false;
  int metadata_count_ = 0;
  std::string field_;
  std::set<std::string> fields_;
  std::set<std::string> keys_;
};

// One tensor with everything checked; `data` points into the file.
struct Checked {
  std::string key;
  DType dtype;
  Shape shape;
  Bytes data;
};

Result<Checked> check_entry(const Entry& entry, Bytes elements, const std::string& file) {
  const auto refuse = [&](const std::string& what) { return fail(input_error(file, entry.key, what)); };
  const auto dtype = safetensors_dtype(entry.dtype);
  if (!dtype) return refuse("it has the unknown dtype " + in_quotes(entry.dtype));
  Checked result{entry.key, *dtype, {}, {}};
  for (const std::uint64_t size : entry.shape) {
    if (size > static_cast<std::uint64_t>(INT64_MAX)) return refuse("it has the size " + std::to_string(size));
    result.shape.push_back(static_cast<std::int64_t>(size));
  }
  const std::uint64_t begin = entry.offsets[0];
  const std::uint64_t end = entry.offsets[1];
  if (end < begin || end > elements.size()) {
    return refuse("its data is from byte " + std::to_string(begin) + " to " + std::to_string(end) + "; the file has " +
                  std::to_string(elements.size()) + " bytes of data");
  }
  const auto nbytes = tensor_nbytes(result.dtype, result.shape);
  if (!nbytes || *nbytes != end - begin) {
    return refuse(std::string(dtype_name(result.dtype)) + result.shape.to_string() + " needs " +
                  (nbytes ? std::to_string(*nbytes) : "too many") + " bytes; it has " + std::to_string(end - begin));
  }
  result.data = elements.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  return result;
}

// The data of the tensors must follow each other and fill the file: nothing may hide between them.
Result<void> check_coverage(const std::vector<Checked>& tensors, Bytes elements, const std::string& file) {
  std::vector<const Checked*> by_place;
  for (const Checked& tensor : tensors)
    by_place.push_back(&tensor);
  std::sort(by_place.begin(), by_place.end(), [](const Checked* a, const Checked* b) {
    return a->data.data() != b->data.data() ? a->data.data() < b->data.data() : a->data.size() < b->data.size();
  });
  const std::byte* expected = elements.data();
  for (const Checked* tensor : by_place) {
    if (tensor->data.data() != expected) {
      return fail(input_error(file, tensor->key, "its data does not follow the tensor before it"));
    }
    expected += tensor->data.size();
  }
  if (expected == elements.data() + elements.size()) return {};
  return fail(input_error(
      file, {},
      "it has " + std::to_string(elements.data() + elements.size() - expected) + " bytes behind its last tensor"));
}

Result<std::vector<Checked>> read_header(Bytes bytes, const std::string& file) {
  const auto length = read_le<std::uint64_t>(bytes, 0);
  if (!length || *length < 2 || *length > kMaxHeaderBytes || !range_fits(8, *length, bytes.size()) ||
      bytes[8] != std::byte{'{'}) {
    return fail(input_error(file, {},
                            "it is not a safetensors file, or is truncated: it has " + std::to_string(bytes.size()) +
                                " bytes" + (length ? " and says that its header has " + std::to_string(*length) : "")));
  }
  HeaderHandler handler;
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + 8;
  if (!nlohmann::json::sax_parse(text, text + *length, &handler)) {
    return fail(input_error(file, {}, "its header is no safetensors header: found " + handler.problem));
  }
  const Bytes elements = bytes.subspan(8 + static_cast<std::size_t>(*length));
  std::vector<Checked> tensors;
  for (const Entry& entry : handler.entries) {
    if (!is_printable(entry.key) || entry.key.empty())
      return fail(input_error(file, {}, "it has the key " + in_quotes(entry.key)));
    if (entry.offsets.size() != 2) return fail(input_error(file, entry.key, "it is no description of a tensor"));
    PTERUN_ASSIGN(Checked tensor, check_entry(entry, elements, file));
    tensors.push_back(std::move(tensor));
  }
  PTERUN_TRY(check_coverage(tensors, elements, file));
  return tensors;
}

}  // namespace

std::optional<DType> safetensors_dtype(std::string_view name) {
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.name == name; });
  if (kind == kKinds.end()) return std::nullopt;
  return kind->dtype;
}

Result<std::vector<NamedTensor>> parse_safetensors(Bytes bytes, const std::string& file) {
  PTERUN_ASSIGN(const std::vector<Checked> tensors, read_header(bytes, file));
  std::vector<NamedTensor> result;
  for (const Checked& checked : tensors) {
    PTERUN_ASSIGN(HostTensor tensor, copy_tensor(checked.dtype, checked.shape, checked.data, file, checked.key));
    result.push_back({checked.key, std::move(tensor)});
  }
  return result;
}

Result<std::vector<NamedTensor>> read_safetensors(const std::string& path) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  return parse_safetensors(file.bytes(), path);
}

Result<HostTensor> read_safetensors_entry(const std::string& path, std::string_view key) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  PTERUN_ASSIGN(const std::vector<Checked> tensors, read_header(file.bytes(), path));
  std::vector<std::string> keys;
  for (const Checked& checked : tensors) {
    if (checked.key == key) return copy_tensor(checked.dtype, checked.shape, checked.data, path, key);
    keys.push_back(checked.key);
  }
  return fail(unknown_key(path, key, keys));
}

Result<std::vector<std::string>> read_safetensors_keys(const std::string& path) {
  PTERUN_ASSIGN(const MappedFile file, open_input(path));
  PTERUN_ASSIGN(const std::vector<Checked> tensors, read_header(file.bytes(), path));
  std::vector<std::string> keys;
  for (const Checked& checked : tensors)
    keys.push_back(checked.key);
  return keys;
}

Result<void> write_safetensors(const std::string& path, std::span<const NamedTensorView> tensors) {
  std::string header = "{";
  std::vector<HostTensor> copies;
  std::vector<Bytes> parts(1);
  std::uint64_t offset = 0;
  for (const NamedTensorView& named : tensors) {
    const Tensor* tensor = named.tensor;
    const auto kind =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.dtype == tensor->dtype(); });
    if (kind == kKinds.end()) {
      return fail(output_error(path, "safetensors has no dtype " + std::string(dtype_name(tensor->dtype()))));
    }
    if (!is_utf8(named.name)) return fail(output_error(path, "the key " + in_quotes(named.name) + " is not UTF-8"));
    if (!tensor->is_row_major()) {
      PTERUN_ASSIGN(HostTensor copy, HostTensor::row_major_copy(*tensor));
      copies.push_back(std::move(copy));
      tensor = &copies.back().view();
    }
    const Bytes data(static_cast<const std::byte*>(tensor->raw_data()), tensor->nbytes());
    if (header.size() > 1) header += ',';
    header += nlohmann::json(std::string(named.name)).dump() + ":{\"dtype\":\"" + std::string(kind->name) +
              "\",\"shape\":" + nlohmann::json(tensor->shape().span()).dump() + ",\"data_offsets\":[" +
              std::to_string(offset) + "," + std::to_string(offset + data.size()) + "]}";
    offset += data.size();
    parts.push_back(data);
  }
  header += '}';
  header.resize(round_up(header.size(), 8), ' ');
  const std::uint64_t length = header.size();
  header.insert(0, reinterpret_cast<const char*>(&length), sizeof(length));
  parts[0] = std::as_bytes(std::span(header));
  return write_file(path, parts);
}

}  // namespace pterun::io
