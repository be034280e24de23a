// Outputs that the exporter declares in another dtype than eager gives.
#include "runtime/output_dtype.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

#include "operators/families/families.h"
#include "runtime/loader.h"
#include "support/program_builder.h"
#include "support/temporary_file.h"

namespace pterun::runtime {
namespace {

using namespace pterun::test;

TensorText planned(std::int8_t scalar_type, std::vector<std::int32_t> sizes, std::uint32_t offset) {
  TensorText tensor;
  tensor.scalar_type = scalar_type;
  tensor.sizes = std::move(sizes);
  tensor.dim_order.clear();
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
    tensor.dim_order.push_back(static_cast<std::uint8_t>(i));
  tensor.allocation = Allocation{1, offset, 0};
  return tensor;
}

// embedding_4bit of a table with float16 scales into value 5, declared float32; `read` adds a clone that reads it.
std::string embedding_program(bool read) {
  MethodText method;
  method.values = {planned(0, {2, 1}, 0),   planned(5, {2}, 64),    NullText{},
                   std::int64_t{-8},        std::int64_t{7},        planned(4, {1}, 128),
                   planned(6, {1, 2}, 192), planned(6, {1, 2}, 256)};
  method.inputs = {0, 1, 5};
  method.outputs = read ? std::vector<std::int32_t>{6, 7} : std::vector<std::int32_t>{6};
  method.operators = {{"quantized_decomposed::embedding_4bit", "out"}, {"aten::clone", "out"}};
  method.chains = {{KernelText{0, {0, 1, 2, 3, 4, 5, 6}}}};
  if (read) method.chains[0].push_back(KernelText{1, {6, 2, 7}});
  method.buffer_sizes = {0, 320};
  ProgramText program;
  program.methods = {method};
  return build_program(program);
}

struct Loaded {
  explicit Loaded(bool read) : file("embedding.pte", embedding_program(read)) {
    auto loaded = loader.load({file.path(), {}, program::Verification::kFull, {}});
    if (!loaded) FAIL(loaded.error().to_string());
    program = *std::move(loaded);
    auto loaded_method = program->load_method("forward");
    if (!loaded_method) FAIL(loaded_method.error().to_string());
    method = *loaded_method;
  }

  TemporaryFile file;
  backend::BackendRegistry backends;
  operators::OperatorRegistry operators = operators::make_operator_registry();
  ThreadPool threads{1};
  CollectingLog log;
  Loader loader{backends, operators, threads, log};
  std::unique_ptr<LoadedProgram> program;
  Method* method = nullptr;
};

void execute(Method& method) {
  std::uint8_t weight[] = {0x9A, 0x7F};  // rows 1, 2 and -1, 7
  Half scales[] = {Half(0.5f), Half(2.0f)};
  std::int64_t index[] = {1};
  REQUIRE(method.set_input(0, Tensor(DType::kUInt8, {2, 1}, weight)));
  REQUIRE(method.set_input(1, Tensor(DType::kFloat16, {2}, scales)));
  REQUIRE(method.set_input(2, Tensor(DType::kInt64, {1}, index)));
  REQUIRE(method.execute());
}

TEST_CASE("an output of a quantised embedding has its scales' dtype, with a warning") {
  Loaded loaded(false);
  CHECK(loaded.method->outputs()[0].dtype == DType::kFloat16);
  REQUIRE(loaded.log.warnings.size() == 1);
  CHECK(loaded.log.warnings[0].code == "output_dtype");
  CHECK(loaded.log.warnings[0].message.find("declared float32") != std::string::npos);
  execute(*loaded.method);
  const Tensor* output = loaded.method->output(0).tensor();
  REQUIRE(output->dtype() == DType::kFloat16);
  CHECK(static_cast<float>(output->data<Half>()[0]) == -2.0f);
  CHECK(static_cast<float>(output->data<Half>()[1]) == 14.0f);
}

TEST_CASE("a quantised embedding that another instruction reads stays as it was declared") {
  Loaded loaded(true);
  CHECK(loaded.method->outputs()[0].dtype == DType::kFloat32);
  CHECK(loaded.log.warnings.empty());
  execute(*loaded.method);
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor* output = loaded.method->output(i).tensor();
    REQUIRE(output->dtype() == DType::kFloat32);
    CHECK(output->data<float>()[0] == -2.0f);
    CHECK(output->data<float>()[1] == 14.0f);
  }
}

}  // namespace
}  // namespace pterun::runtime
