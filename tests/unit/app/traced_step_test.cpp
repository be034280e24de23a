// What a result may be off by from one of a .pt2.
#include "pterun/diverge/traced_step.h"

#include <array>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;
using namespace pterun::app;

namespace {

// A chain of four results that hold -1 and 3, the last of them twice 3.
struct Chain {
  std::array<float, 2> elements = {-1, 3};
  std::array<float, 2> equal = {3, 3};
  config::StepPlan plan;
  TracedStep make(bool is_converted, bool carries_state) {
    reference::EagerTrace trace;
    for (std::size_t i = 0; i < 4; ++i) {
      reference::TracedResult result;
      result.node = "n" + std::to_string(i);
      result.target = "aten.add.Tensor";
      result.tensor = Tensor(DType::kFloat32, {2}, i == 3 ? equal.data() : elements.data());
      if (i > 0) result.reads = {i - 1};
      trace.results.push_back(result);
    }
    return TracedStep(std::move(trace), is_converted, carries_state);
  }
};

bool near(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::abs(b);
}

}  // namespace

TEST_CASE("the share of the tolerance grows with the depth, up to all of it") {
  Chain chain;
  const TracedStep step = chain.make(false, false);
  const double whole = 1e-4 + 1e-4 * 3;
  const double rounding = 8 * 0x1p-23 * 3;
  CHECK(near(step.allowed(chain.plan, 0, DType::kFloat32, {}), whole * 0.5 + rounding));
  CHECK(near(step.allowed(chain.plan, 3, DType::kFloat32, {}), whole + rounding));
  CHECK(step.largest(0) == 3);
  CHECK(step.allowed(chain.plan, 0, DType::kInt64, {}) == 0);
}

TEST_CASE("errors that come in with the state take the whole tolerance") {
  Chain chain;
  const TracedStep step = chain.make(false, true);
  CHECK(step.allowed(chain.plan, 0, DType::kFloat32, {}) == step.allowed(chain.plan, 3, DType::kFloat32, {}));
}

TEST_CASE("quantisation adds steps by the root of its depth") {
  Chain chain;
  const TracedStep step = chain.make(false, false);
  const TracedStep converted = chain.make(true, false);
  const double plain = step.allowed(chain.plan, 0, DType::kFloat32, {});
  CHECK(near(step.allowed(chain.plan, 0, DType::kFloat32, {8, 4, 0.25}) - plain, 8 * 2 * 0.25));
  CHECK(near(converted.allowed(chain.plan, 0, DType::kFloat32, {8, 4, 0.25}) - plain, 2 * 2 * 0.25));
  // Without a scale: the range, -1 to 3, over the numbers of so many bits.
  CHECK(near(step.allowed(chain.plan, 0, DType::kFloat32, {8, 1, 0}) - plain, 8 * 4.0 / 255));
  CHECK(near(step.allowed(chain.plan, 0, DType::kFloat32, {4, 1, 0}) - plain, 8 * 4.0 / 15));
}

TEST_CASE("of two kinds of noise the coarser bits and the longer chain count") {
  QuantisationNoise noise;
  noise.merge({8, 3, 0.5});
  CHECK((noise.bits == 8 && noise.depth == 3 && noise.scale == 0));
  noise.merge({4, 1, 0});
  CHECK((noise.bits == 4 && noise.depth == 3));
  noise.merge({});
  CHECK((noise.bits == 4 && noise.depth == 3));
}

TEST_CASE("references say what equals much") {
  Chain chain;
  const auto references = chain.make(false, false).references();
  REQUIRE(references.size() == 4);
  CHECK_FALSE(references[0].is_uniform);
  CHECK(references[3].is_uniform);
  CHECK(references[3].family == "add");
  CHECK(references[3].reads == std::vector<std::size_t>{2});
}
