// A graph called by itself, outside any program: default options, a workspace of its own.
#pragma once

#include <span>
#include <vector>

#include "backends/xnnpack_payload/graph.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace pterun::backends {

// The dtypes that values of a graph are passed in or out as: int8 and uint8 for quantised ones. Errors: kNotSupported
// naming the value.
Result<std::vector<DType>> argument_dtypes(const xnnpack_payload::PayloadGraph& graph,
                                           std::span<const xnnpack_payload::ValueIndex> values);

// Runs the graph once on XNNPACK. `inputs` and results stand beside graph.inputs and graph.outputs, row-major in the
// payload's order of dims. Errors: as Backend::init and Delegate::execute.
Result<std::vector<HostTensor>> run_graph(xnnpack_payload::PayloadGraph graph, std::span<HostTensor> inputs,
                                          ThreadPool& threads, LogSink& log);

}  // namespace pterun::backends
