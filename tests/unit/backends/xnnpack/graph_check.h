// Runs a graph on the XNNPACK backend and compares every output with the reference in double.
#pragma once

#include <vector>

#include "support/payload_builder.h"

namespace pterun::test {

// |got - want| <= atol + rtol * |want|.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
};
// float32 kernels differ from exact by summation order and by approximations of a few ulp.
inline constexpr Tolerance kFloatTolerance{1e-5, 1e-5};
// float16 keeps 11 bits; kernels accumulate in float16 or float32.
inline constexpr Tolerance kHalfTolerance{5e-3, 5e-3};

// Random inputs in [low, high]; fails the test where an output is off, naming it.
void check_graph(PayloadBuilder& builder, Tolerance tolerance, double low = -1.0, double high = 1.0,
                 std::size_t threads = 1);

// One node on `inputs`, of type `type` throughout, with one output.
void check_node(NodeKind kind, DataType type, const std::vector<Shape>& inputs, const Shape& output,
                NodeParams params = {}, std::uint32_t flags = 0, double low = -1.0, double high = 1.0);

// Constants in a type, rounded from multiples of 1/64.
ValueIndex float_constant(PayloadBuilder& builder, DataType type, const Shape& shape, std::uint32_t seed,
                          const std::string& key = {});

}  // namespace pterun::test
