// The file that `run --diverge` saves for one node and `run --node` reads: inputs by number, the result ("got") and
// what was expected ("want"). Anyone can write one.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace pterun::app {

// Tensors and numbers that an operator's arguments consist of, with their keys: "input_0" for argument 0, "input_0_2"
// for item 2 of a list there. Texts, None and lists of plain constants have none. Borrowed from the arguments.
struct ArgumentSlot {
  std::string key;
  std::size_t argument = 0;
  Value* value = nullptr;
};
std::vector<ArgumentSlot> argument_slots(std::span<Value* const> args);

// "input_0".
std::string input_key(std::size_t index);

// Tensors as the file holds them: bfloat16, which npz has not, as float32; the real numbers of a node as float64.
Result<HostTensor> saved_copy(const Tensor& tensor);
Result<HostTensor> saved_reals(std::span<const double> reals, const Shape& shape);

class NodeFile {
 public:
  // Errors: kInput for a file that cannot be read, and one that holds no "input_N".
  static Result<NodeFile> read(const std::string& path);
  const std::string& path() const { return path_; }
  // The tensor under that key, or null.
  const Tensor* find(const std::string& key) const;
  // The result that was expected of output `index`: "want_N", or "want" for output 0; null where there is none.
  const Tensor* want(std::size_t index) const;
  // Errors: kInput naming an "input_N" that is not among the keys that are read, and those that are.
  Result<void> check_inputs(std::span<const std::string> known) const;
  // An error about a tensor of this file: kInput, with the keys that it holds.
  Error missing(const std::string& key, const std::string& what) const;

 private:
  std::string path_;
  std::map<std::string, HostTensor> tensors_;
};

}  // namespace pterun::app
