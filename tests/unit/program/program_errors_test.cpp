// Every rule of the format: a valid program with one thing wrong is refused, with exit code 3 and a message that says
// what was found.
#include <functional>

#include <catch2/catch_test_macros.hpp>

#include "program/program.h"
#include "support/program_builder.h"
#include "tensor/tensor.h"

using namespace pterun;
using namespace pterun::program;
using namespace pterun::test;

namespace {

// Bytes with the alignment that parse() asks for.
struct AlignedFile {
  explicit AlignedFile(const std::string& content) : buffer(*AlignedBuffer::allocate(content.size())) {
    std::copy(content.begin(), content.end(), reinterpret_cast<char*>(buffer.data()));
  }
  Bytes bytes() const { return {buffer.data(), buffer.size()}; }
  AlignedBuffer buffer;
};

Result<std::shared_ptr<const Program>> parse(const std::string& content,
                                             Verification verification = Verification::kFull) {
  const AlignedFile file(content);
  return Program::parse(file.bytes(), "m.pte", verification);
}

struct Fault {
  const char* what;
  std::function<void(ProgramText&)> apply;
  const char* message;
  ErrorCode code = ErrorCode::kInvalidProgram;
};

TensorText& tensor(ProgramText& p, std::size_t value) {
  return std::get<TensorText>(p.methods[0].values[value]);
}
MethodText& method(ProgramText& p) {
  return p.methods[0];
}
template <typename T>
T& instruction(ProgramText& p, std::size_t i) {
  return std::get<T>(p.methods[0].chains[0][i]);
}

void check_faults(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    DYNAMIC_SECTION(fault.what) {
      ProgramText text = sample_program();
      fault.apply(text);
      const auto program = parse(build_program(text));
      REQUIRE_FALSE(program);
      INFO(program.error().to_string());
      CHECK(program.error().code == fault.code);
      CHECK(exit_code(program.error()) == 3);
      CHECK(program.error().where.at("file") == "m.pte");
      CHECK(program.error().message.find(fault.message) != std::string::npos);
    }
  }
}

}  // namespace

TEST_CASE("the sample program is valid and read completely") {
  const AlignedFile file(build_program(sample_program()));
  const auto program = Program::parse(file.bytes(), "m.pte", Verification::kFull);
  INFO((program ? "" : program.error().to_string()));
  REQUIRE(program);
  const MethodPlan& plan = (*program)->methods()[0];
  CHECK(plan.operators == std::vector<std::string>{"aten::add.out", "test::plain"});
  CHECK(plan.buffer_bytes == std::vector<std::uint64_t>{48});
  const auto& input = std::get<TensorSpec>(plan.values[0]);
  CHECK((input.planned && !input.has_data && !input.is_constant()));
  const auto& constant = std::get<TensorSpec>(plan.values[1]);
  CHECK((constant.is_constant() && constant.data.size() == 16 && constant.data[0] == std::byte{1}));
  CHECK(constant.data.data() > file.bytes().data());
  const auto& state = std::get<TensorSpec>(plan.values[3]);
  CHECK((state.planned->offset_bytes == 32 && state.data[0] == std::byte{2} && !state.is_constant()));
  const auto& external = std::get<TensorSpec>(plan.values[4]);
  CHECK((external.external && external.name == "outer.weight" && external.is_constant()));
  CHECK(std::get<std::int64_t>(plan.values[5]) == 2);
  CHECK(std::get<bool>(plan.values[6]));
  CHECK(std::get<double>(plan.values[7]) == 1.5);
  CHECK(std::get<std::string_view>(plan.values[8]) == "text");
  CHECK(std::holds_alternative<NoneSpec>(plan.values[9]));
  CHECK(std::get<IntListSpec>(plan.values[10]).values == std::vector<std::uint32_t>{5, 5});
  CHECK(std::get<DoubleListSpec>(plan.values[11]).items == std::vector<double>{0.5});
  CHECK(std::get<BoolListSpec>(plan.values[12]).items == std::vector<bool>{true, false});
  CHECK(std::get<TensorListSpec>(plan.values[13]).values == std::vector<std::uint32_t>{0, 1});
  // -1 and a value that is None both mean None.
  CHECK(std::get<OptionalTensorListSpec>(plan.values[14]).values ==
        std::vector<std::optional<std::uint32_t>>{0, std::nullopt, std::nullopt});
  CHECK(plan.delegates[0].payload.size() == 8);
  CHECK(plan.delegates[0].compile_specs[0].key == "mode");
  REQUIRE(plan.chains[0].size() == 5);
  CHECK(std::get<KernelCall>(plan.chains[0][0]).args.size() == 5);
  CHECK(std::get<JumpFalseCall>(plan.chains[0][2]).destination == 4);
  CHECK((*program)->find_named_data("weight")->size() == 8);
}

TEST_CASE("refuses tensors that break a rule") {
  check_faults({
      {"unknown dtype", [](ProgramText& p) { tensor(p, 0).scalar_type = 99; },
       "value 0 has the unknown scalar type 99"},
      {"negative dtype", [](ProgramText& p) { tensor(p, 0).scalar_type = -1; }, "unknown scalar type -1"},
      {"complex32", [](ProgramText& p) { tensor(p, 0).scalar_type = 8; }, "complex32", ErrorCode::kNotSupported},
      {"storage offset", [](ProgramText& p) { tensor(p, 0).storage_offset = 4; }, "storage offset 4",
       ErrorCode::kNotSupported},
      {"unbounded shape", [](ProgramText& p) { tensor(p, 0).dynamism = 2; }, "upper bound", ErrorCode::kNotSupported},
      {"unknown dynamism", [](ProgramText& p) { tensor(p, 0).dynamism = 7; }, "dynamism 7"},
      {"no sizes", [](ProgramText& p) { tensor(p, 0).with_sizes = false; }, "no sizes"},
      {"negative size", [](ProgramText& p) { tensor(p, 0).sizes = {2, -2}; }, "negative size -2"},
      {"rank above 16", [](ProgramText& p) { tensor(p, 0).sizes.assign(17, 1); }, "rank 17"},
      {"overflow", [](ProgramText& p) { tensor(p, 0).sizes.assign(3, 1 << 30); }, "overflow"},
      {"bytes overflow", [](ProgramText& p) { tensor(p, 0).sizes = {2147483647, 1 << 30, 8}; }, "overflow"},
      {"short dim order", [](ProgramText& p) { tensor(p, 0).dim_order = {0}; }, "dim order of 1 entries"},
      {"dim order twice", [](ProgramText& p) { tensor(p, 0).dim_order = {1, 1}; }, "no permutation"},
      {"dim order too large", [](ProgramText& p) { tensor(p, 0).dim_order = {0, 2}; }, "no permutation"},
      {"memory 0", [](ProgramText& p) { tensor(p, 0).allocation->memory_id = 0; },
       "planned in memory 0; there are 1 to 1"},
      {"memory 2", [](ProgramText& p) { tensor(p, 0).allocation->memory_id = 2; }, "planned in memory 2"},
      {"offset at the end", [](ProgramText& p) { tensor(p, 0).allocation->offset_low = 36; },
       "needs 16 bytes from offset 36 of planned memory 1, which has 48"},
      {"high offset", [](ProgramText& p) { tensor(p, 0).allocation->offset_high = 1; }, "from offset 4294967296"},
      {"misaligned plan", [](ProgramText& p) { tensor(p, 0).allocation->offset_low = 2; },
       "no multiple of the 4 bytes of float32"},
      {"unknown constant", [](ProgramText& p) { tensor(p, 1).data_buffer_idx = 2; },
       "constant 2 does not exist; there are 2"},
      {"constant too large", [](ProgramText& p) { tensor(p, 1).sizes = {2, 3}; },
       "constant 1 needs 24 bytes from offset 0; its segment has 16"},
      {"constant offset", [](ProgramText& p) { p.constant_segment->offsets[1] = ~0ull; }, "constant 1 needs 16 bytes"},
      {"constant segment", [](ProgramText& p) { p.constant_segment->segment = 9; }, "segment 9; there are 4"},
      {"constants twice", [](ProgramText& p) { p.constant_buffer = {"", "x"}; }, "only one may be used"},
      {"no initial values", [](ProgramText& p) { p.mutable_segments.clear(); },
       "initial value 1 does not exist; there are none"},
      {"initial value too large", [](ProgramText& p) { p.mutable_segments[0].offsets[1] = 8; },
       "initial value 1 needs 16 bytes from offset 8"},
      {"external without name", [](ProgramText& p) { tensor(p, 4).extra->name = ""; }, "no name"},
      {"unknown location", [](ProgramText& p) { tensor(p, 4).extra->location = 2; }, "unknown location 2"},
      {"on a GPU", [](ProgramText& p) { tensor(p, 4).extra->device_type = 1; }, "device type 1",
       ErrorCode::kNotSupported},
      {"bool of 2", [](ProgramText& p) { tensor(p, 3).scalar_type = 11; }, "neither 0 nor 1"},
  });
}

TEST_CASE("refuses methods that break a rule") {
  check_faults({
      {"no methods", [](ProgramText& p) { p.methods.clear(); }, "no methods"},
      {"no name", [](ProgramText& p) { method(p).name = ""; }, "method without a name"},
      {"unprintable name", [](ProgramText& p) { method(p).name = "a\x1b[1m"; }, "unprintable name 'a\\x1B[1m'"},
      {"two of one name", [](ProgramText& p) { p.methods.push_back(p.methods[0]); }, "two methods named 'forward'"},
      {"newer version", [](ProgramText& p) { p.version = 3; }, "version 3 is newer than 0"},
      {"no values", [](ProgramText& p) { method(p).with_values = false; }, "no table of values"},
      {"empty value", [](ProgramText& p) { method(p).values[9] = UnknownText{0}; }, "value 9 is empty"},
      {"unknown kind", [](ProgramText& p) { method(p).values[9] = UnknownText{77}; },
       "value 9 is of the unknown kind 77"},
      {"input out of range", [](ProgramText& p) { method(p).inputs = {15}; },
       "an input is value 15; there are 15 values"},
      {"negative output", [](ProgramText& p) { method(p).outputs = {-1}; }, "an output is value -1"},
      {"int list out of range", [](ProgramText& p) { method(p).values[10] = IntListText{{1ll << 40}}; },
       "value 10 holds value 1099511627776"},
      {"int list of a tensor", [](ProgramText& p) { method(p).values[10] = IntListText{{0}}; },
       "value 10 holds value 0, which is not an Int"},
      {"int list of itself", [](ProgramText& p) { method(p).values[10] = IntListText{{10}}; }, "not an Int"},
      {"tensor list of an int", [](ProgramText& p) { method(p).values[13] = TensorListText{{5}}; }, "not a Tensor"},
      {"tensor list of None", [](ProgramText& p) { method(p).values[13] = TensorListText{{-1}}; },
       "value 13 holds value -1"},
      {"optional list of an int", [](ProgramText& p) { method(p).values[14] = OptionalTensorListText{{5}}; },
       "not a Tensor or None"},
      {"optional list out of range", [](ProgramText& p) { method(p).values[14] = OptionalTensorListText{{-2}}; },
       "holds value -2"},
      {"negative buffer", [](ProgramText& p) { method(p).buffer_sizes = {0, -1}; },
       "planned memory 1 has the negative size -1"},
      {"buffer on a GPU", [](ProgramText& p) { method(p).buffer_devices = {1}; },
       "planned memory 1 is on device type 1", ErrorCode::kNotSupported},
      {"operator without name", [](ProgramText& p) { method(p).operators[1].name = ""; }, "operator 1 has no name"},
      {"long operator name", [](ProgramText& p) { method(p).operators[1].name.assign(100, 'x'); }, "at most 99"},
      {"unprintable operator name", [](ProgramText& p) { method(p).operators[1].name = "a\n"; }, "unprintable name"},
      {"backend without name", [](ProgramText& p) { method(p).delegates[0].id = ""; },
       "delegate 0: it has no backend name"},
      {"unprintable backend name", [](ProgramText& p) { method(p).delegates[0].id = "\xff"; }, "unprintable name"},
      {"no payload", [](ProgramText& p) { method(p).delegates[0].with_processed = false; }, "no payload"},
      {"payload location", [](ProgramText& p) { method(p).delegates[0].location = 3; }, "unknown location 3"},
      {"payload segment", [](ProgramText& p) { method(p).delegates[0].index = 4; }, "segment 4; there are 4"},
      {"inline payload", [](ProgramText& p) { method(p).delegates[0].location = 0; }, "inline data 2; there are 0"},
      {"segment outside", [](ProgramText& p) { p.segments[3].size = 9; },
       "segment 3 has 9 bytes from offset 48; the segments of the file have 56"},
      {"segment that wraps", [](ProgramText& p) { p.segments[3].offset = ~0ull - 3; }, "segment 3"},
      {"named data out of range", [](ProgramText& p) { p.named[0].segment = 4; },
       "named data 'weight': it refers to segment 4"},
      {"named data without key", [](ProgramText& p) { p.named[0].key = ""; }, "named data 0 has the key ''"},
      {"named data twice", [](ProgramText& p) { p.named.push_back({"weight", 0}); }, "'weight' is twice"},
  });
}

TEST_CASE("refuses instructions that break a rule, naming the instruction") {
  check_faults({
      {"no chains", [](ProgramText& p) { method(p).chains.clear(); }, "no chain"},
      {"empty instruction", [](ProgramText& p) { method(p).chains[0][0] = UnknownText{0}; },
       "instruction 0 of chain 0: it has no arguments"},
      {"unknown instruction", [](ProgramText& p) { method(p).chains[0][1] = UnknownText{9}; },
       "instruction 1 of chain 0: it is of the unknown kind 9"},
      {"operator out of range", [](ProgramText& p) { instruction<KernelText>(p, 0).op = 2; },
       "it calls operator 2; there are 2 operators"},
      {"negative operator", [](ProgramText& p) { instruction<KernelText>(p, 0).op = -1; }, "operator -1"},
      {"argument out of range", [](ProgramText& p) { instruction<KernelText>(p, 0).args = {15}; },
       "an argument is value 15"},
      {"negative argument", [](ProgramText& p) { instruction<DelegateText>(p, 1).args = {-1}; },
       "an argument is value -1"},
      {"delegate out of range", [](ProgramText& p) { instruction<DelegateText>(p, 1).delegate = 1; },
       "it calls delegate 1; there are 1 delegates"},
      {"condition out of range", [](ProgramText& p) { instruction<JumpText>(p, 2).condition = 99; },
       "its condition is value 99"},
      {"condition is a list", [](ProgramText& p) { instruction<JumpText>(p, 2).condition = 13; },
       "neither a scalar nor a Tensor"},
      {"destination beyond the end", [](ProgramText& p) { instruction<JumpText>(p, 2).destination = 6; },
       "jumps to instruction 6"},
      {"negative destination", [](ProgramText& p) { instruction<JumpText>(p, 2).destination = -1; },
       "jumps to instruction -1"},
      {"move from nowhere", [](ProgramText& p) { instruction<MoveText>(p, 3).from = 15; }, "moves from value 15"},
      {"move to nowhere", [](ProgramText& p) { instruction<MoveText>(p, 3).to = -3; }, "moves to value -3"},
      {"free nothing", [](ProgramText& p) { instruction<FreeText>(p, 4).value = 15; }, "frees value 15"},
      {"free a number", [](ProgramText& p) { instruction<FreeText>(p, 4).value = 5; },
       "frees value 5, which is no Tensor"},
  });
}

TEST_CASE("a jump may go to the end of its chain") {
  ProgramText text = sample_program();
  instruction<JumpText>(text, 2).destination = 5;
  CHECK(parse(build_program(text)));
}

TEST_CASE("minimal verification reads a newer version and leaves out named data outside the file") {
  ProgramText text = sample_program();
  text.version = 9;
  text.segments[3].size = 1000;
  text.named.push_back({"good", 0});
  const AlignedFile file(build_program(text));
  const auto program = Program::parse(file.bytes(), "m.pte", Verification::kMinimal);
  REQUIRE(program);
  CHECK((*program)->verification() == Verification::kMinimal);
  CHECK_FALSE((*program)->find_named_data("weight"));
  CHECK((*program)->find_named_data("good"));
  text.methods[0].inputs = {99};
  CHECK_FALSE(parse(build_program(text), Verification::kMinimal));
}

TEST_CASE("reads a program without segments and without a header") {
  ProgramText text = sample_program();
  text.segment_bytes.clear();
  text.segments.clear();
  text.constant_segment.reset();
  text.constant_buffer = {"", std::string(16, '\3')};
  text.mutable_segments.clear();
  tensor(text, 3).data_buffer_idx = 0;
  text.named.clear();
  text.inline_data = {"inline payload"};
  method(text).delegates[0].location = 0;
  method(text).delegates[0].index = 0;
  const AlignedFile file(build_program(text));
  const auto program = Program::parse(file.bytes(), "m.pte", Verification::kFull);
  INFO((program ? "" : program.error().to_string()));
  REQUIRE(program);
  CHECK(std::get<TensorSpec>((*program)->methods()[0].values[1]).data[0] == std::byte{3});
  CHECK((*program)->methods()[0].delegates[0].payload.size() == 14);
}

TEST_CASE("copies a constant that is not aligned to its elements") {
  ProgramText text = sample_program();
  text.segment_bytes.insert(0, 1, '\7');
  for (SegmentText& segment : text.segments)
    segment.offset += 1;
  const AlignedFile file(build_program(text));
  const auto program = Program::parse(file.bytes(), "m.pte", Verification::kFull);
  REQUIRE(program);
  const Bytes data = std::get<TensorSpec>((*program)->methods()[0].values[1]).data;
  CHECK(reinterpret_cast<std::uintptr_t>(data.data()) % 4 == 0);
  CHECK(data[0] == std::byte{1});
  CHECK((data.data() < file.bytes().data() || data.data() >= file.bytes().data() + file.bytes().size()));
}

TEST_CASE("refuses unaligned constants that together need more memory than the file has") {
  ProgramText text = sample_program();
  text.segment_bytes.insert(0, 1, '\7');
  text.segment_bytes.resize(4096);
  text.segments[0] = {1, 4095};
  for (std::size_t i = 1; i < text.segments.size(); ++i)
    text.segments[i].offset += 1;
  TensorText large;
  large.sizes = {1000};
  large.dim_order = {0};
  for (std::uint32_t i = 0; i < 8; ++i) {
    text.constant_segment->offsets.push_back(i * 4);
    large.data_buffer_idx = i + 2;
    method(text).values.push_back(large);
  }
  const auto program = parse(build_program(text));
  REQUIRE_FALSE(program);
  CHECK(program.error().message.find("more memory than the file") != std::string::npos);
}

TEST_CASE("refuses bytes that are not aligned to 16") {
  const std::string content = build_program(sample_program());
  const AlignedFile file("x" + content);
  const auto program = Program::parse(file.bytes().subspan(1), "m.pte", Verification::kFull);
  REQUIRE_FALSE(program);
  CHECK(program.error().code == ErrorCode::kInvalidArgument);
}
