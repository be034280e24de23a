// Executing methods: inputs are checked and restored, outputs are right, errors leave the method usable.
#include "runtime/method.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "operators/families/families.h"
#include "runtime/loader.h"

namespace pterun::runtime {
namespace {

const std::string kData = PTERUN_TEST_DATA "/";

struct Fixture {
  backend::BackendRegistry backends;
  operators::OperatorRegistry operators = operators::make_operator_registry();
  ThreadPool threads{1};
  CollectingLog log;
  Loader loader{backends, operators, threads, log};
  std::unique_ptr<LoadedProgram> program;

  Method& load(const std::string& file) {
    auto loaded = loader.load({kData + file, {}, program::Verification::kFull, {}});
    REQUIRE(loaded);
    program = *std::move(loaded);
    auto method = program->load_method("forward");
    REQUIRE(method);
    return **method;
  }
};

Tensor row(std::vector<float>& values) {
  return Tensor(DType::kFloat32, Shape{1, static_cast<std::int64_t>(values.size())}, values.data());
}

TEST_CASE("a method adds its two inputs, again and again") {
  Fixture fixture;
  Method& method = fixture.load("tiny_add_portable.pte");
  std::vector<float> a(16);
  std::vector<float> b(16);
  for (int i = 0; i < 16; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 100.0f - static_cast<float>(2 * i);
  }
  REQUIRE(method.set_input(0, row(a)));
  REQUIRE(method.set_input(1, row(b)));
  for (int run = 0; run < 3; ++run) {
    REQUIRE(method.execute());
    const Tensor* output = method.output(0).tensor();
    REQUIRE(output != nullptr);
    for (int i = 0; i < 16; ++i)
      CHECK(output->data<float>()[i] == 100.0f - static_cast<float>(i));
  }
}

TEST_CASE("an input that was not set is named before anything runs") {
  Fixture fixture;
  Method& method = fixture.load("tiny_add_portable.pte");
  std::vector<float> a(16, 1.0f);
  REQUIRE(method.set_input(0, row(a)));
  const auto result = method.execute();
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kInput);
  CHECK(result.error().where.at("input") == "1");
  REQUIRE(method.set_input(1, row(a)));
  CHECK(method.execute());
}

TEST_CASE("an input of another dtype, rank or size is refused with given and allowed") {
  Fixture fixture;
  Method& method = fixture.load("tiny_add_portable.pte");
  std::vector<double> doubles(16);
  std::vector<float> floats(17);
  const auto dtype = method.set_input(0, Tensor(DType::kFloat64, Shape{1, 16}, doubles.data()));
  REQUIRE_FALSE(dtype);
  CHECK(dtype.error().code == ErrorCode::kInput);
  CHECK(dtype.error().message == "input 0: given float64[1, 16], the method takes float32[1, 16]");
  CHECK_FALSE(method.set_input(0, Tensor(DType::kFloat32, Shape{16}, floats.data())));
  CHECK_FALSE(method.set_input(1, row(floats)));
  CHECK_FALSE(method.set_input(2, row(floats)));
  CHECK_FALSE(method.set_input(0, Value(std::int64_t{3})));
}

TEST_CASE("inputs may come in another dim order and are matched by index") {
  Fixture fixture;
  Method& method = fixture.load("tiny_add_portable.pte");
  std::vector<float> values(16);
  for (int i = 0; i < 16; ++i)
    values[i] = static_cast<float>(i);
  const auto order = DimOrder::from(std::vector<std::uint8_t>{1, 0});
  const Tensor transposed(DType::kFloat32, Shape{1, 16}, *order, values.data());
  REQUIRE(method.set_input(0, transposed));
  REQUIRE(method.set_input(1, row(values)));
  REQUIRE(method.execute());
  CHECK(method.output(0).tensor()->data<float>()[7] == 14.0f);
}

TEST_CASE("a profile names every instruction and counts its calls") {
  Fixture fixture;
  Method& method = fixture.load("tiny_add_portable.pte");
  std::vector<float> a(16, 1.0f);
  REQUIRE(method.set_input(0, row(a)));
  REQUIRE(method.set_input(1, row(a)));
  std::vector<InstructionProfile> profile;
  method.attach_profile(&profile);
  REQUIRE(method.execute());
  REQUIRE(method.execute());
  method.attach_profile(nullptr);
  REQUIRE(method.execute());
  REQUIRE(profile.size() == 1);
  CHECK(profile[0].name == "aten::add.out");
  CHECK(profile[0].calls == 2);
}

}  // namespace
}  // namespace pterun::runtime
