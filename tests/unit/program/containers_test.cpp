// Headers, sizes and identifiers of .pte, .ptd and .bpte files, and what is said about files of other kinds.
#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "program/bundled_program.h"
#include "program/container.h"
#include "program/external_data.h"
#include "program/file_kind.h"
#include "program/program.h"
#include "support/program_builder.h"
#include "support/temporary_file.h"

using namespace pterun;
using namespace pterun::program;
using namespace pterun::test;

namespace {

Bytes as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string refusal(const Error& error, ErrorCode code) {
  INFO(error.to_string());
  CHECK(error.code == code);
  CHECK(exit_code(error) == 3);
  CHECK(error.where.contains("file"));
  return error.message;
}

std::string program_refusal(const std::string& content) {
  const TemporaryFile file("m.pte", content);
  const auto program = Program::open(file.path(), Verification::kFull);
  REQUIRE_FALSE(program);
  return refusal(program.error(), ErrorCode::kInvalidProgram);
}

std::string data_refusal(const std::string& content) {
  const TemporaryFile file("w.ptd", content);
  const auto data = ExternalDataFile::open(file.path());
  REQUIRE_FALSE(data);
  return refusal(data.error(), ErrorCode::kInvalidExternalData);
}

std::string bundle_refusal(const BundleText& bundle) {
  const TemporaryFile file("m.bpte", build_bundle(bundle));
  const auto read = BundledProgram::open(file.path());
  REQUIRE_FALSE(read);
  return refusal(read.error(), ErrorCode::kInvalidProgram);
}

template <typename T>
std::string patched(std::string content, std::size_t offset, T value) {
  std::memcpy(content.data() + offset, &value, sizeof(value));
  return content;
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("says what a file is that is no program") {
  using namespace std::string_literals;
  const auto [content, kind] = GENERATE(table<std::string, std::string>({
      {"", "an empty file"},
      {"{\"a\": 1}", "JSON text"},
      {"\xef\xbb\xbf [1]", "JSON text"},
      {"hello model", "text beginning with 'hello model'"},
      {"   \n", "blank text"},
      {"PK\x03\x04 and so on", "a zip archive (.pt, .pt2 or .npz)"},
      {"\x93NUMPY\x01\x00"s, "a NumPy .npy array"},
      {"\x7f"
       "ELF\x02\x01\x01\x00"s,
       "an ELF binary"},
      {"\x08\x07\x12\x07pytorch"s, "an ONNX model"},
      {"\x10\0\0\0\0\0\0\0{\"a\":{}}        "s, "a safetensors file"},
      {"\x20\0\0\0TFL3xxxx"s, "a TensorFlow Lite model"},
      {"GGUF\x03\0\0\0"s, "a GGUF model"},
      {"\x28\0\0\0FT01FH01"s, "a .ptd data file"},
      {"\x28\0\0\0ED00"s, "an ETDump profile"},
      {std::string(100, '\0'), "zeros"},
      {"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer; the file itself was not downloaded"},
      {"\x01\x02\x03"s, "only 3 bytes of unknown data"},
      {"\x01\x02\xff\xfe\x05\x06\x07\x08\x09"s,
       "unknown data beginning with '\\x01\\x02\\xFF\\xFE\\x05\\x06\\x07\\x08'"},
  }));
  CHECK(describe_file_kind(as_bytes(content)) == kind);
  CHECK(contains(program_refusal(content), "is not a .pte program (found " + kind + ")"));
}

TEST_CASE("a program of another format version is told apart from other files") {
  std::string content = build_program(sample_program());
  content.replace(4, 4, "ET13");
  CHECK(contains(program_refusal(content), "another format version (found 'ET13', this build reads 'ET12')"));
}

TEST_CASE("refuses a damaged extended header") {
  const std::string good = build_program(sample_program());
  CHECK(contains(program_refusal(patched(good, 8, std::uint32_t{0x31306865})), "unknown version 'eh01'"));
  CHECK(contains(program_refusal(patched(good, 12, std::uint32_t{23})), "23 bytes long; 24 to"));
  CHECK(contains(program_refusal(patched(good, 12, ~std::uint32_t{0})), "4294967295 bytes long"));
  CHECK(contains(program_refusal(patched(good, 16, std::uint64_t{1} << 63)), "9223372036854775808 for the flatbuffer"));
  CHECK(contains(program_refusal(patched(good, 16, std::uint64_t{40})), "has 40 bytes; at least 64"));
  CHECK(contains(program_refusal(patched(good, 24, std::uint64_t{0})), "bytes of segments, but not where"));
  CHECK(contains(program_refusal(patched(good, 24, std::uint64_t{64})), "inside the flatbuffer"));
  CHECK(contains(program_refusal(patched(good, 24, ~std::uint64_t{0} - 8)), "more than 2^64"));
  CHECK(contains(program_refusal(patched(good, 32, std::uint64_t{1} << 62)), "probably truncated"));
  CHECK(contains(program_refusal(patched(good, 0, std::uint32_t{0x7fffffff})), "does not verify"));
}

TEST_CASE("names the size that a truncated program has and should have") {
  const std::string good = build_program(sample_program());
  const std::string message = program_refusal(good.substr(0, good.size() - 1));
  CHECK(contains(
      message, "it has " + std::to_string(good.size() - 1) + " bytes, its header says " + std::to_string(good.size())));
  CHECK(contains(program_refusal(good.substr(0, 63)), "it has 63 bytes, a program has at least 64"));
}

TEST_CASE("reads a program with bytes behind it, and one whose header does not say how long its segments are") {
  const std::string good = build_program(sample_program());
  for (const std::string& content :
       {good + "trailing", patched(good, 32, std::uint64_t{0}), patched(good, 12, std::uint32_t{24})}) {
    const TemporaryFile file("m.pte", content);
    CHECK(Program::open(file.path(), Verification::kFull));
  }
}

TEST_CASE("reads a data file sorted by key") {
  const TemporaryFile file("w.ptd", build_external_data(sample_external_data()));
  const auto data = ExternalDataFile::open(file.path());
  INFO((data ? "" : data.error().to_string()));
  REQUIRE(data);
  REQUIRE((*data)->entries().size() == 2);
  CHECK((*data)->entries()[0].key == "bias");
  CHECK((*data)->find("bias")->layout->sizes == Shape{4});
  CHECK_FALSE((*data)->find("raw")->layout);
  CHECK((*data)->find("raw")->data.size() == 4);
  CHECK((*data)->find("none") == nullptr);
}

TEST_CASE("refuses a damaged data file") {
  const std::string good = build_external_data(sample_external_data());
  CHECK(contains(data_refusal(build_program(sample_program())), "is not a .ptd data file (found a .pte program)"));
  CHECK(contains(data_refusal(good.substr(0, good.size() - 1)), "probably truncated"));
  CHECK(contains(data_refusal(good.substr(0, 48)), "it has 48 bytes, a data file has at least 64"));
  CHECK(contains(data_refusal(patched(good, 8, std::uint32_t{0})), "instead of 'FH01'"));
  CHECK(contains(data_refusal(patched(good, 12, std::uint32_t{8})), "8 bytes long; at least 40"));
  CHECK(contains(data_refusal(patched(good, 24, ~std::uint64_t{0})), "overflow"));
  CHECK(contains(data_refusal(patched(good, 32, std::uint64_t{1} << 60)), "probably truncated"));
  CHECK(contains(data_refusal(patched(good, 40, std::uint64_t{1} << 60)), "probably truncated"));
  CHECK(contains(data_refusal(patched(good, 0, std::uint32_t{0x7fffff})), "does not verify"));
}

TEST_CASE("refuses data entries that break a rule, naming the key") {
  const auto message = [](auto change) {
    ExternalDataText text = sample_external_data();
    change(text);
    return data_refusal(build_external_data(text));
  };
  const auto layout = [](ExternalDataText& text) -> LayoutText& { return *text.entries[1].layout; };
  CHECK(contains(message([](auto& t) { t.version = 1; }), "version 1 is newer"));
  CHECK(contains(message([](auto& t) { t.entries[0].key = ""; }), "no usable key"));
  CHECK(contains(message([](auto& t) { t.entries[0].key = "bias"; }), "the key 'bias' twice"));
  CHECK(contains(message([](auto& t) { t.entries[0].segment = 2; }), "entry 0 ('raw'): it refers to segment 2"));
  CHECK(contains(message([](auto& t) { t.segments[1].size = 5; }), "has 5 bytes from offset 16"));
  CHECK(contains(message([](auto& t) { t.segments[1].offset = ~0ull; }), "from offset 18446744073709551615"));
  CHECK(contains(message([&](auto& t) { layout(t).scalar_type = 99; }), "scalar type 99"));
  CHECK(contains(message([&](auto& t) { layout(t).sizes = {5}; }), "needs 20 bytes; its segment has 16"));
  CHECK(contains(message([&](auto& t) { layout(t).sizes = {-1}; }), "negative or overflow"));
  CHECK(contains(message([&](auto& t) { layout(t).sizes.assign(17, 1); }), "rank 17"));
  CHECK(contains(message([&](auto& t) { layout(t).dim_order = {1}; }), "no permutation"));
  CHECK(contains(message([&](auto& t) { layout(t).dim_order = {}; }), "no permutation"));
  CHECK(contains(message([&](auto& t) { t.segments[0] = {1, 19}; }), "not aligned to the 4 bytes of float32"));
  CHECK(contains(message([&](auto& t) {
                   layout(t).scalar_type = 11;
                   t.segment_bytes[2] = '\2';
                 }),
                 "neither 0 nor 1"));
}

TEST_CASE("says that a data file is missing") {
  const auto data = ExternalDataFile::open("/nonexistent/w.ptd");
  REQUIRE_FALSE(data);
  CHECK(data.error().code == ErrorCode::kAccessFailed);
  CHECK(exit_code(data.error()) == 3);
}

TEST_CASE("reads the cases of a bundle") {
  const TemporaryFile file("m.bpte", build_bundle(sample_bundle()));
  const auto bundle = BundledProgram::open(file.path());
  INFO((bundle ? "" : bundle.error().to_string()));
  REQUIRE(bundle);
  const auto& inputs = (*bundle)->suites()[0].cases[0].inputs;
  REQUIRE(inputs.size() == 4);
  CHECK(std::get<Tensor>(inputs[0]).shape() == Shape{2});
  CHECK(std::get<std::int64_t>(inputs[1]) == 3);
  CHECK(std::get<bool>(inputs[2]));
  CHECK(std::get<double>(inputs[3]) == 0.5);
  CHECK((*bundle)->program().size() == sample_bundle().program.size());
  const auto program = Program::open(file.path(), Verification::kFull);
  REQUIRE(program);
  CHECK((*program)->is_bundled());
  CHECK((*program)->file_bytes() == file.read().size());
}

TEST_CASE("refuses bundles that break a rule") {
  const auto message = [](auto change) {
    BundleText text = sample_bundle();
    change(text);
    return bundle_refusal(text);
  };
  const auto input = [](BundleText& text) -> BundledTensorText& {
    return std::get<BundledTensorText>(text.suites[0].cases[0].inputs[0]);
  };
  CHECK(contains(message([](auto& t) { t.version = 3; }), "version 3 is newer than 2"));
  CHECK(contains(message([](auto& t) { t.program = ""; }), "no program in it"));
  CHECK(contains(message([](auto& t) { t.suites[0].method = ""; }), "test cases for the method ''"));
  CHECK(contains(message([](auto& t) { t.suites.push_back(t.suites[0]); }), "two lists of test cases"));
  CHECK(contains(message([](auto& t) { t.suites[0].cases[0].inputs[1] = UnknownText{9}; }),
                 "case 0 of method 'forward': input 1: it is of the unknown kind 9"));
  CHECK(contains(message([](auto& t) { t.suites[0].cases[0].outputs[0] = UnknownText{0}; }), "output 0: it is empty"));
  CHECK(contains(message([&](auto& t) { input(t).scalar_type = 50; }), "scalar type 50"));
  CHECK(contains(message([&](auto& t) { input(t).data.resize(7); }), "needs 8 bytes; it has 7"));
  CHECK(contains(message([&](auto& t) { input(t).sizes = {-2}; }), "negative or overflow"));
  CHECK(contains(message([&](auto& t) { input(t).sizes.assign(17, 1); }), "rank 17"));
  CHECK(contains(message([&](auto& t) { input(t).dim_order = {3}; }), "no permutation"));
  CHECK(contains(message([&](auto& t) { input(t) = {11, {2}, {0}, "\1\2"}; }), "neither 0 nor 1"));
}

TEST_CASE("refuses a bundle that is none, is truncated or holds a broken program") {
  const TemporaryFile other("m.bpte", build_program(sample_program()));
  CHECK(contains(refusal(BundledProgram::open(other.path()).error(), ErrorCode::kInvalidProgram),
                 "is not a .bpte bundled program (found a .pte program)"));
  const std::string good = build_bundle(sample_bundle());
  const TemporaryFile cut("m.bpte", good.substr(0, good.size() / 2));
  CHECK(contains(refusal(Program::open(cut.path(), Verification::kFull).error(), ErrorCode::kInvalidProgram),
                 "does not verify"));
  BundleText broken = sample_bundle();
  broken.program = std::string(100, 'x');
  CHECK(contains(program_refusal(build_bundle(broken)), "is not a .pte program"));
}
