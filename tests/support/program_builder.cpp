// Writing with the same generated schemas that the readers use; a second opinion comes from the files that the
// exporter made (tests/data).
#include "support/program_builder.h"

#include <cstring>

#include "generated/program/bundled_program_generated.h"
#include "generated/program/flat_tensor_generated.h"
#include "generated/program/program_generated.h"

namespace pterun::test {
namespace {

namespace fb = program::fb;
using Builder = flatbuffers::FlatBufferBuilder;
template <typename T>
using Offset = flatbuffers::Offset<T>;

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

Offset<flatbuffers::Vector<std::uint8_t>> bytes(Builder& b, const std::string& text, std::size_t alignment = 1) {
  b.ForceVectorAlignment(text.size(), 1, alignment);
  return b.CreateVector(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

template <typename T, typename Text, typename Make>
auto table_list(Builder& b, const std::vector<Text>& texts, Make make) {
  std::vector<Offset<T>> offsets;
  for (const Text& text : texts)
    offsets.push_back(make(b, text));
  return b.CreateVector(offsets);
}

Offset<fb::Tensor> tensor(Builder& b, const TensorText& text) {
  const auto sizes = b.CreateVector(text.sizes);
  const auto order = b.CreateVector(text.dim_order);
  Offset<fb::AllocationInfo> allocation = 0;
  if (text.allocation) {
    allocation = fb::CreateAllocationInfo(b, text.allocation->memory_id, text.allocation->offset_low,
                                          text.allocation->offset_high);
  }
  Offset<fb::ExtraTensorInfo> extra = 0;
  if (text.extra) {
    extra = fb::CreateExtraTensorInfo(b, 0, b.CreateString(text.extra->name), text.extra->location,
                                      text.extra->device_type);
  }
  return fb::CreateTensor(b, text.scalar_type, text.storage_offset, text.with_sizes ? sizes : 0, order, false,
                          text.data_buffer_idx, allocation, 0, text.dynamism, extra);
}

Offset<fb::Value> value(Builder& b, const ValueText& text) {
  const auto of = [&](fb::Kind kind, auto offset) { return fb::CreateValue(b, kind, offset.Union()); };
  return std::visit(
      Overloaded{
          [&](const NullText&) { return of(fb::Kind::Null, fb::CreateNull(b)); },
          [&](std::int64_t v) { return of(fb::Kind::Int, fb::CreateInt(b, v)); },
          [&](bool v) { return of(fb::Kind::Bool, fb::CreateBool(b, v)); },
          [&](double v) { return of(fb::Kind::Double, fb::CreateDouble(b, v)); },
          [&](const std::string& v) { return of(fb::Kind::String, fb::CreateString(b, b.CreateString(v))); },
          [&](const TensorText& v) { return of(fb::Kind::Tensor, tensor(b, v)); },
          [&](const IntListText& v) { return of(fb::Kind::IntList, fb::CreateIntList(b, b.CreateVector(v.items))); },
          [&](const DoubleListText& v) {
            return of(fb::Kind::DoubleList, fb::CreateDoubleList(b, b.CreateVector(v.items)));
          },
          [&](const BoolListText& v) { return of(fb::Kind::BoolList, fb::CreateBoolList(b, b.CreateVector(v.items))); },
          [&](const TensorListText& v) {
            return of(fb::Kind::TensorList, fb::CreateTensorList(b, b.CreateVector(v.items)));
          },
          [&](const OptionalTensorListText& v) {
            return of(fb::Kind::OptionalTensorList, fb::CreateOptionalTensorList(b, b.CreateVector(v.items)));
          },
          [&](const UnknownText& v) {
            if (v.tag == 0) return fb::CreateValue(b);
            return of(static_cast<fb::Kind>(v.tag), fb::CreateNull(b));
          },
      },
      text);
}

Offset<fb::Instruction> instruction(Builder& b, const InstructionText& text) {
  using Tag = fb::InstructionArguments;
  const auto of = [&](Tag tag, auto offset) { return fb::CreateInstruction(b, tag, offset.Union()); };
  return std::visit(Overloaded{
                        [&](const KernelText& v) {
                          return of(Tag::KernelCall, fb::CreateKernelCall(b, v.op, b.CreateVector(v.args)));
                        },
                        [&](const DelegateText& v) {
                          return of(Tag::DelegateCall, fb::CreateDelegateCall(b, v.delegate, b.CreateVector(v.args)));
                        },
                        [&](const MoveText& v) { return of(Tag::MoveCall, fb::CreateMoveCall(b, v.from, v.to)); },
                        [&](const JumpText& v) {
                          return of(Tag::JumpFalseCall, fb::CreateJumpFalseCall(b, v.condition, v.destination));
                        },
                        [&](const FreeText& v) { return of(Tag::FreeCall, fb::CreateFreeCall(b, v.value)); },
                        [&](const UnknownText& v) {
                          if (v.tag == 0) return fb::CreateInstruction(b);
                          return of(static_cast<Tag>(v.tag), fb::CreateFreeCall(b, 0));
                        },
                    },
                    text);
}

Offset<fb::Chain> chain(Builder& b, const std::vector<InstructionText>& text) {
  return fb::CreateChain(b, 0, 0, table_list<fb::Instruction>(b, text, instruction));
}

Offset<fb::Delegate> delegate(Builder& b, const BackendText& text) {
  const auto specs = table_list<fb::CompileSpec>(b, text.compile_specs, [](Builder& builder, const auto& spec) {
    const auto key = builder.CreateString(spec.first);
    return fb::CreateCompileSpec(builder, key, bytes(builder, spec.second));
  });
  const auto id = b.CreateString(text.id);
  const auto processed = fb::CreateDelegateDataReference(b, text.location, text.index);
  return fb::CreateDelegate(b, id, text.with_processed ? processed : 0, specs);
}

Offset<fb::ExecutionPlan> method(Builder& b, const MethodText& text) {
  const auto values = table_list<fb::Value>(b, text.values, value);
  const auto chains = table_list<fb::Chain>(b, text.chains, chain);
  const auto operators = table_list<fb::Operator>(b, text.operators, [](Builder& builder, const OperatorText& op) {
    const auto name = builder.CreateString(op.name);
    return fb::CreateOperator(builder, name, builder.CreateString(op.overload));
  });
  const auto delegates = table_list<fb::Delegate>(b, text.delegates, delegate);
  std::int32_t buffer = 0;
  const auto devices = table_list<fb::BufferDevice>(b, text.buffer_devices, [&](Builder& builder, std::int8_t type) {
    return fb::CreateBufferDevice(builder, ++buffer, type);
  });
  const auto name = b.CreateString(text.name);
  const auto inputs = b.CreateVector(text.inputs);
  const auto outputs = b.CreateVector(text.outputs);
  return fb::CreateExecutionPlan(b, name, 0, text.with_values ? values : 0, inputs, outputs, chains, operators,
                                 delegates, b.CreateVector(text.buffer_sizes), devices);
}

Offset<fb::SubsegmentOffsets> subsegments(Builder& b, const SubsegmentsText& text) {
  return fb::CreateSubsegmentOffsets(b, text.segment, b.CreateVector(text.offsets));
}

template <typename T>
void append(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string finished(Builder& b) {
  return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
}

// Puts `header` behind the identifier, so that the root moves by its length (a multiple of 32).
std::string with_header(const std::string& flatbuffer, const std::string& header) {
  std::uint32_t root = 0;
  std::memcpy(&root, flatbuffer.data(), sizeof(root));
  root += static_cast<std::uint32_t>(header.size());
  std::string file;
  append(file, root);
  return file + flatbuffer.substr(4, 4) + header + flatbuffer.substr(8);
}

void pad_to(std::string& file, std::size_t alignment) {
  file.resize((file.size() + alignment - 1) / alignment * alignment);
}

}  // namespace

std::string build_program(const ProgramText& text) {
  Builder b;
  const auto methods = table_list<fb::ExecutionPlan>(b, text.methods, method);
  const auto constants = table_list<fb::Buffer>(b, text.constant_buffer, [](Builder& builder, const std::string& data) {
    return fb::CreateBuffer(builder, bytes(builder, data, 16));
  });
  const auto inline_data =
      table_list<fb::DelegateData>(b, text.inline_data, [](Builder& builder, const std::string& data) {
        return fb::CreateDelegateData(builder, bytes(builder, data, 16));
      });
  const auto segments = table_list<fb::Segment>(b, text.segments, [](Builder& builder, const SegmentText& segment) {
    return fb::CreateSegment(builder, segment.offset, segment.size);
  });
  Offset<fb::SubsegmentOffsets> constant_segment = 0;
  if (text.constant_segment) constant_segment = subsegments(b, *text.constant_segment);
  const auto mutable_segments = table_list<fb::SubsegmentOffsets>(b, text.mutable_segments, subsegments);
  const auto named = table_list<fb::NamedData>(b, text.named, [](Builder& builder, const NamedText& entry) {
    return fb::CreateNamedData(builder, builder.CreateString(entry.key), entry.segment);
  });
  b.Finish(fb::CreateProgram(b, text.version, methods, constants, inline_data, segments, constant_segment,
                             mutable_segments, named),
           "ET12");
  std::string flatbuffer = finished(b);
  if (text.segment_bytes.empty()) return flatbuffer;
  constexpr std::size_t kHeaderBytes = 32;
  constexpr std::size_t kSegmentAlignment = 128;
  const std::uint64_t program_bytes = flatbuffer.size() + kHeaderBytes;
  std::string header = "eh00";
  append(header, std::uint32_t{kHeaderBytes});
  append(header, program_bytes);
  append(header, (program_bytes + kSegmentAlignment - 1) / kSegmentAlignment * kSegmentAlignment);
  append(header, std::uint64_t{text.segment_bytes.size()});
  std::string file = with_header(flatbuffer, header);
  pad_to(file, kSegmentAlignment);
  return file + text.segment_bytes;
}

ProgramText sample_program() {
  MethodText m;
  TensorText input;
  input.allocation = Allocation{1, 0, 0};
  TensorText constant;
  constant.data_buffer_idx = 1;
  TensorText sum = input;
  sum.allocation->offset_low = 16;
  TensorText state = input;
  state.allocation->offset_low = 32;
  state.data_buffer_idx = 1;
  TensorText external;
  external.extra = ExtraInfo{"outer.weight", 1, 0};
  m.values = {input,
              constant,
              sum,
              state,
              external,
              std::int64_t{2},
              true,
              1.5,
              std::string("text"),
              NullText{},
              IntListText{{5, 5}},
              DoubleListText{{0.5}},
              BoolListText{{1, 0}},
              TensorListText{{0, 1}},
              OptionalTensorListText{{0, -1, 9}}};
  m.inputs = {0};
  m.outputs = {2};
  m.operators = {{"aten::add", "out"}, {"test::plain", ""}};
  m.delegates = {BackendText{}};
  m.delegates[0].index = 2;
  m.delegates[0].compile_specs = {{"mode", "fast"}};
  m.chains = {{KernelText{0, {0, 1, 5, 2, 2}}, DelegateText{0, {2, 2}}, JumpText{6, 4}, MoveText{2, 2}, FreeText{4}}};
  m.buffer_sizes = {0, 48};
  ProgramText p;
  p.methods = {m};
  p.segment_bytes = std::string(16, '\1') + std::string(16, '\2') + "payload." + std::string(8, '\0') + "weights!";
  p.segments = {{0, 16}, {16, 16}, {32, 8}, {48, 8}};
  p.constant_segment = SubsegmentsText{0, {0, 0}};
  p.mutable_segments = {SubsegmentsText{1, {0, 0}}};
  p.named = {{"weight", 3}};
  return p;
}

std::string build_external_data(const ExternalDataText& text) {
  Builder b;
  const auto segments = table_list<fb::DataSegment>(b, text.segments, [](Builder& builder, const SegmentText& segment) {
    return fb::CreateDataSegment(builder, segment.offset, segment.size);
  });
  const auto entries = table_list<fb::NamedTensor>(b, text.entries, [](Builder& builder, const ExternalText& entry) {
    const auto key = builder.CreateString(entry.key);
    Offset<fb::TensorLayout> layout = 0;
    if (entry.layout) {
      const auto sizes = builder.CreateVector(entry.layout->sizes);
      const auto order = builder.CreateVector(entry.layout->dim_order);
      layout = fb::CreateTensorLayout(builder, entry.layout->scalar_type, sizes, order);
    }
    return fb::CreateNamedTensor(builder, key, entry.segment, layout);
  });
  b.Finish(fb::CreateFlatTensor(b, text.version, segments, entries), "FT01");
  const std::string flatbuffer = finished(b);
  constexpr std::uint64_t kHeaderBytes = 64;
  constexpr std::uint64_t kSegmentAlignment = 128;
  const std::uint64_t end = kHeaderBytes + flatbuffer.size();
  std::string header = "FH01";
  append(header, std::uint32_t{40});
  append(header, kHeaderBytes);
  append(header, std::uint64_t{flatbuffer.size()});
  append(header, (end + kSegmentAlignment - 1) / kSegmentAlignment * kSegmentAlignment);
  append(header, std::uint64_t{text.segment_bytes.size()});
  header.resize(kHeaderBytes);
  std::string file = with_header(flatbuffer, header);
  pad_to(file, kSegmentAlignment);
  return file + text.segment_bytes;
}

ExternalDataText sample_external_data() {
  ExternalDataText data;
  data.segment_bytes = std::string(16, '\0') + "blob";
  data.segments = {{0, 16}, {16, 4}};
  data.entries = {{"raw", 1, std::nullopt}, {"bias", 0, LayoutText{6, {4}, {0}}}};
  return data;
}

namespace {

Offset<fb::BundledValue> bundled_value(Builder& b, const BundledValueText& text) {
  using Tag = fb::BundledKind;
  const auto of = [&](Tag tag, auto offset) { return fb::CreateBundledValue(b, tag, offset.Union()); };
  return std::visit(Overloaded{
                        [&](const BundledTensorText& v) {
                          const auto sizes = b.CreateVector(v.sizes);
                          const auto data = bytes(b, v.data, 16);
                          const auto order = b.CreateVector(v.dim_order);
                          return of(Tag::BundledTensor, fb::CreateBundledTensor(b, v.scalar_type, sizes, data, order));
                        },
                        [&](std::int64_t v) { return of(Tag::BundledInt, fb::CreateBundledInt(b, v)); },
                        [&](bool v) { return of(Tag::BundledBool, fb::CreateBundledBool(b, v)); },
                        [&](double v) { return of(Tag::BundledDouble, fb::CreateBundledDouble(b, v)); },
                        [&](const UnknownText& v) {
                          if (v.tag == 0) return fb::CreateBundledValue(b);
                          return of(static_cast<Tag>(v.tag), fb::CreateBundledInt(b, 0));
                        },
                    },
                    text);
}

Offset<fb::BundledTestCase> bundled_case(Builder& b, const BundledCaseText& text) {
  const auto inputs = table_list<fb::BundledValue>(b, text.inputs, bundled_value);
  return fb::CreateBundledTestCase(b, inputs, table_list<fb::BundledValue>(b, text.outputs, bundled_value));
}

}  // namespace

std::string build_bundle(const BundleText& text) {
  Builder b;
  const auto program = bytes(b, text.program, 32);
  const auto suites =
      table_list<fb::BundledTestSuite>(b, text.suites, [](Builder& builder, const BundledSuiteText& suite) {
        const auto name = builder.CreateString(suite.method);
        return fb::CreateBundledTestSuite(builder, name,
                                          table_list<fb::BundledTestCase>(builder, suite.cases, bundled_case));
      });
  b.Finish(fb::CreateBundledProgram(b, text.version, suites, program), "BP08");
  return finished(b);
}

BundleText sample_bundle() {
  BundleText bundle;
  bundle.suites = {{"forward", {{{BundledTensorText{}, std::int64_t{3}, true, 0.5}, {BundledTensorText{}}}}}};
  bundle.program = build_program(sample_program());
  return bundle;
}

}  // namespace pterun::test
