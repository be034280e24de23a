// Reading committed programs: what the plain structs say about them.
#include "program/program.h"

#include <catch2/catch_test_macros.hpp>

#include "program/bundled_program.h"

using namespace pterun;
using namespace pterun::program;

namespace {

std::string data_path(const std::string& name) {
  return std::string(PTERUN_TEST_DATA) + "/" + name;
}

std::shared_ptr<const Program> open_program(const std::string& name) {
  auto program = Program::open(data_path(name), Verification::kFull);
  INFO((program ? "" : program.error().to_string()));
  REQUIRE(program);
  return *program;
}

const TensorSpec& tensor_of(const MethodPlan& method, std::uint32_t value) {
  return std::get<TensorSpec>(method.values.at(value));
}

}  // namespace

TEST_CASE("reads inputs, outputs and the call of a delegated program") {
  const auto program = open_program("tiny_add.pte");
  REQUIRE(program->methods().size() == 1);
  const MethodPlan& method = program->methods()[0];
  CHECK(method.name == "forward");
  CHECK(program->find_method("forward") == &method);
  CHECK(program->find_method("backward") == nullptr);
  REQUIRE(method.inputs.size() == 2);
  CHECK(tensor_of(method, method.inputs[0]).dtype == DType::kFloat32);
  REQUIRE(method.delegates.size() == 1);
  CHECK(method.delegates[0].id == "XnnpackBackend");
  CHECK_FALSE(method.delegates[0].payload.empty());
  REQUIRE(method.chains.size() == 1);
  REQUIRE(method.chains[0].size() == 1);
  CHECK(std::get<DelegateCall>(method.chains[0][0]).args.size() == 3);
}

TEST_CASE("reads several methods and the named data that they share") {
  const auto program = open_program("multi.pte");
  REQUIRE(program->methods().size() == 2);
  CHECK(program->find_method("encode") != nullptr);
  REQUIRE(program->named_data().size() == 6);
  const NamedBlob& blob = program->named_data()[3];
  CHECK(program->find_named_data(blob.key)->data() == blob.data.data());
  CHECK_FALSE(program->find_named_data("no such key"));
}

TEST_CASE("keeps constants in place, aligned to their elements") {
  const auto program = open_program("tiny_mlp_portable.pte");
  const MethodPlan& method = program->methods()[0];
  std::size_t constants = 0;
  for (const ValueSpec& value : method.values) {
    const auto* tensor = std::get_if<TensorSpec>(&value);
    if (tensor == nullptr || !tensor->is_constant()) continue;
    ++constants;
    CHECK(tensor->data.size() == tensor->nbytes);
    CHECK(reinterpret_cast<std::uintptr_t>(tensor->data.data()) % dtype_size(tensor->dtype) == 0);
  }
  CHECK(constants > 0);
}

TEST_CASE("reads a deprecated program with constants inside the flatbuffer") {
  const auto program = open_program("ModuleLinear-no-constant-segment.pte");
  const MethodPlan& method = program->methods()[0];
  std::size_t constants = 0;
  for (const ValueSpec& value : method.values) {
    const auto* tensor = std::get_if<TensorSpec>(&value);
    constants += tensor != nullptr && tensor->is_constant() && tensor->data.size() == tensor->nbytes;
  }
  CHECK(constants == 2);
}

TEST_CASE("reads the bound of a dynamic shape") {
  const auto program = open_program("dyn_mlp.pte");
  const MethodPlan& method = program->methods()[0];
  CHECK(tensor_of(method, method.inputs[0]).dynamic);
  CHECK(tensor_of(method, method.inputs[0]).sizes[0] > 1);
}

TEST_CASE("reads the program inside a bundled program in place, and its cases") {
  const auto program = open_program("bundled_program.bpte");
  CHECK(program->is_bundled());
  CHECK(program->find_method("forward") != nullptr);
  const auto bundle = BundledProgram::open(data_path("bundled_program.bpte"));
  REQUIRE(bundle);
  const BundledSuite* suite = (*bundle)->find_suite("forward");
  REQUIRE(suite != nullptr);
  REQUIRE_FALSE(suite->cases.empty());
  CHECK_FALSE(suite->cases[0].inputs.empty());
  CHECK_FALSE(suite->cases[0].expected_outputs.empty());
  CHECK((*bundle)->find_suite("other") == nullptr);
  CHECK(looks_like_bundled_program(data_path("bundled_program.bpte")));
  CHECK_FALSE(looks_like_bundled_program(data_path("add.pte")));
  CHECK_FALSE(looks_like_bundled_program(data_path("no such file")));
}

TEST_CASE("says that a file is missing or a directory, with exit code 3") {
  const auto missing = Program::open(data_path("none.pte"), Verification::kFull);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kAccessFailed);
  CHECK(exit_code(missing.error()) == 3);
  const auto directory = Program::open(PTERUN_TEST_DATA, Verification::kFull);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().message.find("directory") != std::string::npos);
}
