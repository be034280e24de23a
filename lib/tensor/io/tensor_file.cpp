// Choosing the reader by the file's ending.
#include "tensor/io/tensor_file.h"

#include <algorithm>
#include <array>

#include "tensor/io/keys.h"
#include "tensor/io/npy.h"
#include "tensor/io/npz.h"
#include "tensor/io/safetensors.h"

namespace pterun::io {
namespace {

struct ArchiveKind {
  std::string_view ending;
  Result<std::vector<NamedTensor>> (*read)(const std::string& path);
  Result<HostTensor> (*read_entry)(const std::string& path, std::string_view key);
  Result<std::vector<std::string>> (*read_keys)(const std::string& path);
};

constexpr std::array kArchives = {
    ArchiveKind{".npz", &read_npz, &read_npz_entry, &read_npz_keys},
    ArchiveKind{".safetensors", &read_safetensors, &read_safetensors_entry, &read_safetensors_keys},
};

Result<HostTensor> read_entry(const ArchiveKind& archive, const std::string& path, std::string_view key) {
  if (!key.empty()) return archive.read_entry(path, key);
  PTERUN_ASSIGN(const std::vector<std::string> keys, archive.read_keys(path));
  if (keys.size() == 1) return archive.read_entry(path, keys.front());
  std::string known;
  for (const std::string& name : keys)
    known += (known.empty() ? "" : ", ") + name;
  return fail(
      input_error(path, "", "it holds " + std::to_string(keys.size()) + " tensors (" + known + "), one is needed")
          .with_hint("choose one with " + path + ":KEY"));
}

}  // namespace

Result<std::vector<NamedTensor>> read_tensor_file(const std::string& path) {
  for (const ArchiveKind& archive : kArchives) {
    if (path.ends_with(archive.ending)) return archive.read(path);
  }
  return fail(input_error(path, "", "its name ends in neither .npz nor .safetensors"));
}

Result<std::vector<PositionedTensor>> read_positioned_tensors(const std::string& path) {
  PTERUN_ASSIGN(std::vector<NamedTensor> tensors, read_tensor_file(path));
  std::vector<std::string> keys;
  for (const NamedTensor& tensor : tensors)
    keys.push_back(tensor.name);
  PTERUN_ASSIGN(const std::vector<std::size_t> positions, positions_of_keys(keys, path));
  std::vector<PositionedTensor> result;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    result.push_back({positions[i], std::move(tensors[i].name), std::move(tensors[i].tensor)});
  }
  std::ranges::sort(result, {}, &PositionedTensor::position);
  return result;
}

Result<SelectedTensor> read_one_tensor(std::string_view spec) {
  if (spec.ends_with(".npy")) {
    std::string path(spec);
    PTERUN_ASSIGN(HostTensor tensor, read_npy(path));
    return SelectedTensor{std::move(path), std::move(tensor)};
  }
  for (const ArchiveKind& archive : kArchives) {
    std::string_view path = spec;
    std::string_view key;
    if (!spec.ends_with(archive.ending)) {
      const std::size_t end = spec.find(std::string(archive.ending) + ":");
      if (end == std::string_view::npos) continue;
      path = spec.substr(0, end + archive.ending.size());
      key = spec.substr(path.size() + 1);
    }
    PTERUN_ASSIGN(HostTensor tensor, read_entry(archive, std::string(path), key));
    return SelectedTensor{std::string(path), std::move(tensor)};
  }
  return fail(
      make_error(ErrorCode::kInput, "'" + std::string(spec) +
                                        "' is no input: neither a generator nor a file that ends in "
                                        ".npy, .npz[:KEY], .safetensors[:KEY] or .bin")
          .with_hint("generators are zeros, ones, arange, const(V), uniform(LO,HI), normal(MU,SD), int(LO,HI)"));
}

}  // namespace pterun::io
