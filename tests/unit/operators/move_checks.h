// Checks that several tests of element moves share. Included after Catch2.
#pragma once

#include <string>

#include <catch2/catch_all.hpp>

#include "index_reference.h"

namespace pterun::test {

// Calls `name` with an input, what `arguments` adds and an output, for every pair of dim orders, and compares with
// `source` (see moved()).
inline void check_moves(const char* name, DType dtype, const Shape& from, const Shape& to,
                        const std::function<void(OperatorCall&)>& arguments,
                        const std::function<Index(const Index&)>& source, double fill = 0) {
  const std::vector<double> values = counting(from);
  for (const DimOrder& from_order : some_orders(from.rank())) {
    for (const DimOrder& to_order : some_orders(to.rank())) {
      CAPTURE(name, from.to_string(), from_order.to_string(), to_order.to_string());
      HostTensor input = make_tensor(dtype, from, from_order, values);
      HostTensor output = make_output(dtype, to, to_order);
      OperatorCall call(name);
      call.tensor(input);
      arguments(call);
      REQUIRE_RESULT(call.tensor(output).run());
      CHECK(values_of(output) == moved(to, from, values_of(input), source, fill));
    }
  }
}

// The message of an InvalidArgument error that the call has to give.
inline std::string error_of(OperatorCall& call) {
  const auto result = call.run();
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kInvalidArgument);
  return result.error().message;
}

}  // namespace pterun::test
