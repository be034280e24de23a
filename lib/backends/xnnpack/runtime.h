// XNNPACK's runtime object, and which node is to blame when one cannot be made.
#pragma once

#include <memory>

#include <xnnpack.h>

#include "backends/xnnpack/node_plan.h"
#include "backends/xnnpack/subgraph_builder.h"
#include "base/error.h"

namespace pterun::backends::xnn {

struct RuntimeDeleter {
  void operator()(xnn_runtime* runtime) const { xnn_delete_runtime(runtime); }
};
using Runtime = std::unique_ptr<xnn_runtime, RuntimeDeleter>;

// XNNPACK's own fusion writes clamp bounds over the parameters of convolutions (a union); pterun's passes fuse.
inline constexpr std::uint32_t kNoOperatorFusion = 0x80000000;

// The error for a runtime of the plan that XNNPACK refused: names the node, by making a runtime of each alone.
Error diagnose(xnn_status status, const PayloadGraph& graph, const ConstantStore& constants, const NodePlan& plan);

}  // namespace pterun::backends::xnn
