// Which calls are computed when a method is loaded.
#include "runtime/constant_folding.h"

#include <array>

#include <catch2/catch_test_macros.hpp>

namespace pterun::runtime {
namespace {

program::TensorSpec planned_at(std::uint64_t offset_bytes) {
  program::TensorSpec spec;
  spec.sizes = {2, 2};
  spec.dim_order = DimOrder::contiguous(2);
  spec.nbytes = 16;
  spec.planned = program::PlannedMemory{0, offset_bytes};
  return spec;
}

// t_copy of a constant into value 1, then a layer norm, whose results are 2 and 3, in the list 4. The memory of value 2
// is value 1's, used again.
struct Example {
  program::MethodPlan plan;
  std::array<float, 4> weight{1, 2, 3, 4};
  std::array<float, 4> memory{};
  Tensor constant{DType::kFloat32, {2, 2}, weight.data()};
  Tensor result{DType::kFloat32, {2, 2}, memory.data()};
  Value from{&constant};
  Value to{&result};

  Example() {
    program::TensorSpec stored;
    stored.sizes = {2, 2};
    stored.nbytes = 16;
    stored.has_data = true;
    constant.mark_constant();
    plan.values = {stored, planned_at(0), planned_at(0), planned_at(64), program::TensorListSpec{{2, 3}}, stored};
    plan.operators = {"aten::t_copy.out", "aten::native_layer_norm.out"};
    plan.chains = {{program::KernelCall{0, {0, 1, 1}}, program::KernelCall{1, {5, 2, 3, 4}}}};
    plan.outputs = {3};
  }
  bool folds() const {
    const ConstantFolding folding(plan);
    const std::array<Value*, 3> args = {const_cast<Value*>(&from), const_cast<Value*>(&to), const_cast<Value*>(&to)};
    return folding.can_fold(plan.operators[0], std::get<program::KernelCall>(plan.chains[0][0]), args);
  }
};

TEST_CASE("a transpose of a constant is computed at load, though its memory is used again by one of several results") {
  CHECK(Example().folds());
}

TEST_CASE("a result whose memory is read under another value stays a call") {
  Example example;
  example.plan.values[4] = program::TensorListSpec{{3}};  // value 2 is read and never written: a view of value 1
  CHECK_FALSE(example.folds());
}

TEST_CASE("calls with other inputs than constants, outputs and methods with jumps are not folded") {
  Example changing;
  changing.constant = Tensor(DType::kFloat32, {2, 2}, changing.weight.data());
  CHECK_FALSE(changing.folds());
  Example output;
  output.plan.outputs = {1};
  CHECK_FALSE(output.folds());
  Example jumps;
  jumps.plan.chains[0].push_back(program::JumpFalseCall{});
  CHECK_FALSE(jumps.folds());
}

}  // namespace
}  // namespace pterun::runtime
