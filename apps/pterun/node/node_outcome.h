// What came of running one node or one operator by itself, as plain data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace pterun::app {

struct NodeInput {
  std::string name;    // "input_0"
  std::string source;  // "m.diverge.npz:input_0", "uniform(0,1), seed 0"
  HostTensor tensor;
};

// One result to hold against another. Elements of both stand for numbers: quantised ones were scaled.
struct NodeExpectation {
  std::string reference;       // "the interpreter", "pte:other.pte", "want of m.diverge.npz"
  std::string reference_kind;  // as in reports: "interpreter", "program", "file"
  HostTensor got;
  HostTensor want;
  DType judged = DType::kFloat32;  // whose tolerance holds
  double rounding = 0;             // see interpreter::NodeCheck
  std::optional<double> scale;     // of a quantised result
};

struct NodeOutput {
  std::string name;  // "output 0", "argument 3"
  HostTensor tensor;
  std::vector<NodeExpectation> expectations;
};

struct NodeOutcome {
  std::vector<NodeInput> inputs;
  std::vector<NodeOutput> outputs;
};

}  // namespace pterun::app
