// NumPy's .npz files: a zip archive of .npy arrays, stored or deflated. A key is the member's name without ".npy".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/io/named_tensor.h"

namespace pterun::io {

// All arrays, in the order of the file. Errors: kInput, naming file and key: not a zip, a member that is no array, is
// encrypted or compressed otherwise, does not have the size that it says, fails its checksum or is there twice; and
// members that together are larger than a file of this size can hold.
Result<std::vector<NamedTensor>> read_npz(const std::string& path);
Result<std::vector<NamedTensor>> parse_npz(Bytes bytes, const std::string& file);

// One array. Errors: as above, and an unknown key, listing those there are.
Result<HostTensor> read_npz_entry(const std::string& path, std::string_view key);

// The keys, in the order of the file, without reading the arrays.
Result<std::vector<std::string>> read_npz_keys(const std::string& path);

// Writes stored members with a fixed date, so that equal tensors make equal files. The file appears only when it is
// complete. Errors: kOutput.
Result<void> write_npz(const std::string& path, std::span<const NamedTensorView> tensors);

// Gives back the 1.5 MB that libzip takes; the functions above load it again. Not while one of them runs.
void release_npz_library();

}  // namespace pterun::io
