#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
using Ints = std::vector<std::int64_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  std::int64_t planes, height, width, out_height, out_width;
  Ints kernel, stride, padding, dilation;
  bool ceil = false;
};

const std::vector<Case> kCases = {
    {3, 6, 7, 3, 3, {2, 2}, {}, {0, 0}, {1, 1}},           {2, 9, 8, 5, 4, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {2, 9, 8, 5, 5, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true}, {1, 40, 37, 38, 12, {3, 4}, {1, 3}, {0, 1}, {1, 1}},
    {1, 10, 10, 4, 3, {3, 2}, {2, 3}, {1, 0}, {2, 3}},     {1, 5, 5, 3, 2, {2}, {2, 3}, {0}, {1}, true},
};

std::int64_t at(const Ints& list, std::size_t i, std::int64_t fallback) {
  return list.empty() ? fallback : list[std::min(i, list.size() - 1)];
}

// Calls body(output index, input index) for every input element that a window covers.
template <typename Body>
void for_each_covered(const Case& c, const Body& body) {
  for (std::int64_t o = 0; o < c.planes * c.out_height * c.out_width; ++o) {
    const std::int64_t plane = o / (c.out_height * c.out_width);
    const std::int64_t row = o / c.out_width % c.out_height, column = o % c.out_width;
    for (std::int64_t ky = 0; ky < at(c.kernel, 0, 1); ++ky) {
      for (std::int64_t kx = 0; kx < at(c.kernel, 1, 1); ++kx) {
        const std::int64_t y =
            row * at(c.stride, 0, at(c.kernel, 0, 1)) - at(c.padding, 0, 0) + ky * at(c.dilation, 0, 1);
        const std::int64_t x =
            column * at(c.stride, 1, at(c.kernel, 1, 1)) - at(c.padding, 1, 0) + kx * at(c.dilation, 1, 1);
        if (y < 0 || y >= c.height || x < 0 || x >= c.width) continue;
        body(std::size_t(o), std::size_t((plane * c.height + y) * c.width + x));
      }
    }
  }
}

struct Pooled {
  Values values, places;
};

Pooled max_pool(const Case& c, const Values& x) {
  const auto count = std::size_t(c.planes * c.out_height * c.out_width);
  Pooled pooled{Values(count, -kInfinity), Values(count, -1)};
  for_each_covered(c, [&](std::size_t out, std::size_t in) {
    if (pooled.places[out] < 0 || x[in] > pooled.values[out] || std::isnan(x[in])) {
      pooled.values[out] = x[in];
      pooled.places[out] = double(in % std::size_t(c.height * c.width));
    }
  });
  return pooled;
}

OperatorCall& window(OperatorCall& call, const Case& c, bool dilation = true) {
  call.integers(c.kernel).integers(c.stride).integers(c.padding);
  if (dilation) call.integers(c.dilation);
  return call.boolean(c.ceil);
}

TEST_CASE("max pooling gives the largest element of each window and its place") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt32, DType::kUInt8}) {
    for (const Case& c : kCases) {
      const auto count = std::size_t(c.planes * c.height * c.width);
      HostTensor x = make_tensor(dtype, {1, c.planes, c.height, c.width}, random_integers(count, 1, 0, 50));
      HostTensor out = make_output(dtype, {1, c.planes, c.out_height, c.out_width});
      HostTensor indices = make_output(DType::kInt64, {1, c.planes, c.out_height, c.out_width});
      OperatorCall call("aten::max_pool2d_with_indices.out", 2);
      call.tensor(x);
      REQUIRE_RESULT(window(call, c).tensor(out).tensor(indices).run());
      const Pooled want = max_pool(c, values_of(x));
      CAPTURE(dtype_name(dtype), c.kernel, c.stride);
      CHECK(values_of(out) == want.values);
      CHECK(values_of(indices) == want.places);
    }
  }
}

TEST_CASE("max pooling lets NaN win and gives a place where nothing is above -infinity") {
  const Case c{1, 2, 4, 1, 2, {2, 2}, {2, 2}, {0, 0}, {1, 1}};
  HostTensor x =
      make_tensor(DType::kFloat32, {1, 2, 4}, {1, kNan, -kInfinity, -kInfinity, 5, 2, -kInfinity, -kInfinity});
  HostTensor out = make_output(DType::kFloat32, {1, 1, 2});
  HostTensor indices = make_output(DType::kInt64, {1, 1, 2});
  OperatorCall call("aten::max_pool2d_with_indices.out");
  call.tensor(x);
  REQUIRE_RESULT(window(call, c).tensor(out).tensor(indices).run());
  CHECK(std::isnan(values_of(out)[0]));
  CHECK(values_of(out)[1] == -kInfinity);
  CHECK(values_of(indices) == Values{1, 2});
}

TEST_CASE("max pooling takes and gives channels-last tensors") {
  const Case c{3, 4, 6, 2, 3, {2, 2}, {2, 2}, {0, 0}, {1, 1}};
  const Values values = random_values(72, 2);
  HostTensor x = make_tensor(DType::kFloat32, {1, 3, 4, 6}, DimOrder::channels_last(), values);
  HostTensor out = make_output(DType::kFloat32, {1, 3, 2, 3}, DimOrder::channels_last());
  HostTensor indices = make_output(DType::kInt64, {1, 3, 2, 3}, DimOrder::channels_last());
  OperatorCall call("aten::max_pool2d_with_indices.out");
  call.tensor(x);
  REQUIRE_RESULT(window(call, c).tensor(out).tensor(indices).run());
  CHECK(values_of(out) == max_pool(c, values).values);
  CHECK(values_of(indices) == max_pool(c, values).places);
}

TEST_CASE("the gradient of max pooling goes to the winners, and only there") {
  const Case c{2, 9, 8, 5, 4, {3, 3}, {2, 2}, {1, 1}, {1, 1}};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    HostTensor x = make_tensor(dtype, {2, 9, 8}, random_values(144, 1));
    HostTensor grad = make_tensor(dtype, {2, 5, 4}, random_integers(40, 3, -2, 2));
    const Values places = max_pool(c, values_of(x)).places;
    HostTensor indices = make_tensor(DType::kInt64, {2, 5, 4}, places);
    HostTensor out = make_output(dtype, {2, 9, 8});
    OperatorCall call("aten::max_pool2d_with_indices_backward.grad_input");
    call.tensor(grad).tensor(x);
    REQUIRE_RESULT(window(call, c).tensor(indices).tensor(out).run());
    Values want(144, 0.0);
    for (std::size_t i = 0; i < 40; ++i)
      want[i / 20 * 72 + std::size_t(places[i])] += values_of(grad)[i];
    CHECK(values_of(out) == want);
  }
}

TEST_CASE("average pooling counts padding, input or a given divisor") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    for (Case c : kCases) {
      if (c.dilation[0] != 1) continue;
      for (const int mode : {0, 1, 2}) {
        const auto count = std::size_t(c.planes * c.height * c.width);
        HostTensor x = make_tensor(dtype, {c.planes, c.height, c.width}, random_values(count, 1));
        HostTensor out = make_output(dtype, {c.planes, c.out_height, c.out_width});
        OperatorCall call("aten::avg_pool2d.out");
        call.tensor(x);
        window(call, c, false).boolean(mode == 0);
        mode == 2 ? call.integer(3) : call.none();
        REQUIRE_RESULT(call.tensor(out).run());
        Values want(std::size_t(out.view().numel()), 0.0), inside(want.size(), 0.0);
        for_each_covered(c, [&](std::size_t o, std::size_t i) { want[o] += values_of(x)[i], inside[o] += 1; });
        for (std::size_t o = 0; o < want.size(); ++o) {
          // A window counts up to the padding behind the input, not beyond it.
          const auto padded = [&](std::size_t axis, std::int64_t position, std::int64_t size) {
            const std::int64_t kernel = at(c.kernel, axis, 1), padding = at(c.padding, axis, 0);
            const std::int64_t start = position * at(c.stride, axis, kernel) - padding;
            return double(std::min(start + kernel, size + padding) - start);
          };
          const auto row = std::int64_t(o) / c.out_width % c.out_height, column = std::int64_t(o) % c.out_width;
          const double all = padded(0, row, c.height) * padded(1, column, c.width);
          want[o] /= mode == 0 ? all : mode == 1 ? inside[o] : 3.0;
        }
        CAPTURE(dtype_name(dtype), c.kernel, mode);
        const double slack = dtype == DType::kFloat16 ? 2e-3 : 1e-6;
        CHECK(largest_excess(values_of(out), want, slack, slack) <= 0);
      }
    }
  }
}

TEST_CASE("adaptive average pooling splits the input into windows of nearly equal size") {
  for (const Shape& size : {Shape{1, 1}, Shape{3, 2}, Shape{7, 9}, Shape{10, 3}}) {
    HostTensor x = make_tensor(DType::kFloat32, {2, 3, 7, 9}, random_values(378, 1));
    HostTensor out = make_output(DType::kFloat32, {2, 3, size[0], size[1]});
    REQUIRE_RESULT(
        OperatorCall("aten::_adaptive_avg_pool2d.out").tensor(x).integers({size[0], size[1]}).tensor(out).run());
    Values want;
    for (std::int64_t o = 0; o < 6 * size[0] * size[1]; ++o) {
      const std::int64_t row = o / size[1] % size[0], column = o % size[1], plane = o / (size[0] * size[1]);
      double sum = 0, count = 0;
      for (std::int64_t y = row * 7 / size[0]; y < ((row + 1) * 7 + size[0] - 1) / size[0]; ++y) {
        for (std::int64_t i = column * 9 / size[1]; i < ((column + 1) * 9 + size[1] - 1) / size[1]; ++i) {
          sum += values_of(x)[std::size_t((plane * 7 + y) * 9 + i)];
          count += 1;
        }
      }
      want.push_back(sum / count);
    }
    CHECK(largest_excess(values_of(out), want, 1e-6, 1e-6) <= 0);
  }
}

std::string failure(const Case& c, const Shape& shape) {
  HostTensor x = make_tensor(DType::kFloat32, shape, Values(std::size_t(shape.numel()), 1.0));
  HostTensor out = make_output(DType::kFloat32, {1, 1, 1});
  HostTensor indices = make_output(DType::kInt64, {1, 1, 1});
  OperatorCall call("aten::max_pool2d_with_indices.out");
  call.tensor(x);
  const auto result = window(call, c).tensor(out).tensor(indices).run();
  return result ? "" : result.error().message;
}

TEST_CASE("windows that make no sense are refused") {
  Case c{1, 4, 4, 1, 1, {2, 2}, {2, 2}, {0, 0}, {1, 1}};
  CHECK(failure(c, {4, 4}).find("input is float32[4, 4], expected [C, H, W]") != std::string::npos);
  CHECK(failure(c, {1, 0, 4}).find("cannot pool input float32[1, 0, 4]") != std::string::npos);
  CHECK(failure(c, {1, 1, 1}).find("a window over 2 elements does not fit into 1") != std::string::npos);
  c.padding = {2, 0};
  CHECK(failure(c, {1, 4, 4}).find("padding 2 is more than half the kernel of 2") != std::string::npos);
  c.padding = {0, 0};
  c.stride = {0, 1};
  CHECK(failure(c, {1, 4, 4}).find("stride [0, 1] is not one or two numbers") != std::string::npos);
  HostTensor x = make_tensor(DType::kFloat32, {1, 4, 4}, Values(16, 1.0));
  HostTensor out = make_output(DType::kFloat32, {1, 2, 2});
  OperatorCall call("aten::avg_pool2d.out");
  call.tensor(x).integers({2}).integers({}).integers({0}).boolean(false).boolean(true).integer(0).tensor(out);
  const auto divisor = call.run();
  REQUIRE_FALSE(divisor.has_value());
  CHECK(divisor.error().message == "aten::avg_pool2d.out: divisor_override is 0");
  HostTensor bad = make_tensor(DType::kInt64, {1, 2, 2}, {0, 0, 0, 16});
  OperatorCall backward("aten::max_pool2d_with_indices_backward.grad_input");
  backward.tensor(out).tensor(x).integers({2}).integers({}).integers({0}).integers({1}).boolean(false);
  const auto place = backward.tensor(bad).tensor(x).run();
  REQUIRE_FALSE(place.has_value());
  CHECK(place.error().message.find("index 16 is outside a plane of 16 elements") != std::string::npos);
}

}  // namespace
}  // namespace pterun::test
