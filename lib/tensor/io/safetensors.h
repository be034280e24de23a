// safetensors files: named tensors, bfloat16 and float8 among them.
//   0 header length N (u64) | 8 JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …,
//   "__metadata__": {text: text}} | 8 + N the elements, row-major, without gaps
// Source: the format's description at github.com/huggingface/safetensors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/io/named_tensor.h"

namespace pterun::io {

// All tensors, in the order of the header. Errors: kInput, naming file and key: a header that is not what is sketched
// above, an unknown dtype, a key twice, sizes that do not fit the shape, data that overlaps, leaves gaps or the file.
Result<std::vector<NamedTensor>> read_safetensors(const std::string& path);
Result<std::vector<NamedTensor>> parse_safetensors(Bytes bytes, const std::string& file);

// One tensor. Errors: as above, and an unknown key, listing those there are.
Result<HostTensor> read_safetensors_entry(const std::string& path, std::string_view key);

// The keys, in the order of the header, without reading the tensors.
Result<std::vector<std::string>> read_safetensors_keys(const std::string& path);

// The dtype that the format calls "F32", …; none for a name it does not have.
std::optional<DType> safetensors_dtype(std::string_view name);

// Errors: kOutput (also for a dtype that the format does not have).
Result<void> write_safetensors(const std::string& path, std::span<const NamedTensorView> tensors);

}  // namespace pterun::io
