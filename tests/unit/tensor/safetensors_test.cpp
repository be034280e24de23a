// safetensors: strict reading, and round trips.
#include "tensor/io/safetensors.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "support/temporary_file.h"

using namespace pterun;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

Result<std::vector<io::NamedTensor>> parse(const std::string& file) {
  return io::parse_safetensors(std::as_bytes(std::span(file)), "x.safetensors");
}

std::string message(const Result<std::vector<io::NamedTensor>>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kInput);
  CHECK(exit_code(result.error()) == 4);
  CHECK(result.error().where.at("file") == "x.safetensors");
  return result.error().message;
}

}  // namespace

TEST_CASE("reads tensors in the order of the header, with metadata and padding") {
  const auto read =
      parse(file_of(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
                    R"("a":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}   )",
                    "\x80\x3f\x00\x40zz"));
  // The literal ends at its first zero byte; complete it.
  const auto complete =
      parse(file_of(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
                    R"("a":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}   )",
                    std::string("\x80\x3f\x00\x40zz", 6)));
  CHECK_FALSE(read);
  REQUIRE(complete);
  REQUIRE(complete->size() == 2);
  CHECK((*complete)[0].name == "b");
  CHECK((*complete)[1].tensor.view().dtype() == DType::kBFloat16);
  CHECK(static_cast<float>((*complete)[1].tensor.view().data<BFloat16>()[1]) == 2.0f);
}

TEST_CASE("writes every dtype of the format and reads it back") {
  const DType dtype =
      GENERATE(DType::kBool, DType::kUInt8, DType::kInt8, DType::kUInt16, DType::kInt16, DType::kUInt32, DType::kInt32,
               DType::kUInt64, DType::kInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64,
               DType::kComplex64, DType::kComplex128, DType::kFloat8E5M2, DType::kFloat8E4M3FN);
  HostTensor tensor = *HostTensor::allocate(dtype, Shape{2, 3});
  std::memset(tensor.view().mutable_raw_data(), 1, tensor.view().nbytes());
  const HostTensor scalar = *HostTensor::allocate(DType::kUInt8, Shape{0});
  const io::NamedTensorView views[] = {{"a \"name\"", &tensor.view()}, {"empty", &scalar.view()}};
  const TemporaryFile file("a.safetensors");
  REQUIRE(io::write_safetensors(file.path(), views));
  const auto read = io::read_safetensors(file.path());
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  CHECK((*read)[0].name == "a \"name\"");
  CHECK((*read)[0].tensor.view().dtype() == dtype);
  CHECK((*read)[0].tensor.view().shape() == Shape{2, 3});
  CHECK(std::memcmp((*read)[0].tensor.view().raw_data(), tensor.view().raw_data(), tensor.view().nbytes()) == 0);
  CHECK(*io::read_safetensors_keys(file.path()) == std::vector<std::string>{"a \"name\"", "empty"});
}

TEST_CASE("reads one tensor by its key") {
  const TemporaryFile file("a.safetensors", file_of(R"({"a":{"dtype":"I8","shape":[],"data_offsets":[0,1]}})", "\x05"));
  const auto tensor = io::read_safetensors_entry(file.path(), "a");
  REQUIRE(tensor);
  CHECK(tensor->view().data<std::int8_t>()[0] == 5);
  const auto unknown = io::read_safetensors_entry(file.path(), "b");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("there are a") != std::string::npos);
}

TEST_CASE("refuses files that are no safetensors") {
  const std::string broken = GENERATE(std::string(), std::string("abc"), file_of("", ""), file_of("[]", ""),
                                      std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10), file_of("{", ""),
                                      file_of("{}x", ""), file_of("{\"a\":1}", ""), file_of("{\"a\":\"x\"}", ""),
                                      file_of("{\"a\":[]}", ""), file_of("{\"a\":null}", ""), file_of("{\"a\":{}}", ""),
                                      file_of("{\"\xff\":{}}", ""), file_of("{\"a\":true}", ""));
  message(parse(broken));
}

TEST_CASE("refuses a description that is not exactly what the format says") {
  const std::string entry = GENERATE(
      R"({"dtype":"F32","shape":[1]})", R"({"dtype":"F32","data_offsets":[0,4]})",
      R"({"shape":[1],"data_offsets":[0,4]})", R"({"dtype":"F32","shape":[1],"data_offsets":[0]})",
      R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,4]})", R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})",
      R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", R"({"dtype":"F32","shape":1,"data_offsets":[0,4]})",
      R"({"dtype":4,"shape":[1],"data_offsets":[0,4]})", R"({"dtype":"F32","shape":[[1]],"data_offsets":[0,4]})",
      R"({"dtype":"F32","shape":[{}],"data_offsets":[0,4]})",
      R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"extra":"x"})",
      R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})",
      R"({"dtype":"C128","shape":[1],"data_offsets":[0,4]})", R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})",
      R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})",
      R"({"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4]})",
      R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})",
      R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})",
      R"({"dtype":"BOOL","shape":[4],"data_offsets":[0,4]})");
  message(parse(file_of("{\"a\":" + entry + "}", "1234")));
}

TEST_CASE("refuses a key twice, overlaps, gaps and bytes behind the last tensor") {
  const std::string one = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  CHECK(message(parse(file_of("{" + one + "," + one + "}", "ab"))).find("'a' twice") != std::string::npos);
  CHECK(message(parse(file_of("{" + one + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "abc")))
            .find("does not follow") != std::string::npos);
  CHECK(message(parse(file_of("{" + one + R"(,"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})", "abcd")))
            .find("does not follow") != std::string::npos);
  CHECK(message(parse(file_of("{" + one + "}", "abc"))).find("1 bytes behind") != std::string::npos);
}

TEST_CASE("bounds the depth of the header") {
  message(parse(file_of("{\"a\":" + std::string(1 << 20, '['), "")));
  message(parse(file_of("{\"__metadata__\":{\"a\":{\"b\":1}}}", "")));
  std::string nested;
  for (int i = 0; i < 100000; ++i)
    nested += "{\"a\":";
  message(parse(file_of(nested, "")));
}

TEST_CASE("refuses to write a dtype or a key that the format does not have") {
  const HostTensor quantised = *HostTensor::allocate(DType::kQInt8, Shape{1});
  const HostTensor plain = *HostTensor::allocate(DType::kInt8, Shape{1});
  const TemporaryFile file("a.safetensors");
  const io::NamedTensorView first[] = {{"a", &quantised.view()}};
  CHECK(io::write_safetensors(file.path(), first).error().code == ErrorCode::kOutput);
  const io::NamedTensorView second[] = {{"\xff", &plain.view()}};
  CHECK(io::write_safetensors(file.path(), second).error().code == ErrorCode::kOutput);
}
