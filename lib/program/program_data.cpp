// Bounds-checked lookups of a program's bytes.
#include "program/program_data.h"

#include <fmt/format.h>

#include "program/flatbuffer_access.h"

namespace pterun::program {
namespace {

std::unexpected<Error> invalid(std::string message) {
  return fail(program_error(ErrorCode::kInvalidProgram, std::move(message)));
}

constexpr int kInline = 0;
constexpr int kSegment = 1;

}  // namespace

Result<void> ProgramData::check() const {
  const TableList segments(program_.segments());
  for (std::size_t i = 0; i < segments.size(); ++i)
    PTERUN_TRY(segment(i));
  const auto* constants = program_.constant_segment();
  const bool has_segment = constants != nullptr && constants->offsets() != nullptr && constants->offsets()->size() > 0;
  if (has_segment && TableList(program_.constant_buffer()).size() > 0) {
    return invalid("it has constants both in a segment and in the deprecated constant_buffer; only one may be used");
  }
  return {};
}

Result<Bytes> ProgramData::segment(std::uint64_t index) const {
  const TableList segments(program_.segments());
  if (index >= segments.size()) {
    return invalid(fmt::format("it refers to segment {}; there are {}", index, segments.size()));
  }
  const fb::Segment& segment = segments[static_cast<std::size_t>(index)];
  const auto bytes = checked_subspan(container_.segments, segment.offset(), segment.size());
  if (!bytes) {
    return invalid(fmt::format("segment {} has {} bytes from offset {}; the segments of the file have {} bytes", index,
                               segment.size(), segment.offset(), container_.segments.size()));
  }
  return *bytes;
}

Result<Bytes> ProgramData::subsegment(const fb::SubsegmentOffsets& table, const char* what, std::uint32_t index,
                                      std::uint64_t nbytes) const {
  const WideItems offsets(table.offsets());
  if (index >= offsets.size()) {
    return invalid(fmt::format("{} {} does not exist; there are {}", what, index, offsets.size()));
  }
  PTERUN_ASSIGN(const Bytes segment, this->segment(table.segment_index()));
  const auto bytes = checked_subspan(segment, offsets[index], nbytes);
  if (!bytes) {
    return invalid(fmt::format("{} {} needs {} bytes from offset {}; its segment has {} bytes", what, index, nbytes,
                               offsets[index], segment.size()));
  }
  return *bytes;
}

Result<Bytes> ProgramData::constant(std::uint32_t index, std::uint64_t nbytes) const {
  const auto* segment = program_.constant_segment();
  if (segment != nullptr && segment->offsets() != nullptr && segment->offsets()->size() > 0) {
    return subsegment(*segment, "constant", index, nbytes);
  }
  const TableList buffers(program_.constant_buffer());
  if (index >= buffers.size()) {
    return invalid(fmt::format("constant {} does not exist; there are {}", index, buffers.size()));
  }
  const Bytes storage = bytes_of(buffers[index].storage());
  const auto bytes = checked_subspan(storage, 0, nbytes);
  if (!bytes) {
    return invalid(fmt::format("constant {} needs {} bytes; it has {}", index, nbytes, storage.size()));
  }
  return *bytes;
}

Result<Bytes> ProgramData::initial_value(std::uint32_t index, std::uint64_t nbytes) const {
  const TableList tables(program_.mutable_data_segments());
  if (tables.size() == 0) return invalid(fmt::format("initial value {} does not exist; there are none", index));
  return subsegment(tables[0], "initial value", index, nbytes);
}

Result<Bytes> ProgramData::payload(const fb::DelegateDataReference& reference) const {
  if (reference.location() == kSegment) return segment(reference.index());
  if (reference.location() != kInline) {
    return invalid(fmt::format("its payload is at the unknown location {}", reference.location()));
  }
  const TableList inline_data(program_.backend_delegate_data());
  if (reference.index() >= inline_data.size()) {
    return invalid(fmt::format("its payload is inline data {}; there are {}", reference.index(), inline_data.size()));
  }
  return bytes_of(inline_data[reference.index()].data());
}

}  // namespace pterun::program
