// Any bytes read as a .pte at both verification levels, and the XNNPACK payloads in what was accepted. Nothing is
// expected of the result; a crash, a sanitizer's finding or an endless loop is the failure.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "backends/xnnpack_payload/payload_reader.h"
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
  // A copy of exactly that size and of a mapping's alignment, so that a read past the end is found.
  constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, kAlignment); }
  };
  const std::unique_ptr<std::byte[], Free> copy(static_cast<std::byte*>(::operator new[](size, kAlignment)));
  if (size != 0) std::memcpy(copy.get(), data, size);
  const Bytes bytes(copy.get(), size);
  for (const Verification verification : {Verification::kFull, Verification::kMinimal}) {
    const auto program = Program::parse(bytes, "input", verification);
    if (program) read_delegates(**program);
  }
  return 0;
}
