// Which results the bytes at an address come from, so that what an operator reads leads to what wrote it, through
// views, moves and state that lives on from step to step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace pterun::app {

class MemorySources {
 public:
  // The tensor now holds what these results gave; none: inputs or constants.
  void write(const Tensor& tensor, std::vector<std::size_t> results);
  // Adds the results that the tensor's bytes come from to `results`, each once.
  void collect(const Tensor& tensor, std::vector<std::size_t>& results) const;
  void clear() { writes_.clear(); }

 private:
  struct Write {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::vector<std::size_t> results;
  };
  std::vector<Write> writes_;  // the latest last
};

}  // namespace pterun::app
