// Any bytes read as a .bpte: its test cases, whose tensors are copied out as a run would do, and the program inside.
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "exact_copy.h"
#include "program/bundled_program.h"
#include "program/program.h"

namespace {

using namespace pterun;

void read_all(const std::vector<program::BundledValue>& values) {
  for (const program::BundledValue& value : values) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) (void)HostTensor::row_major_copy(*tensor);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ExactCopy copy(data, size);
  const auto bundle = program::BundledProgram::parse(copy.bytes(), "input");
  if (!bundle) return 0;
  for (const program::BundledSuite& suite : (*bundle)->suites()) {
    for (const program::BundledCase& test : suite.cases) {
      read_all(test.inputs);
      read_all(test.expected_outputs);
    }
  }
  (void)program::Program::parse(copy.bytes(), "input", program::Verification::kFull);
  return 0;
}
