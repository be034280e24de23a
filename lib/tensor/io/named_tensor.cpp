// Errors, mapping and copying shared by the tensor file formats.
#include "tensor/io/named_tensor.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/utf8.h"

namespace pterun::io {

Error input_error(const std::string& file, std::string_view key, const std::string& what) {
  std::string message = in_quotes(file, 300);
  if (!key.empty()) message += ", key " + in_quotes(key);
  Error error = make_error(ErrorCode::kInput, message + ": " + what).at("file", file);
  return key.empty() ? std::move(error) : std::move(error).at("key", printable(key));
}

Error output_error(const std::string& file, const std::string& what) {
  return make_error(ErrorCode::kOutput, "cannot write " + in_quotes(file, 300) + ": " + what).at("file", file);
}

Error unknown_key(const std::string& file, std::string_view key, std::span<const std::string> keys) {
  constexpr std::size_t kShown = 20;
  std::string known;
  for (std::size_t i = 0; i < std::min(keys.size(), kShown); ++i)
    known += (i == 0 ? "" : ", ") + printable(keys[i]);
  if (keys.size() > kShown) known += ", ... (" + std::to_string(keys.size()) + " in all)";
  return input_error(file, key, "there is no such key; there " + (keys.empty() ? "are none" : "are " + known));
}

Result<MappedFile> open_input(const std::string& path) {
  auto file = MappedFile::open(path);
  if (file) return file;
  Error error = std::move(file).error();
  error.code = ErrorCode::kInput;
  error.blame = Blame::kInput;
  return fail(std::move(error));
}

Result<void> check_bools(const Tensor& tensor, const std::string& file, std::string_view key) {
  if (tensor.dtype() != DType::kBool) return {};
  const std::span elements(static_cast<const std::uint8_t*>(tensor.raw_data()), tensor.nbytes());
  const auto bad = std::find_if(elements.begin(), elements.end(), [](std::uint8_t b) { return b > 1; });
  if (bad == elements.end()) return {};
  return fail(input_error(file, key,
                          "element " + std::to_string(bad - elements.begin()) + " of a bool array is " +
                              std::to_string(*bad) + "; it must be 0 or 1"));
}

Result<HostTensor> copy_tensor(DType dtype, const Shape& shape, Bytes data, const std::string& file,
                               std::string_view key) {
  auto tensor = HostTensor::allocate(dtype, shape);
  if (!tensor) return fail(input_error(file, key, tensor.error().message));
  if (!data.empty()) std::memcpy(tensor->view().mutable_raw_data(), data.data(), data.size());
  PTERUN_TRY(check_bools(tensor->view(), file, key));
  return tensor;
}

std::optional<std::uint64_t> tensor_nbytes(DType dtype, const Shape& shape) {
  const auto numel = checked_numel(shape.span());
  if (!numel) return std::nullopt;
  return checked_mul(static_cast<std::uint64_t>(*numel), static_cast<std::uint64_t>(dtype_size(dtype)));
}

Result<void> write_file(const std::string& path, std::span<const Bytes> parts) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return fail(output_error(path, std::strerror(errno)));
  for (const Bytes part : parts) {
    if (!part.empty() && std::fwrite(part.data(), 1, part.size(), file.get()) != part.size()) {
      return fail(output_error(path, std::strerror(errno)));
    }
  }
  // Closed by hand: a full disk may show only now.
  if (std::fclose(file.release()) != 0) return fail(output_error(path, std::strerror(errno)));
  return {};
}

}  // namespace pterun::io
