// Tensor files by their ending: .npz and .safetensors with several tensors, .npy with one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/io/named_tensor.h"

namespace pterun::io {

struct PositionedTensor {
  std::size_t position = 0;  // the number that its key ends in
  std::string key;
  HostTensor tensor;
};

// All tensors of an npz or safetensors file. Errors: kInput naming the file and the endings that are read.
Result<std::vector<NamedTensor>> read_tensor_file(const std::string& path);

// The same with the positions of its keys, in ascending order. Errors: also those of positions_of_keys.
Result<std::vector<PositionedTensor>> read_positioned_tensors(const std::string& path);

struct SelectedTensor {
  std::string path;  // without the key
  HostTensor tensor;
};

// FILE.npy, FILE.npz[:KEY] or FILE.safetensors[:KEY]; without a key the file must hold one tensor.
// Errors: kInput naming file and key.
Result<SelectedTensor> read_one_tensor(std::string_view spec);

}  // namespace pterun::io
