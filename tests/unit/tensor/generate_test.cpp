// Generated inputs: parsing, ranges, and the very numbers, which must be the same everywhere.
#include "tensor/generate.h"

#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tensor/philox.h"

using namespace pterun;

namespace {

Generator parse(const std::string& text) {
  const auto generator = parse_generator(text);
  INFO(text << ": " << (generator ? "" : generator.error().to_string()));
  REQUIRE(generator);
  return *generator;
}

HostTensor make(const std::string& text, DType dtype, const Shape& shape, std::uint64_t seed = 0,
                std::uint32_t input = 0) {
  HostTensor tensor = *HostTensor::allocate(dtype, shape);
  const auto done = generate(parse(text), seed, input, tensor.view());
  INFO(text << ": " << (done ? "" : done.error().to_string()));
  REQUIRE(done);
  return tensor;
}

template <typename T>
std::vector<T> values(const HostTensor& tensor) {
  const T* data = tensor.view().data<T>();
  return {data, data + tensor.view().numel()};
}

}  // namespace

TEST_CASE("philox gives the published answers") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST_CASE("generators parse to what they print") {
  const std::string text = GENERATE("zeros", "ones", "arange", "const(3)", "const(-2.5)", "uniform(-1,1)",
                                    "normal(0,2.5)", "int(-3,7)", "const(inf)");
  CHECK(is_generator(text));
  CHECK(to_string(parse(text)) == text);
}

TEST_CASE("allows blanks, plus signs and exponents") {
  CHECK(to_string(parse("uniform( +0.5 , 1e1 )")) == "uniform(0.5,10)");
  CHECK(parse("const(1e3)").low == 1000);
  CHECK(parse("const(true)").low == 1);
}

TEST_CASE("refuses malformed generators, saying what is expected") {
  const std::string text =
      GENERATE("zero", "zeros(1)", "const", "const()", "const(x)", "const(1,2)", "uniform(1)", "uniform(2,1)",
               "uniform(0,inf)", "uniform(-1.7e308,1.7e308)", "uniform(0,1", "uniform(0,1)x", "normal(0,-1)",
               "normal(nan,1)", "int(0.5,1)", "int(3,2)", "int(0,99999999999999999999)", "int(1,2,3)", "");
  const auto generator = parse_generator(text);
  REQUIRE_FALSE(generator);
  CHECK(exit_code(generator.error()) == 2);
  CHECK(generator.error().hint.find("uniform(LO,HI)") != std::string::npos);
}

TEST_CASE("a file name is no generator") {
  CHECK_FALSE(is_generator("zeros.npy"));
  CHECK_FALSE(is_generator("a.npz:const(1)"));
}

TEST_CASE("fills every dtype with zeros, ones and arange") {
  const DType dtype = GENERATE(DType::kUInt8, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64,
                               DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBool, DType::kBFloat16,
                               DType::kUInt16, DType::kUInt32, DType::kUInt64);
  const Shape shape{2, 3};
  for (const char* text : {"zeros", "ones", "arange", "uniform(0,1)", "normal(0.5,0)", "int(0,1)", "const(1)"}) {
    make(text, dtype, shape);
  }
  make("zeros", dtype, Shape{});
  make("arange", dtype, Shape{0, 5});
}

TEST_CASE("arange counts in row-major order and starts again beyond the largest value") {
  CHECK(values<std::int64_t>(make("arange", DType::kInt64, {2, 2})) == std::vector<std::int64_t>{0, 1, 2, 3});
  const auto bytes = values<std::int8_t>(make("arange", DType::kInt8, {130}));
  CHECK(bytes[127] == 127);
  CHECK(bytes[128] == 0);
  CHECK(values<std::uint8_t>(make("arange", DType::kBool, {3})) == std::vector<std::uint8_t>{0, 1, 0});
  HostTensor columns = *HostTensor::allocate(DType::kInt32, {2, 3}, *DimOrder::from(std::array<std::uint8_t, 2>{1, 0}));
  REQUIRE(generate(parse("arange"), 0, 0, columns.view()));
  CHECK(values<std::int32_t>(columns) == std::vector<std::int32_t>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("random numbers are the same on every machine") {
  const auto uniform = values<double>(make("uniform(0,1)", DType::kFloat64, {3}));
  CHECK(uniform[0] == static_cast<double>(((std::uint64_t{0xe169c58d} << 32) | 0x6627e8d5) >> 11) * 0x1p-53);
  const auto normal = values<double>(make("normal(0,1)", DType::kFloat64, {4}, 42, 1));
  CHECK(normal ==
        std::vector<double>{-0.6785099106699771, -0.35102444075728645, -0.8203104749730624, 1.2491677673139152});
  const auto integers = values<std::int32_t>(make("int(-1000,1000)", DType::kInt32, {4}, 42, 1));
  CHECK(integers == std::vector<std::int32_t>{-748, 983, -755, 361});
}

TEST_CASE("seed and input index change the numbers, the shape does not") {
  const auto base = values<float>(make("uniform(0,1)", DType::kFloat32, {8}));
  CHECK(values<float>(make("uniform(0,1)", DType::kFloat32, {2, 4})) == base);
  CHECK(values<float>(make("uniform(0,1)", DType::kFloat32, {8}, 1)) != base);
  CHECK(values<float>(make("uniform(0,1)", DType::kFloat32, {8}, std::uint64_t{1} << 32)) != base);
  CHECK(values<float>(make("uniform(0,1)", DType::kFloat32, {8}, 0, 1)) != base);
}

TEST_CASE("uniform, normal and int have the moments and ranges that they say") {
  constexpr int kCount = 20000;
  double sum = 0;
  double squares = 0;
  for (const double x : values<double>(make("normal(3,2)", DType::kFloat64, {kCount}))) {
    sum += x;
    squares += (x - 3) * (x - 3);
  }
  CHECK(std::abs(sum / kCount - 3) < 0.06);  // four standard errors of 2 / sqrt(20000)
  CHECK(std::abs(squares / kCount - 4) < 0.2);
  double mean = 0;
  for (const float x : values<float>(make("uniform(-2,6)", DType::kFloat32, {kCount}))) {
    REQUIRE((x >= -2 && x <= 6));
    mean += x;
  }
  CHECK(std::abs(mean / kCount - 2) < 0.07);
  int seen[3] = {};
  for (const std::int8_t x : values<std::int8_t>(make("int(-1,1)", DType::kInt8, {3000}))) {
    REQUIRE((x >= -1 && x <= 1));
    ++seen[x + 1];
  }
  for (const int count : seen)
    CHECK(count > 800);
  const auto all = values<std::int64_t>(make("int(-9223372036854775808,9223372036854775807)", DType::kInt64, {4}));
  CHECK(all[0] != all[1]);
}

TEST_CASE("refuses values that the dtype cannot hold, naming them") {
  const auto [text, dtype] = GENERATE(table<std::string, DType>({{"const(256)", DType::kUInt8},
                                                                 {"const(-1)", DType::kUInt64},
                                                                 {"const(0.5)", DType::kInt32},
                                                                 {"const(nan)", DType::kInt64},
                                                                 {"const(2)", DType::kBool},
                                                                 {"int(0,2)", DType::kBool},
                                                                 {"int(1000,2000)", DType::kInt8},
                                                                 {"uniform(300,400)", DType::kUInt8},
                                                                 {"normal(-5,0)", DType::kUInt16},
                                                                 {"const(1e6)", DType::kFloat16},
                                                                 {"const(1e300)", DType::kFloat32},
                                                                 {"ones", DType::kQInt8},
                                                                 {"uniform(0,1)", DType::kFloat8E5M2}}));
  HostTensor tensor = *HostTensor::allocate(dtype, Shape{16});
  const auto done = generate(parse(text), 0, 3, tensor.view());
  INFO(text);
  REQUIRE_FALSE(done);
  CHECK(exit_code(done.error()) == 4);
  CHECK(done.error().message.find(dtype_name(dtype)) != std::string::npos);
  CHECK(done.error().where.at("input") == "3");
}

TEST_CASE("infinities and NaN are values of floats") {
  CHECK(std::isnan(values<float>(make("const(nan)", DType::kFloat32, {1}))[0]));
  CHECK(std::isinf(static_cast<float>(values<Half>(make("const(-inf)", DType::kFloat16, {1}))[0])));
}

TEST_CASE("defaults are uniform for floats and zero or one for the rest") {
  CHECK(to_string(default_generator(DType::kBFloat16)) == "uniform(0,1)");
  CHECK(to_string(default_generator(DType::kInt64)) == "int(0,1)");
  CHECK(to_string(default_generator(DType::kBool)) == "int(0,1)");
}
