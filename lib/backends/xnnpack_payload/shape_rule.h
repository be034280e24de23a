// The shape rules by node kind: shape_inference.cpp has the choice and what is elementwise, shape_rules_windows.cpp the
// filters, windows and products, shape_rules_moves.cpp what moves elements. Internal to shape inference.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "backends/xnnpack_payload/graph.h"
#include "backends/xnnpack_payload/payload_parts.h"
#include "base/error.h"

namespace pterun::xnnpack_payload {

inline constexpr std::int64_t kMaxDim = std::int64_t{1} << 40;  // keeps sums and products of two small factors in range

// One node's inference: its inputs' shapes, and errors that name it.
class ShapeRule {
 public:
  ShapeRule(const PayloadGraph& graph, const Node& node, std::span<Shape> shapes)
      : graph_(graph), node_(node), shapes_(shapes) {}

  Result<void> run();

 private:
  const Shape& in(std::size_t i) const { return shapes_[node_.inputs[i]]; }
  bool has_in(std::size_t i) const { return i < node_.num_inputs && node_.inputs[i] != kNoValue; }
  bool flag(std::uint32_t bit) const { return (node_.flags & bit) != 0; }

  std::unexpected<Error> error(const std::string& what) const {
    return fail(make_error(ErrorCode::kInvalidArgument, fmt::format("XNNPACK {}: {}", describe_node(node_), what))
                    .at("node", describe_node(node_)));
  }
  std::unexpected<Error> mismatch(const char* what, std::size_t input) const {
    return error(fmt::format("{}: input {} is {}", what, input, in(input).to_string()));
  }
  Result<void> set(Shape shape, std::size_t output = 0) {
    const auto elements = checked_numel(shape.span());
    if (!elements || *elements > (std::int64_t{1} << 59)) {
      return error(fmt::format("its output {} would be too large", shape.to_string()));
    }
    shapes_[node_.outputs[output]] = shape;
    return {};
  }

  Result<void> broadcast();
  Result<void> fully_connected();
  Result<void> convolution();
  Result<void> transposed_convolution();
  Result<void> check_filter(const ConvolutionParams& params, std::size_t filter, bool depthwise) const;
  Result<void> check_bias(std::int64_t channels) const;
  Result<void> pooling();
  Result<void> global_pooling();
  Result<void> matmul();
  Result<void> transpose();
  Result<void> reshape();
  Result<void> slice();
  Result<void> pad();
  Result<void> resize();
  Result<void> concatenate();

  const PayloadGraph& graph_;
  const Node& node_;
  std::span<Shape> shapes_;
};

}  // namespace pterun::xnnpack_payload
