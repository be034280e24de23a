// One operator outside delegates, run without the instructions around it.
#pragma once

#include <cstdint>
#include <string>

#include "pterun/node/node_file.h"
#include "pterun/node/node_outcome.h"
#include "runtime/method.h"

namespace pterun::app {

// Everything is borrowed.
struct OperatorCallRequest {
  runtime::Method* method = nullptr;
  std::size_t step = 0;                  // a number for Stepper::at, an operator there
  runtime::Method* reference = nullptr;  // of the reference program; null: there is none
  std::string reference_name;            // "pte:other.pte"
  const NodeFile* file = nullptr;        // null: inputs are generated
  std::uint64_t seed = 0;
};

// Tensors that are no constants and are not the operator's result must be given; numbers and items of lists may be,
// and keep the program's value otherwise. Results are those of the arguments that the operator has changed, and its
// last one. Errors: kInput for inputs that do not fit; kReference for a reference that is built otherwise; of the
// operator.
Result<NodeOutcome> run_operator_call(const OperatorCallRequest& request);

}  // namespace pterun::app
