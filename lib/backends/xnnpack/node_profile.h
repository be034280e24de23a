// Times of the nodes of a runtime made with XNN_FLAG_BASIC_PROFILING, summed over its executions. XNNPACK keeps those
// of the last one only: in nanoseconds as cmake/deps builds it, in whole microseconds where the system's is used.
#pragma once

#include <vector>

#include <xnnpack.h>

#include "backend/backend.h"

namespace pterun::backends::xnn {

class NodeProfile {
 public:
  // A runtime was made; sums start anew when its nodes are not those of the one before.
  void begin(xnn_runtime_t runtime);
  // It was executed once.
  void add(xnn_runtime_t runtime);
  // Nodes that became operators, in XNNPACK's order, by its names for operator and kernel.
  const std::vector<backend::NodeTime>& times() const { return times_; }

 private:
  std::vector<backend::NodeTime> times_;
  std::vector<std::uint64_t> last_;
};

}  // namespace pterun::backends::xnn
