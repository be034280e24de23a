// One node of an XNNPACK delegate, run on XNNPACK without the rest of its graph, and judged by the interpreter.
#pragma once

#include <cstdint>
#include <string>

#include "backends/xnnpack_payload/graph.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "pterun/node/node_file.h"
#include "pterun/node/node_outcome.h"

namespace pterun::app {

// Everything is borrowed.
struct DelegateNodeRequest {
  const xnnpack_payload::PayloadGraph* graph = nullptr;
  const xnnpack_payload::PayloadGraph* reference = nullptr;  // whose node the interpreter computes; may be `graph`
  std::string reference_name;                                // "the interpreter", "pte:other.pte"
  std::string reference_kind;
  std::size_t node = 0;            // position in both graphs
  bool is_dynamic = false;         // smaller inputs than declared are allowed
  const NodeFile* file = nullptr;  // null: inputs are generated
  std::uint64_t seed = 0;
  ThreadPool* threads = nullptr;
  LogSink* log = nullptr;
};

// Inputs are the node's operands that are no constants, each once (xnnpack_payload::visible_inputs), as the numbers
// that they stand for; 8-bit integers for a quantised one are taken as stored. Errors: kInput for inputs that do not
// fit; kUsage for a node that there is not, kNotSupported for one that cannot be run by itself (blame kUsage);
// kReference for a reference that is built otherwise; of XNNPACK.
Result<NodeOutcome> run_delegate_node(const DelegateNodeRequest& request);

}  // namespace pterun::app
