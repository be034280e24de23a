// A set of tensors for `pterun compare`: from a tensor file, a bundled program's test case, or the outputs of a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"

namespace pterun::app {

struct SetTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string sha256;                // of a report's outputs; else empty
  std::optional<HostTensor> values;  // none when a report's outputs were not saved
};

struct TensorSet {
  std::string path;
  std::vector<SetTensor> tensors;  // at least one
};

struct TensorSetRequest {
  std::string path;
  std::string method;         // of a bundled program; "" is `forward`, else the only one
  std::size_t test_case = 0;  // of a bundled program
  ErrorCode code = ErrorCode::kInput;
};

// By the ending of the path: .npz, .safetensors, .npy, .bpte, .json. A report's values come from the file that its
// --save-outputs wrote, if that is still there.
// Errors: with `code`, blame kInput, naming the file: cannot be read, holds nothing, another ending; saved outputs that
// are not those of the report.
Result<TensorSet> load_tensor_set(const TensorSetRequest& request);

}  // namespace pterun::app
