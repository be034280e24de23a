#include "unit/backends/xnnpack/graph_check.h"

#include <cmath>
#include <deque>

#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack/xnnpack_backend.h"
#include "backends/xnnpack_payload/shape_inference.h"
#include "support/graph_reference.h"
#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

DType dtype_of(DataType type) {
  switch (type) {
    case DataType::kFp16: return DType::kFloat16;
    case DataType::kBf16: return DType::kBFloat16;
    case DataType::kQint8: return DType::kInt8;
    case DataType::kQuint8: return DType::kUInt8;
    case DataType::kInt32: return DType::kInt32;
    default: return DType::kFloat32;
  }
}

// Stored integers of a quantised external value mean these reals.
double real(const xnnpack_payload::Value& value, double stored) {
  const auto* q = value.quantized_as<xnnpack_payload::PerTensorQuantization>();
  return q == nullptr ? stored : (stored - q->zero_point) * static_cast<double>(q->scale);
}

}  // namespace

void check_graph(PayloadBuilder& builder, Tolerance tolerance, double low, double high, std::size_t threads) {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend, threads);
  REQUIRE_RESULT(harness.init(builder));

  const auto& graph = builder.graph();
  std::deque<HostTensor> tensors;
  std::vector<Tensor*> args(graph.num_externs, nullptr);
  std::map<ValueIndex, std::vector<double>> inputs;
  std::vector<ValueIndex> outputs;
  std::vector<Shape> input_shapes;
  std::uint32_t seed = 7;
  for (ValueIndex i = 0; i < graph.values.size(); ++i) {
    const auto& value = graph.values[i];
    if (!value.is_external()) continue;
    const DType dtype = dtype_of(value.type);
    if (value.is_output) {
      tensors.push_back(make_output(dtype, value.dims));
      outputs.push_back(i);
    } else {
      const auto count = static_cast<std::size_t>(value.dims.numel());
      const bool integers = !is_floating(dtype);
      tensors.push_back(make_tensor(dtype, value.dims,
                                    integers
                                        ? random_integers(count, ++seed, value.type == DataType::kQuint8 ? 0 : -128,
                                                          value.type == DataType::kQuint8 ? 255 : 127)
                                        : random_values(count, ++seed, low, high)));
      inputs[i] = values_of(tensors.back());
      for (double& number : inputs[i])
        number = real(value, number);
      input_shapes.push_back(value.dims);
    }
    args[value.external_id] = &tensors.back().view();
  }
  REQUIRE_RESULT(harness.execute(args));

  // The builder's graph has no list of inputs, the reader makes that.
  builder.graph().inputs.clear();
  for (const auto& [index, numbers] : inputs)
    builder.graph().inputs.push_back(index);
  const auto shapes = xnnpack_payload::infer_shapes(graph, input_shapes);
  REQUIRE(shapes);
  const auto want = compute_reference(graph, inputs, *shapes);
  for (const ValueIndex output : outputs) {
    const auto& value = graph.values[output];
    std::vector<double> got = values_of(*args[value.external_id]);
    for (double& number : got)
      number = real(value, number);
    double atol = tolerance.atol;
    if (const auto* q = value.quantized_as<xnnpack_payload::PerTensorQuantization>()) {
      atol = 1.001 * static_cast<double>(q->scale);  // one quantum: ties and requantisation in float
    }
    INFO("output " << output);
    CHECK(largest_excess(got, want.at(output), atol, tolerance.rtol) <= 0.0);
  }
}

void check_node(NodeKind kind, DataType type, const std::vector<Shape>& inputs, const Shape& output, NodeParams params,
                std::uint32_t flags, double low, double high) {
  PayloadBuilder builder;
  std::vector<ValueIndex> ids;
  for (const Shape& shape : inputs)
    ids.push_back(builder.input(type, shape));
  const auto y = builder.output(type, output);
  builder.node(kind, ids, {y}, std::move(params)).flags = flags;
  INFO(xnnpack_payload::node_kind_name(kind) << " " << xnnpack_payload::data_type_name(type));
  check_graph(builder, type == DataType::kFp32 ? kFloatTolerance : kHalfTolerance, low, high);
}

ValueIndex float_constant(PayloadBuilder& builder, DataType type, const Shape& shape, std::uint32_t seed,
                          const std::string& key) {
  const auto numbers = random_values(static_cast<std::size_t>(shape.numel()), seed);
  const HostTensor tensor = make_tensor(dtype_of(type), shape, numbers);
  const auto* bytes = static_cast<const std::byte*>(tensor.view().raw_data());
  return builder.constant(type, shape, std::vector<std::byte>(bytes, bytes + tensor.view().nbytes()), {}, key);
}

}  // namespace pterun::test
