#include "operators/dtype_dispatch.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "operators/operator.h"

namespace pterun::operators {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename To>
To stored(DType dtype, double value) {
  To element{};
  store_one<double>(dtype, value, &element);
  return element;
}

TEST_CASE("floats become integers by truncation") {
  CHECK(stored<std::int8_t>(DType::kInt8, -3.9) == -3);
  CHECK(stored<std::uint8_t>(DType::kUInt8, 255.9) == 255);
  CHECK(stored<std::int64_t>(DType::kInt64, 1e15 + 0.5) == 1000000000000000);
}

TEST_CASE("floats that do not fit an integer give what x86-64 gives") {
  CHECK(stored<std::int32_t>(DType::kInt32, kNaN) == std::numeric_limits<std::int32_t>::min());
  CHECK(stored<std::int32_t>(DType::kInt32, 3e9) == std::numeric_limits<std::int32_t>::min());
  CHECK(stored<std::int64_t>(DType::kInt64, -kInfinity) == std::numeric_limits<std::int64_t>::min());
  CHECK(stored<std::uint8_t>(DType::kUInt8, 300.0) == 44);
  CHECK(stored<std::uint8_t>(DType::kUInt8, -1.0) == 255);
  CHECK(stored<std::uint64_t>(DType::kUInt64, 0x1.8p63) == 0xC000000000000000u);
}

TEST_CASE("anything but zero is true, NaN too") {
  CHECK(stored<std::uint8_t>(DType::kBool, kNaN) == 1);
  CHECK(stored<std::uint8_t>(DType::kBool, 0.25) == 1);
  CHECK(stored<std::uint8_t>(DType::kBool, -0.0) == 0);
}

TEST_CASE("a bool byte other than 0 and 1 counts as one") {
  const std::uint8_t odd = 0x55;
  CHECK(load_one<std::int64_t>(DType::kBool, &odd) == 1);
  CHECK(load_one<Truth>(DType::kBool, &odd) == 1);
}

TEST_CASE("integers wrap when they are stored smaller") {
  std::int8_t element = 0;
  store_one<std::int64_t>(DType::kInt8, 200, &element);
  CHECK(element == -56);
}

TEST_CASE("float16 rounds to even on the way out and is exact on the way in") {
  std::uint16_t bits = 0;
  store_one<float>(DType::kFloat16, 1.0f + 0x1p-11f, &bits);
  CHECK(bits == 0x3C00);
  store_one<float>(DType::kFloat16, 1.0f + 0x1.8p-10f, &bits);
  CHECK(bits == 0x3C02);
  CHECK(load_one<float>(DType::kFloat16, &bits) == 1.0f + 0x1p-9f);
}

TEST_CASE("every dtype goes through every compute type that holds it and back unchanged") {
  for (int number = 0; number < 30; ++number) {
    const auto dtype = dtype_from_number(number);
    if (!dtype || !kAllDTypes.contains(*dtype)) continue;
    const double value = *dtype == DType::kBool ? 1.0 : 7.0;
    std::array<std::byte, 8 * 8> elements{};
    for (std::size_t i = 0; i < 8; ++i)
      store_one<double>(*dtype, value, elements.data() + i * dtype_size(*dtype));
    std::array<std::byte, 8> back{};
    INFO(dtype_name(*dtype));
    store_one<float>(*dtype, load_one<float>(*dtype, elements.data()), back.data());
    CHECK(load_one<double>(*dtype, back.data()) == value);
    store_one<std::int64_t>(*dtype, load_one<std::int64_t>(*dtype, elements.data()), back.data());
    CHECK(load_one<double>(*dtype, back.data()) == value);
  }
}

TEST_CASE("loads and stores follow strides of any sign") {
  const std::array<std::int32_t, 6> elements = {1, 2, 3, 4, 5, 6};
  std::array<float, 3> block{};
  load_as<float>(DType::kInt32, elements.data() + 5, -2, block.data(), 3);
  CHECK(block == std::array<float, 3>{6, 4, 2});
  load_as<float>(DType::kInt32, elements.data() + 1, 0, block.data(), 3);
  CHECK(block == std::array<float, 3>{2, 2, 2});
  std::array<std::int16_t, 5> target{};
  store_as<float>(DType::kInt16, block.data(), target.data(), 2, 3);
  CHECK(target == std::array<std::int16_t, 5>{2, 0, 2, 0, 2});
}

TEST_CASE("arrays longer than a block convert whole") {
  std::vector<std::int32_t> from(3 * kBlock + 5);
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<std::int32_t>(i) - 1000;
  std::vector<double> to(from.size());
  convert_elements(DType::kInt32, from.data(), DType::kFloat64, to.data(), from.size());
  bool equal = true;
  for (std::size_t i = 0; i < from.size(); ++i)
    equal &= to[i] == from[i];
  CHECK(equal);
}

TEST_CASE("a number is rounded to the dtype that it meets") {
  CHECK(scalar_rounded<float>(Scalar(0.1), DType::kBFloat16) == static_cast<float>(BFloat16(0.1f)));
  CHECK(scalar_rounded<std::int64_t>(Scalar(std::int64_t{300}), DType::kUInt8) == 44);
}

}  // namespace
}  // namespace pterun::operators
