// Header, flatbuffer and constants of a payload:
//   0 zero  4 "XH00"  8 u16 header size  10 u32 flatbuffer offset  14 u32 its size  18 u32 constants offset
//   22 u64 their size; without "XH00" the whole payload is the flatbuffer (old files).
#include "backends/xnnpack_payload/payload_reader.h"

#include <cstring>
#include <utility>

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include "backends/xnnpack_payload/payload_parts.h"

namespace pterun::xnnpack_payload {
namespace {

constexpr std::size_t kHeaderBytes = 30;
constexpr std::size_t kSmallestFlatbuffer = 8;

struct Regions {
  bool has_header = false;
  Bytes flatbuffer;
  Bytes constants;
};

std::unexpected<Error> header_error(std::string what) {
  return fail(program_error(ErrorCode::kInvalidArgument, "XNNPACK payload header: " + std::move(what)));
}

Result<Regions> split_payload(Bytes payload) {
  if (payload.size() < kHeaderBytes) {
    return header_error(fmt::format("a payload has at least {} bytes, this one has {}", kHeaderBytes, payload.size()));
  }
  if (std::memcmp(payload.data() + 4, "XH00", 4) != 0) return Regions{false, payload, {}};

  const std::uint64_t flatbuffer_offset = *read_le<std::uint32_t>(payload, 10);
  const std::uint64_t flatbuffer_bytes = *read_le<std::uint32_t>(payload, 14);
  const std::uint64_t constants_offset = *read_le<std::uint32_t>(payload, 18);
  const std::uint64_t constants_bytes = *read_le<std::uint64_t>(payload, 22);
  const auto flatbuffer = checked_subspan(payload, flatbuffer_offset, flatbuffer_bytes);
  if (!flatbuffer || flatbuffer_bytes < kSmallestFlatbuffer) {
    return header_error(fmt::format("flatbuffer at {} with {} bytes does not lie inside the payload of {} bytes",
                                    flatbuffer_offset, flatbuffer_bytes, payload.size()));
  }
  const auto constants = checked_subspan(payload, constants_offset, constants_bytes);
  if (!constants || constants_offset < flatbuffer_offset + flatbuffer_bytes) {
    return header_error(
        fmt::format("constants at {} with {} bytes do not lie between the flatbuffer and the payload's end at {}",
                    constants_offset, constants_bytes, payload.size()));
  }
  return Regions{true, *flatbuffer, *constants};
}

Result<const wire::Graph*> verify_flatbuffer(Bytes flatbuffer) {
  char identifier[5] = {};
  std::memcpy(identifier, flatbuffer.data() + 4, 4);
  if (std::strcmp(identifier, "XN00") != 0 && std::strcmp(identifier, "XN01") != 0) {
    std::string printable;
    for (const char c : std::string_view(identifier, 4))
      printable += c >= 32 && c < 127 ? c : '?';
    return fail(program_error(
        ErrorCode::kDelegateInvalidCompatibility,
        fmt::format("XNNPACK payload: expected a flatbuffer with identifier XN00 or XN01, found \"{}\"", printable)));
  }
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(flatbuffer.data()), flatbuffer.size());
  if (!verifier.VerifyBuffer<wire::Graph>(nullptr)) {
    return fail(program_error(ErrorCode::kDelegateInvalidCompatibility,
                              "XNNPACK payload: the flatbuffer is damaged (it fails verification)"));
  }
  return flatbuffers::GetRoot<wire::Graph>(flatbuffer.data());
}

}  // namespace

std::string describe_node(const Node& node) {
  return fmt::format("node {} ({})", node.file_index, node_kind_name(node.kind));
}

Error value_error(std::uint32_t id, const std::string& what) {
  return program_error(ErrorCode::kInvalidProgram, fmt::format("XNNPACK payload: value {}: {}", id, what));
}

Result<Constant> find_constant(const Reading& reading, std::uint32_t index, std::uint32_t value_id) {
  if (!reading.has_header) {
    const auto* buffers = reading.graph->constant_buffer();
    const std::uint32_t count = buffers == nullptr ? 0 : buffers->size();
    if (index >= count) {
      return fail(value_error(value_id, fmt::format("constant {} is beyond the payload's {}", index, count)));
    }
    const auto* buffer = buffers->Get(index);
    if (buffer == nullptr || buffer->storage() == nullptr) return Constant{};
    return Constant{{reinterpret_cast<const std::byte*>(buffer->storage()->data()), buffer->storage()->size()}, {}};
  }
  const auto* entries = reading.graph->constant_data();
  const std::uint32_t count = entries == nullptr ? 0 : entries->size();
  if (index >= count || entries->Get(index) == nullptr) {
    return fail(value_error(value_id, fmt::format("constant {} is beyond the payload's {}", index, count)));
  }
  const wire::ConstantData& entry = *entries->Get(index);
  if (entry.named_key() != nullptr && entry.named_key()->size() != 0) {
    const std::string_view key(entry.named_key()->c_str(), entry.named_key()->size());
    auto bytes = (*reading.lookup)(key);
    if (!bytes) {
      return fail(std::move(bytes).error().with_blame(Blame::kProgram).at("value", fmt::format("{}", value_id)));
    }
    return Constant{*bytes, key};
  }
  const auto bytes = checked_subspan(reading.constant_region, entry.offset(), entry.size());
  if (!bytes) {
    return fail(
        value_error(value_id, fmt::format("constant {} at {} with {} bytes leaves the constant region of {} bytes",
                                          index, entry.offset(), entry.size(), reading.constant_region.size())));
  }
  return Constant{*bytes, {}};
}

Result<PayloadGraph> read_payload(Bytes payload, const ConstantLookup& lookup) {
  PTERUN_ASSIGN(const Regions regions, split_payload(payload));
  Reading reading;
  reading.has_header = regions.has_header;
  reading.constant_region = regions.constants;
  reading.lookup = &lookup;

  Bytes flatbuffer = regions.flatbuffer;
  // Old exporters put payloads at any multiple of 4; the flatbuffer's fields want 8, inline constants 16.
  if (reinterpret_cast<std::uintptr_t>(flatbuffer.data()) % 16 != 0) {
    auto copy = AlignedBuffer::allocate(flatbuffer.size());
    if (!copy) return fail(std::move(copy).error());
    std::memcpy(copy->data(), flatbuffer.data(), flatbuffer.size());
    flatbuffer = {copy->data(), flatbuffer.size()};
    reading.result.aligned_copy = *std::move(copy);
  }
  PTERUN_ASSIGN(reading.graph, verify_flatbuffer(flatbuffer));

  reading.result.num_externs = reading.graph->num_externs();
  if (reading.result.num_externs > kMaxExternals) {
    return fail(program_error(ErrorCode::kInvalidProgram,
                              fmt::format("XNNPACK payload: {} external values announced, at most {} are allowed",
                                          reading.result.num_externs, kMaxExternals)));
  }
  PTERUN_TRY(read_values(reading));
  PTERUN_TRY(read_nodes(reading));
  PTERUN_TRY(check_dataflow(reading.result));
  return std::move(reading.result);
}

}  // namespace pterun::xnnpack_payload
