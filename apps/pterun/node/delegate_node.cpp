// A one-node graph on two backends.
#include "pterun/node/delegate_node.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/interpreter/node_check.h"
#include "backends/xnnpack/run_graph.h"
#include "backends/xnnpack_payload/node_graph.h"
#include "backends/xnnpack_payload/shape_inference.h"
#include "compare/element_reader.h"
#include "tensor/generate.h"

namespace pterun::app {
namespace {

using backends::interpreter::NodeCheck;
using backends::interpreter::Reals;
using xnnpack_payload::NodeGraph;
using xnnpack_payload::ValueIndex;

Result<NodeGraph> take(const xnnpack_payload::PayloadGraph& graph, std::size_t node) {
  auto taken = xnnpack_payload::take_node(graph, node);
  if (!taken && taken.error().blame != Blame::kProgram) {
    return fail(std::move(taken).error().with_blame(Blame::kUsage));
  }
  return taken;
}

class DelegateNode {
 public:
  explicit DelegateNode(const DelegateNodeRequest& request) : request_(request) {}

  Result<NodeOutcome> run() {
    PTERUN_ASSIGN(own_, take(*request_.graph, request_.node));
    PTERUN_TRY(take_reference());
    PTERUN_TRY(prepare_inputs());
    PTERUN_ASSIGN(results_, backends::run_graph(std::move(own_.graph), inputs_, *request_.threads, *request_.log));
    for (std::size_t i = 0; i < results_.size(); ++i) {
      NodeOutput output;
      output.name = fmt::format("output {}", i);
      PTERUN_ASSIGN(output.tensor, HostTensor::row_major_copy(results_[i].view()));
      outcome_.outputs.push_back(std::move(output));
    }
    PTERUN_TRY(judge());
    return std::move(outcome_);
  }

 private:
  Result<void> take_reference() {
    const auto otherwise = [&](const std::string& what) {
      return fail(make_error(ErrorCode::kReference, fmt::format("node {} of {} is built otherwise: {}", request_.node,
                                                                request_.reference_name, what)));
    };
    if (request_.node >= request_.reference->nodes.size()) return otherwise("there is none");
    PTERUN_ASSIGN(reference_, take(*request_.reference, request_.node));
    const auto kind = [](const NodeGraph& taken) { return node_kind_name(taken.graph.nodes[taken.node].kind); };
    if (kind(own_) != kind(reference_)) return otherwise(fmt::format("it is {}, not {}", kind(reference_), kind(own_)));
    if (own_.inputs.size() != reference_.inputs.size() || own_.graph.values.size() != reference_.graph.values.size()) {
      return otherwise("it has other operands");
    }
    return {};
  }

  Result<void> prepare_inputs() {
    PTERUN_ASSIGN(const std::vector<DType> dtypes, backends::argument_dtypes(own_.graph, own_.graph.inputs));
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      keys.push_back(input_key(i));
      if (dtypes[i] != DType::kInt32) continue;
      return fail(
          make_error(ErrorCode::kNotSupported, fmt::format("node {} ({}) reads whole numbers, which are no "
                                                           "numbers of its graph: it cannot be judged",
                                                           request_.node, node_kind_name(own_.graph.nodes.back().kind)))
              .with_blame(Blame::kUsage));
    }
    if (request_.file != nullptr) PTERUN_TRY(request_.file->check_inputs(keys));
    for (std::size_t i = 0; i < dtypes.size(); ++i)
      PTERUN_TRY(prepare_input(i, dtypes[i]));
    return {};
  }

  Result<void> prepare_input(std::size_t index, DType dtype) {
    // Stored elements are those of the graph that the interpreter reads them by.
    const xnnpack_payload::Value& value = reference_.graph.values[reference_.graph.inputs[index]];
    const Shape& declared = own_.graph.values[own_.graph.inputs[index]].dims;
    NodeInput input;
    input.name = input_key(index);
    HostTensor generated;
    const Tensor* given = nullptr;
    if (request_.file != nullptr) {
      given = request_.file->find(input.name);
      if (given == nullptr) {
        return fail(request_.file->missing(
            input.name, fmt::format("the node reads {}{} there", dtype_name(dtype), declared.to_string())));
      }
      input.source = request_.file->path() + ":" + input.name;
      PTERUN_TRY(check_shape(input.name, given->shape(), declared));
    } else {
      const Generator generator = default_generator(DType::kFloat32);
      PTERUN_ASSIGN(generated, HostTensor::allocate(DType::kFloat32, declared));
      PTERUN_TRY(generate(generator, request_.seed, static_cast<std::uint32_t>(index), generated.view()));
      given = &generated.view();
      input.source = fmt::format("{}, seed {}", to_string(generator), request_.seed);
    }
    PTERUN_ASSIGN(HostTensor tensor, HostTensor::allocate(dtype, given->shape()));
    if (given->dtype() == dtype && !is_floating(dtype)) {
      PTERUN_TRY(copy_elements(*given, tensor.view()));
    } else if (is_complex(given->dtype())) {
      return fail(ErrorCode::kInput, fmt::format("{} is {}, real numbers are needed", input.source, given->describe()));
    } else {
      Reals reals = compare::read_elements(*given);
      backends::interpreter::round_to_type(value, given->shape(), reals);
      PTERUN_TRY(backends::interpreter::write_tensor(value, reals, tensor.view()));
    }
    PTERUN_ASSIGN(input.tensor, HostTensor::row_major_copy(tensor.view()));
    outcome_.inputs.push_back(std::move(input));
    inputs_.push_back(std::move(tensor));
    return {};
  }

  Result<void> check_shape(const std::string& key, const Shape& given, const Shape& declared) const {
    bool fits = given.rank() == declared.rank();
    for (std::size_t i = 0; fits && i < given.rank(); ++i)
      fits = request_.is_dynamic ? given[i] <= declared[i] : given[i] == declared[i];
    if (fits) return {};
    return fail(make_error(ErrorCode::kInput,
                           fmt::format("'{}' of '{}' has the shape {}, the node takes {}{}", key, request_.file->path(),
                                       given.to_string(), request_.is_dynamic ? "at most " : "", declared.to_string()))
                    .with_hint("shapes inside a delegate have the order of memory: images are NHWC")
                    .at("file", request_.file->path())
                    .at("key", key));
  }

  // The interpreter judges what the reference's node makes of the very same elements.
  Result<void> judge() {
    std::vector<Shape> given;
    for (const HostTensor& input : inputs_)
      given.push_back(input.view().shape());
    PTERUN_ASSIGN(const std::vector<Shape> shapes, xnnpack_payload::infer_shapes(reference_.graph, given));
    std::vector<std::optional<Tensor>> seen(reference_.graph.values.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      seen[reference_.graph.inputs[i]] = inputs_[i].view();
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (shapes[reference_.graph.outputs[i]].numel() != results_[i].view().numel()) {
        return fail(make_error(ErrorCode::kReference, fmt::format("the reference's node gives {}, this one {}",
                                                                  shapes[reference_.graph.outputs[i]].to_string(),
                                                                  results_[i].view().describe())));
      }
      seen[reference_.graph.outputs[i]] = results_[i].view();
    }
    return backends::interpreter::check_nodes(reference_.graph, shapes, seen,
                                              [this](const NodeCheck& check) -> Result<void> {
                                                return check.position == reference_.node ? note(check) : Result<void>{};
                                              });
  }

  Result<void> note(const NodeCheck& check) {
    const auto& outputs = reference_.graph.outputs;
    const auto index = static_cast<std::size_t>(std::ranges::find(outputs, check.output.value) - outputs.begin());
    NodeOutput& output = outcome_.outputs.at(index);
    NodeExpectation expectation;
    expectation.reference = request_.reference_name;
    expectation.reference_kind = request_.reference_kind;
    expectation.judged = is_floating(check.dtype) ? check.dtype : DType::kFloat32;
    expectation.rounding = check.rounding;
    const auto* quantized =
        reference_.graph.values[check.output.value].quantized_as<xnnpack_payload::PerTensorQuantization>();
    if (quantized != nullptr) expectation.scale = quantized->scale;
    PTERUN_ASSIGN(expectation.got, saved_reals(*check.output.reals, *check.output.shape));
    PTERUN_ASSIGN(expectation.want, saved_reals(*check.want, *check.output.shape));
    if (request_.file != nullptr) PTERUN_TRY(note_saved(index, expectation, output));
    output.expectations.insert(output.expectations.begin(), std::move(expectation));
    return {};
  }

  Result<void> note_saved(std::size_t index, const NodeExpectation& computed, NodeOutput& output) {
    const Tensor* want = request_.file->want(index);
    if (want == nullptr) return {};
    NodeExpectation saved;
    saved.reference = fmt::format("want of {}", request_.file->path());
    saved.reference_kind = "file";
    saved.judged = computed.judged;
    saved.rounding = computed.rounding;
    saved.scale = computed.scale;
    PTERUN_ASSIGN(saved.got, HostTensor::row_major_copy(computed.got.view()));
    if (is_complex(want->dtype())) {
      return fail(ErrorCode::kReference, fmt::format("{} is {}", saved.reference, want->describe()));
    }
    PTERUN_ASSIGN(saved.want, saved_reals(compare::read_elements(*want), want->shape()));
    output.expectations.push_back(std::move(saved));
    return {};
  }

  const DelegateNodeRequest& request_;
  NodeGraph own_;  // its graph is given away when it runs
  NodeGraph reference_;
  std::vector<HostTensor> inputs_;  // as stored
  std::vector<HostTensor> results_;
  NodeOutcome outcome_;
};

}  // namespace

Result<NodeOutcome> run_delegate_node(const DelegateNodeRequest& request) {
  return DelegateNode(request).run();
}

}  // namespace pterun::app
