// What every operator of an ExportedProgram gave, as python/live_reference.py writes it: trace.txt and trace.bin.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "tensor/tensor.h"

namespace pterun::reference {

struct TracedResult {
  std::string node;                // "relu_1"
  std::string target;              // "aten.relu.default"; empty: an input of the graph
  std::string module;              // path in the model, "features.3"; may be empty
  std::size_t item = 0;            // place among the tensors that the node gives; among the inputs
  Tensor tensor;                   // row-major; its elements lie in the trace's data
  std::vector<std::size_t> reads;  // earlier results, all of each node that it reads
  bool shares_node = false;        // the node gives other tensors too
  bool is_input() const { return target.empty(); }
  // "relu_1 (aten.relu.default in features.3)", "x (input 0)".
  std::string describe() const;
};

struct TraceSkipped {
  std::string target;
  std::string reason;
};

// Inputs and results in the order of the graph.
struct EagerTrace {
  MappedFile data;
  std::vector<TracedResult> results;
  std::vector<TraceSkipped> skipped;
  // By output of the graph: the result it is; nothing for an input, a constant, or one that was skipped.
  std::vector<std::optional<std::size_t>> outputs;
};

// Reads FOLDER/trace.txt and maps FOLDER/trace.bin. Errors: kReference naming the line and what is wrong with it: a
// word that is missing or no number, an unknown dtype, a shape or offset that the data does not hold.
Result<EagerTrace> read_eager_trace(const std::string& folder);

}  // namespace pterun::reference
