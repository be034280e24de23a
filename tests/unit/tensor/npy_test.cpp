// .npy arrays: what is read, what is refused, and that what is written reads back.
#include "tensor/io/npy.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "support/temporary_file.h"

using namespace pterun;

namespace {

std::string npy(const std::string& dict, const std::string& elements, char major = 1) {
  std::string text = std::string("\x93NUMPY") + major + '\0';
  const std::uint32_t length = static_cast<std::uint32_t>(dict.size());
  text.append(reinterpret_cast<const char*>(&length), major == 1 ? 2 : 4);
  return text + dict + elements;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <typename T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

Result<HostTensor> parse(const std::string& file) {
  return io::parse_npy(std::as_bytes(std::span(file)), "x.npy", "arr_0");
}

template <typename T>
std::vector<T> elements(const HostTensor& tensor) {
  const T* data = tensor.view().data<T>();
  return {data, data + tensor.view().numel()};
}

std::string message(const Result<HostTensor>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kInput);
  CHECK(exit_code(result.error()) == 4);
  CHECK(result.error().where.at("file") == "x.npy");
  return result.error().message;
}

}  // namespace

TEST_CASE("reads a C-order npy of each version") {
  const char major = GENERATE('\1', '\2', '\3');
  const auto tensor = parse(npy(dict("<i4", "(2, 3)"), bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}), major));
  REQUIRE(tensor);
  CHECK(tensor->view().shape() == Shape{2, 3});
  CHECK(elements<std::int32_t>(*tensor) == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("turns Fortran order into row-major order") {
  const auto tensor = parse(npy(dict("<i2", "(2, 3)", "True"), bytes_of<std::int16_t>({1, 4, 2, 5, 3, 6})));
  REQUIRE(tensor);
  CHECK(tensor->view().is_row_major());
  CHECK(elements<std::int16_t>(*tensor) == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("swaps big-endian elements, in Fortran order too") {
  const auto tensor = parse(npy(dict(">i2", "(2,)"), std::string("\0\1\2\0", 4)));
  REQUIRE(tensor);
  CHECK(elements<std::int16_t>(*tensor) == std::vector<std::int16_t>{1, 512});
  const auto fortran = parse(npy(dict(">u2", "(1, 2)", "True"), std::string("\0\1\2\0", 4)));
  REQUIRE(fortran);
  CHECK(elements<std::uint16_t>(*fortran) == std::vector<std::uint16_t>{1, 512});
}

TEST_CASE("reads every dtype that NumPy and a program share, and writes it back") {
  const auto [descr, dtype] = GENERATE(table<std::string, DType>({{"|b1", DType::kBool},
                                                                  {"|u1", DType::kUInt8},
                                                                  {"|i1", DType::kInt8},
                                                                  {"<u2", DType::kUInt16},
                                                                  {"<i2", DType::kInt16},
                                                                  {"<u4", DType::kUInt32},
                                                                  {"<i4", DType::kInt32},
                                                                  {"<u8", DType::kUInt64},
                                                                  {"<i8", DType::kInt64},
                                                                  {"<f2", DType::kFloat16},
                                                                  {"<f4", DType::kFloat32},
                                                                  {"<f8", DType::kFloat64}}));
  const std::string content(3 * dtype_size(dtype), '\1');
  const auto tensor = parse(npy(dict(descr, "(3,)"), content));
  REQUIRE(tensor);
  CHECK(tensor->view().dtype() == dtype);
  const TemporaryFile file("a.npy");
  REQUIRE(io::write_npy(file.path(), tensor->view()));
  CHECK(file.read().find("'" + descr + "'") != std::string::npos);
  const auto again = io::read_npy(file.path());
  REQUIRE(again);
  CHECK(again->view().shape() == Shape{3});
  CHECK(std::memcmp(again->view().raw_data(), content.data(), content.size()) == 0);
}

TEST_CASE("reads and writes 0-d and empty arrays") {
  const auto scalar = parse(npy(dict("<f8", "()"), bytes_of<double>({2.5})));
  REQUIRE(scalar);
  CHECK(scalar->view().rank() == 0);
  CHECK(elements<double>(*scalar) == std::vector<double>{2.5});
  const auto empty = parse(npy(dict("<f4", "(0, 4)"), ""));
  REQUIRE(empty);
  CHECK(empty->view().shape() == Shape{0, 4});
  for (const auto* tensor : {&*scalar, &*empty}) {
    const TemporaryFile file("a.npy");
    REQUIRE(io::write_npy(file.path(), tensor->view()));
    CHECK(io::read_npy(file.path())->view().shape() == tensor->view().shape());
  }
}

TEST_CASE("writes a header that is padded to 64 bytes and ends in a newline") {
  const auto header = io::npy_header_text(DType::kFloat32, Shape{1, 3, 224, 224}, "x");
  REQUIRE(header);
  CHECK(header->size() % 64 == 0);
  CHECK(header->back() == '\n');
  CHECK(header->find("(1, 3, 224, 224)") != std::string::npos);
  CHECK(io::npy_header_text(DType::kFloat32, Shape{5}, "x")->find("(5,)") != std::string::npos);
}

TEST_CASE("writes a channels-last tensor in row-major order") {
  auto tensor = HostTensor::allocate(DType::kInt8, Shape{1, 2, 1, 2}, DimOrder::channels_last());
  REQUIRE(tensor);
  for (int i = 0; i < 4; ++i)
    tensor->view().mutable_data<std::int8_t>()[i] = static_cast<std::int8_t>(i);
  const TemporaryFile file("a.npy");
  REQUIRE(io::write_npy(file.path(), tensor->view()));
  CHECK(elements<std::int8_t>(*io::read_npy(file.path())) == std::vector<std::int8_t>{0, 2, 1, 3});
}

TEST_CASE("refuses a dtype that NumPy does not have when writing") {
  const auto tensor = HostTensor::allocate(DType::kBFloat16, Shape{2});
  const TemporaryFile file("a.npy");
  const auto written = io::write_npy(file.path(), tensor->view());
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kOutput);
  CHECK(written.error().message.find("bfloat16") != std::string::npos);
}

TEST_CASE("refuses to write into a folder that is not there") {
  const auto tensor = HostTensor::allocate(DType::kInt8, Shape{0});
  const TemporaryFile file("a.npy");
  const auto written = io::write_npy(file.folder() + "/none/a.npy", tensor->view());
  REQUIRE_FALSE(written);
  CHECK(exit_code(written.error()) == 2);
}

TEST_CASE("refuses a npy whose size is not what its shape needs, naming both") {
  const auto cut = message(parse(npy(dict("<f4", "(2,)"), "1234567")));
  CHECK(cut.find("needs 8 bytes; there are 7") != std::string::npos);
  CHECK(message(parse(npy(dict("<f4", "(2,)"), "123456789"))).find("there are 9") != std::string::npos);
}

TEST_CASE("refuses shapes that overflow without allocating") {
  CHECK(message(parse(npy(dict("<f4", "(4294967296, 4294967296)"), "x"))).find("overflows") != std::string::npos);
  CHECK(message(parse(npy(dict("<f4", "(1000000000000,)"), "x"))).find("4000000000000 bytes") != std::string::npos);
  CHECK(message(parse(npy(dict("|u1", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), "x"))).find("rank") != std::string::npos);
}

TEST_CASE("refuses what is no npy header") {
  const std::string broken =
      GENERATE(std::string(), std::string("NUMPY"), std::string("\x93NUMPY\1\0", 8), npy("", ""), npy("{}", ""),
               npy("{'descr': '<f4'}", ""), npy(dict("<f4", "(-1,)"), ""), npy(dict("<f4", "(1"), ""),
               npy(dict("<f4", "(1,)", "Maybe"), "1234"), npy("{'descr': '<f4', 'descr': '<f4', }", ""),
               npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234"),
               npy(dict("<f4", "(1,)") + "x", "1234"), npy(dict("<f4", "(99999999999999999999,)"), "1234"));
  message(parse(broken));
}

TEST_CASE("refuses unknown versions and headers longer than the file") {
  CHECK(message(parse(npy(dict("<f4", "()"), "1234", 4))).find("version 4") != std::string::npos);
  std::string longer = npy(dict("<f4", "()"), "1234", 2);
  longer[11] = '\x7f';
  CHECK(message(parse(longer)).find("bytes long") != std::string::npos);
}

TEST_CASE("refuses types that no tensor has, naming them") {
  const std::string descr = GENERATE("<c32", "|O", "<U3", "|S1", "<f16", "<V2", "?f4", "f4", "");
  CHECK(message(parse(npy(dict(descr, "(1,)"), "1234"))).find("'" + descr + "'") != std::string::npos);
}

TEST_CASE("refuses a bool that is neither 0 nor 1") {
  const auto text = message(parse(npy(dict("|b1", "(3,)"), std::string("\0\1\2", 3))));
  CHECK(text.find("element 2 of a bool array is 2") != std::string::npos);
}

TEST_CASE("says that a npy file is missing, as an input error") {
  const auto tensor = io::read_npy("/nonexistent/x.npy");
  REQUIRE_FALSE(tensor);
  CHECK(tensor.error().code == ErrorCode::kInput);
  CHECK(exit_code(tensor.error()) == 4);
}
