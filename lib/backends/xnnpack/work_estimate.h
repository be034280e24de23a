// A rough guess of how long a graph runs on one thread: enough to decide whether waking others pays.
#pragma once

#include <vector>

#include "backends/xnnpack_payload/graph.h"

namespace pterun::backends::xnn {

// Whether a thread pool makes the graph faster, for values of these shapes: each node wakes and awaits the threads
// once, which costs about a microsecond, or a time slice where the machine is busy.
bool is_worth_threads(const xnnpack_payload::PayloadGraph& graph, const std::vector<Shape>& shapes);

}  // namespace pterun::backends::xnn
