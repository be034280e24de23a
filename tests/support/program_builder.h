// Builds .pte, .ptd and .bpte files from plain descriptions, valid ones and any others: tests change one field of a
// valid description and see what the reader says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pterun::test {

struct Allocation {
  std::uint32_t memory_id = 1;
  std::uint32_t offset_low = 0;
  std::uint32_t offset_high = 0;
};
struct ExtraInfo {
  std::string name;
  std::int8_t location = 0;
  std::int8_t device_type = 0;
};
struct TensorText {
  std::int8_t scalar_type = 6;
  std::int32_t storage_offset = 0;
  std::vector<std::int32_t> sizes = {2, 2};
  std::vector<std::uint8_t> dim_order = {0, 1};
  std::uint32_t data_buffer_idx = 0;
  std::optional<Allocation> allocation;
  std::int8_t dynamism = 0;
  std::optional<ExtraInfo> extra;
  bool with_sizes = true;
};

struct NullText {};
struct IntListText {
  std::vector<std::int64_t> items;
};
struct DoubleListText {
  std::vector<double> items;
};
struct BoolListText {
  std::vector<std::uint8_t> items;
};
struct TensorListText {
  std::vector<std::int32_t> items;
};
struct OptionalTensorListText {
  std::vector<std::int32_t> items;
};
struct UnknownText {
  std::uint8_t tag = 0;
};  // a tag that no union has; 0 is an absent one
using ValueText = std::variant<NullText, std::int64_t, bool, double, std::string, TensorText, IntListText,
                               DoubleListText, BoolListText, TensorListText, OptionalTensorListText, UnknownText>;

struct KernelText {
  std::int32_t op = 0;
  std::vector<std::int32_t> args;
};
struct DelegateText {
  std::int32_t delegate = 0;
  std::vector<std::int32_t> args;
};
struct MoveText {
  std::int32_t from = 0;
  std::int32_t to = 0;
};
struct JumpText {
  std::int32_t condition = 0;
  std::int32_t destination = 0;
};
struct FreeText {
  std::int32_t value = 0;
};
using InstructionText = std::variant<KernelText, DelegateText, MoveText, JumpText, FreeText, UnknownText>;

struct OperatorText {
  std::string name;
  std::string overload;
};
struct BackendText {
  std::string id = "TestBackend";
  std::int8_t location = 1;
  std::uint32_t index = 0;
  bool with_processed = true;
  std::vector<std::pair<std::string, std::string>> compile_specs;
};

struct MethodText {
  std::string name = "forward";
  std::vector<ValueText> values;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<std::vector<InstructionText>> chains;
  std::vector<OperatorText> operators;
  std::vector<BackendText> delegates;
  std::vector<std::int64_t> buffer_sizes = {0};
  std::vector<std::int8_t> buffer_devices;
  bool with_values = true;
};

struct SegmentText {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
struct SubsegmentsText {
  std::uint32_t segment = 0;
  std::vector<std::uint64_t> offsets;
};
struct NamedText {
  std::string key;
  std::uint32_t segment = 0;
};

struct ProgramText {
  std::uint32_t version = 0;
  std::vector<MethodText> methods;
  std::vector<std::string> constant_buffer;
  std::vector<std::string> inline_data;
  std::vector<SegmentText> segments;
  std::optional<SubsegmentsText> constant_segment;
  std::vector<SubsegmentsText> mutable_segments;
  std::vector<NamedText> named;
  std::string segment_bytes;  // what segment offsets count into; with bytes there is an extended header
};

// A small valid program: one method that adds (operator 0) a planned input and a constant, calls a delegate on the sum,
// and has a value of every kind. Segments: 0 constants, 1 initial values, 2 payload, 3 named data "weight".
ProgramText sample_program();

std::string build_program(const ProgramText& program);

struct LayoutText {
  std::int8_t scalar_type = 6;
  std::vector<std::int32_t> sizes;
  std::vector<std::uint8_t> dim_order;
};
struct ExternalText {
  std::string key;
  std::uint32_t segment = 0;
  std::optional<LayoutText> layout;
};
struct ExternalDataText {
  std::uint32_t version = 0;
  std::vector<SegmentText> segments;
  std::vector<ExternalText> entries;
  std::string segment_bytes;
};
// A valid data file: "bias" float32[4] in segment 0, the blob "raw" in segment 1.
ExternalDataText sample_external_data();
std::string build_external_data(const ExternalDataText& data);

struct BundledTensorText {
  std::int8_t scalar_type = 6;
  std::vector<std::int32_t> sizes = {2};
  std::vector<std::uint8_t> dim_order = {0};
  std::string data = std::string(8, '\0');
};
using BundledValueText = std::variant<BundledTensorText, std::int64_t, bool, double, UnknownText>;
struct BundledCaseText {
  std::vector<BundledValueText> inputs;
  std::vector<BundledValueText> outputs;
};
struct BundledSuiteText {
  std::string method = "forward";
  std::vector<BundledCaseText> cases;
};
struct BundleText {
  std::uint32_t version = 2;
  std::vector<BundledSuiteText> suites;
  std::string program;
};
// A valid bundle of sample_program() with one case that has an input of each kind.
BundleText sample_bundle();
std::string build_bundle(const BundleText& bundle);

}  // namespace pterun::test
