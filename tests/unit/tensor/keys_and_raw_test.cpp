// Positions from keys, and raw files.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "support/temporary_file.h"
#include "tensor/io/keys.h"
#include "tensor/io/raw.h"

using namespace pterun;

TEST_CASE("takes the number at the end of a key as the position") {
  const std::vector<std::string> keys = {"arr_1", "0", "input_2", "x7", "layer3.out10"};
  CHECK(*io::positions_of_keys(keys, "f") == std::vector<std::size_t>{1, 0, 2, 7, 10});
  CHECK(io::positions_of_keys({}, "f")->empty());
}

TEST_CASE("refuses keys without a usable number and two keys for one position") {
  const std::vector<std::string> keys =
      GENERATE(std::vector<std::string>{"input"}, std::vector<std::string>{"1a"}, std::vector<std::string>{""},
               std::vector<std::string>{"x1234567"}, std::vector<std::string>{"arr_1", "1"},
               std::vector<std::string>{"a01", "a1"});
  const auto positions = io::positions_of_keys(keys, "f.npz");
  REQUIRE_FALSE(positions);
  CHECK(positions.error().code == ErrorCode::kInput);
  CHECK(positions.error().where.at("file") == "f.npz");
}

TEST_CASE("reads a raw file of exactly the right size") {
  const TemporaryFile file("x.bin", std::string("\1\0\0\0\2\0\0\0", 8));
  const auto tensor = io::read_raw(file.path(), DType::kInt32, Shape{2});
  REQUIRE(tensor);
  CHECK(tensor->view().data<std::int32_t>()[1] == 2);
}

TEST_CASE("refuses a raw file of another size, naming both") {
  const TemporaryFile file("x.bin", "abc");
  const auto tensor = io::read_raw(file.path(), DType::kFloat32, Shape{1});
  REQUIRE_FALSE(tensor);
  CHECK(exit_code(tensor.error()) == 4);
  CHECK(tensor.error().message.find("needs 4 bytes; the file has 3") != std::string::npos);
  CHECK_FALSE(io::read_raw(file.path(), DType::kFloat32, Shape{1LL << 40, 1LL << 40}));
  CHECK_FALSE(io::read_raw(file.path(), DType::kFloat32, Shape{-1}));
  CHECK_FALSE(io::read_raw(file.folder(), DType::kUInt8, Shape{3}));
}
