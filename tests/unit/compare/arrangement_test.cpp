// Layouts under which a result equals a reference.
#include "compare/arrangement.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;
using namespace pterun::compare;

namespace {

HostTensor counting(const Shape& shape) {
  HostTensor tensor = *HostTensor::allocate(DType::kFloat32, shape);
  std::iota(tensor.view().mutable_data<float>(), tensor.view().mutable_data<float>() + shape.numel(), 0.0f);
  return tensor;
}

}  // namespace

TEST_CASE("other numbers of elements have no arrangement") {
  CHECK(arrangements({2, 3}, {7}).empty());
  CHECK(arrangements({}, {1, 1}).size() == 1);
  CHECK(arrangements({0}, {3, 0}).size() == 1);
}

TEST_CASE("dimensions of one and plain reshapes are read as they lie") {
  for (const Shape& shape : {Shape{6}, Shape{1, 2, 3}, Shape{2, 1, 3, 1}}) {
    const auto choices = arrangements(shape, {2, 3});
    REQUIRE_FALSE(choices.empty());
    CHECK(choices.front().is_plain);
  }
}

TEST_CASE("a tensor in another order of dimensions agrees in the arrangement that says so") {
  const HostTensor nchw = counting({2, 3, 2, 2});
  std::vector<double> nhwc;
  for (int n = 0; n < 2; ++n)
    for (int h = 0; h < 2; ++h)
      for (int w = 0; w < 2; ++w)
        for (int c = 0; c < 3; ++c)
          nhwc.push_back(n * 12 + c * 4 + h * 2 + w);
  const Shape shape = {2, 2, 2, 3};
  const auto choices = arrangements(shape, nchw.view().shape());
  const auto found = agreement(nhwc, nchw.view(), choices, 0);
  REQUIRE(found.has_value());
  CHECK(found->max_abs == 0);
  const auto copy = rearranged(nchw.view(), found->arrangement, shape);
  REQUIRE(copy.has_value());
  for (std::size_t i = 0; i < nhwc.size(); ++i)
    CHECK(copy->view().data<float>()[i] == nhwc[i]);
  nhwc[17] += 0.5;
  CHECK_FALSE(agreement(nhwc, nchw.view(), choices, 0.25).has_value());
  CHECK(agreement(nhwc, nchw.view(), choices, 0.5)->max_abs == 0.5);
  const Closest nearest = closest(nhwc, nchw.view(), choices);
  CHECK(nearest.difference.max_abs == 0.5);
  CHECK(std::abs(nearest.difference.rmse - 0.5 / std::sqrt(24.0)) < 1e-12);
}

TEST_CASE("one element that is off among many is seen") {
  const HostTensor reference = counting({1000});
  std::vector<double> result(1000);
  std::iota(result.begin(), result.end(), 0.0);
  for (const std::size_t at : {std::size_t{0}, std::size_t{333}, std::size_t{999}}) {
    std::vector<double> other = result;
    other[at] += 1;
    CHECK_FALSE(agreement(other, reference.view(), arrangements({1000}, {1000}), 0.5).has_value());
  }
  CHECK(agreement(result, reference.view(), arrangements({1000}, {1000}), 0).has_value());
}

TEST_CASE("NaN equals NaN, and a NaN or infinity alone is infinitely far") {
  HostTensor reference = counting({2});
  reference.view().mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const auto choices = arrangements({2}, {2});
  CHECK(agreement(std::vector<double>{NAN, 1}, reference.view(), choices, 0).has_value());
  CHECK_FALSE(agreement(std::vector<double>{0, 1}, reference.view(), choices, 1e9).has_value());
  CHECK(std::isinf(difference(std::vector<double>{0, 1}, reference.view(), choices.front()).max_abs));
  CHECK(std::isinf(difference(std::vector<double>{NAN, HUGE_VAL}, reference.view(), choices.front()).max_abs));
}

TEST_CASE("a scalar and an empty tensor are compared") {
  const HostTensor scalar = counting({});
  CHECK(agreement(std::vector<double>{0}, scalar.view(), arrangements({1}, {}), 0).has_value());
  const HostTensor empty = counting({0, 3});
  CHECK(agreement({}, empty.view(), arrangements({3, 0}, {0, 3}), 0).has_value());
}
