// Any bytes read as a .pte at both verification levels, and the XNNPACK payloads in what was accepted. Nothing is
// expected of the result; a crash, a sanitizer's finding or an endless loop is the failure.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/xnnpack_payload/payload_reader.h"
#include "exact_copy.h"
#include "program/program.h"

namespace {

using pterun::Bytes;
using pterun::program::Program;
using pterun::program::Verification;

void read_delegates(const Program& program) {
  const auto lookup = [&](std::string_view key) -> pterun::Result<Bytes> {
    const std::optional<Bytes> data = program.find_named_data(key);
    return data ? *data : Bytes{};
  };
  for (const pterun::program::MethodPlan& method : program.methods()) {
    for (const pterun::program::DelegateSpec& delegate : method.delegates) {
      (void)pterun::xnnpack_payload::read_payload(delegate.payload, lookup);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ExactCopy copy(data, size);
  for (const Verification verification : {Verification::kFull, Verification::kMinimal}) {
    const auto program = Program::parse(copy.bytes(), "input", verification);
    if (program) read_delegates(**program);
  }
  return 0;
}
