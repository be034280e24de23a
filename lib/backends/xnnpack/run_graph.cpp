// Slots for a delegate call, without a method around them.
#include "backends/xnnpack/run_graph.h"

#include <utility>

#include "backends/xnnpack/xnnpack_delegate.h"
#include "backends/xnnpack_payload/shape_inference.h"
#include "xnnpack/library.h"

namespace pterun::backends {
namespace {

using xnnpack_payload::PayloadGraph;
using xnnpack_payload::ValueIndex;

// The graph has its constants already.
class NoNamedData final : public backend::NamedData {
 public:
  Result<Bytes> find(std::string_view key) const override {
    return fail(ErrorCode::kNotFound, "there is no constant '" + std::string(key) + "'");
  }
  std::vector<std::pair<std::string_view, std::size_t>> list() const override { return {}; }
};

Result<std::vector<HostTensor>> make_outputs(const PayloadGraph& graph, std::span<const HostTensor> inputs) {
  std::vector<Shape> given;
  for (const HostTensor& input : inputs)
    given.push_back(input.view().shape());
  PTERUN_ASSIGN(const std::vector<Shape> shapes, xnnpack_payload::infer_shapes(graph, given));
  PTERUN_ASSIGN(const std::vector<DType> dtypes, argument_dtypes(graph, graph.outputs));
  std::vector<HostTensor> outputs;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    PTERUN_ASSIGN(HostTensor tensor, HostTensor::allocate(dtypes[i], shapes[graph.outputs[i]]));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

}  // namespace

Result<std::vector<DType>> argument_dtypes(const PayloadGraph& graph, std::span<const ValueIndex> values) {
  PTERUN_ASSIGN(const std::vector<xnn::Argument> arguments, xnn::make_arguments(graph, values));
  std::vector<DType> dtypes;
  for (const xnn::Argument& argument : arguments)
    dtypes.push_back(argument.dtype);
  return dtypes;
}

Result<std::vector<HostTensor>> run_graph(PayloadGraph graph, std::span<HostTensor> inputs, ThreadPool& threads,
                                          LogSink& log) {
  if (inputs.size() != graph.inputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "the graph takes " + std::to_string(graph.inputs.size()) + " inputs, " +
                                                 std::to_string(inputs.size()) + " were given");
  }
  PTERUN_TRY(xnnpack::initialize());
  PTERUN_ASSIGN(std::vector<HostTensor> outputs, make_outputs(graph, inputs));
  std::vector<Value> slots(graph.num_externs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    slots[graph.values[graph.inputs[i]].external_id] = Value(&inputs[i].view());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    slots[graph.values[graph.outputs[i]].external_id] = Value(&outputs[i].view());
  std::vector<Value*> args;
  for (Value& slot : slots)
    args.push_back(&slot);

  const NoNamedData no_data;
  backend::InitContext context;
  context.named_data = &no_data;
  context.threads = &threads;
  context.log = &log;
  const xnn::BackendOptions options;
  xnn::Workspaces workspaces;
  PTERUN_ASSIGN(auto workspace, workspaces.get(options.workspace_sharing, context.program_id));
  PTERUN_ASSIGN(auto delegate,
                xnn::XnnpackDelegate::make(context, std::move(graph), options, std::move(workspace), {}));
  PTERUN_TRY(delegate->execute(args));
  return outputs;
}

}  // namespace pterun::backends
