#include <array>
#include <cmath>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
using Three = std::array<std::int64_t, 3>;

struct Case {
  std::int64_t batch, in, out, groups;
  std::vector<std::int64_t> image, kernel, stride, padding, dilation, output_padding;
  bool transposed = false;
};

Three spatial(const std::vector<std::int64_t>& values, std::int64_t fill) {
  Three three{fill, fill, fill};
  for (std::size_t i = 0; i < values.size(); ++i)
    three[3 - values.size() + i] = values[i];
  return three;
}

Three out_sizes(const Case& c) {
  const Three image = spatial(c.image, 1), kernel = spatial(c.kernel, 1), stride = spatial(c.stride, 1),
              padding = spatial(c.padding, 0), dilation = spatial(c.dilation, 1), extra = spatial(c.output_padding, 0);
  Three out;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    out[i] = c.transposed ? (image[i] - 1) * stride[i] - 2 * padding[i] + reach + extra[i]
                          : (image[i] + 2 * padding[i] - reach) / stride[i] + 1;
  }
  return out;
}

// The obvious convolution: every product of an input element and a weight goes to one output element.
Values convolution(const Case& c, const Values& input, const Values& weight, const Values& bias) {
  const Three image = spatial(c.image, 1), kernel = spatial(c.kernel, 1), stride = spatial(c.stride, 1),
              padding = spatial(c.padding, 0), dilation = spatial(c.dilation, 1), out = out_sizes(c);
  const std::int64_t in_group = c.in / c.groups, out_group = c.out / c.groups;
  const std::int64_t positions = out[0] * out[1] * out[2];
  Values result(std::size_t(c.batch * c.out * positions));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = bias.empty() ? 0.0 : bias[i / std::size_t(positions) % std::size_t(c.out)];
  }
  const Three& small = c.transposed ? image : out;
  const Three& large = c.transposed ? out : image;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t o = 0; o < c.out; ++o)
      for (std::int64_t i = 0; i < in_group; ++i)
        for (std::int64_t s = 0; s < small[0] * small[1] * small[2]; ++s)
          for (std::int64_t k = 0; k < kernel[0] * kernel[1] * kernel[2]; ++k) {
            const Three at{s / (small[1] * small[2]), s / small[2] % small[1], s % small[2]};
            const Three tap{k / (kernel[1] * kernel[2]), k / kernel[2] % kernel[1], k % kernel[2]};
            std::int64_t other = 0;
            bool inside = true;
            for (std::size_t d = 0; d < 3; ++d) {
              const std::int64_t x = at[d] * stride[d] - padding[d] + tap[d] * dilation[d];
              inside = inside && x >= 0 && x < large[d];
              other = other * large[d] + x;
            }
            if (!inside) continue;
            const std::int64_t group = o / out_group;
            const std::int64_t from = (n * c.in + group * in_group + i) * image[0] * image[1] * image[2];
            const std::int64_t to = (n * c.out + o) * positions;
            const std::int64_t taps = kernel[0] * kernel[1] * kernel[2];
            const std::int64_t w = c.transposed ? ((group * in_group + i) * out_group + o % out_group) * taps + k
                                                : (o * in_group + i) * taps + k;
            const std::int64_t in_at = from + (c.transposed ? s : other);
            const std::int64_t out_at = to + (c.transposed ? other : s);
            result[std::size_t(out_at)] += input[std::size_t(in_at)] * weight[std::size_t(w)];
          }
  return result;
}

Shape shape_of(std::int64_t first, std::int64_t second, const std::vector<std::int64_t>& rest) {
  Shape shape{first, second};
  for (const std::int64_t size : rest)
    shape.push_back(size);
  return shape;
}

std::vector<std::int64_t> last(const Three& three, std::size_t count) {
  return {three.begin() + 3 - std::ptrdiff_t(count), three.end()};
}

Shape weight_shape(const Case& c) {
  return c.transposed ? shape_of(c.in, c.out / c.groups, c.kernel) : shape_of(c.out, c.in / c.groups, c.kernel);
}

OperatorCall& arguments(OperatorCall& call, const Case& c) {
  return call.integers(c.stride)
      .integers(c.padding)
      .integers(c.dilation)
      .boolean(c.transposed)
      .integers(c.output_padding)
      .integer(c.groups);
}

struct Options {
  DType dtype = DType::kFloat32;
  bool constant = true, bias = true, last_in = false, last_out = false;
  double tolerance = 1e-5;
};

void check_case(const Case& c, const Options& options) {
  const std::size_t rank = c.image.size();
  const auto order = [&](bool channels_last) {
    return channels_last && rank == 2 ? DimOrder::channels_last() : DimOrder::contiguous(rank + 2);
  };
  const Shape in_shape = shape_of(c.batch, c.in, c.image);
  const auto numbers = [&](std::int64_t count, std::uint32_t seed) {
    return is_floating(options.dtype) ? random_values(std::size_t(count), seed)
                                      : random_integers(std::size_t(count), seed, -3, 3);
  };
  HostTensor input = make_tensor(options.dtype, in_shape, order(options.last_in), numbers(in_shape.numel(), 1));
  HostTensor weight =
      make_tensor(options.dtype, weight_shape(c), order(options.last_in), numbers(weight_shape(c).numel(), 2));
  HostTensor bias = make_tensor(options.dtype, {c.out}, numbers(c.out, 3));
  HostTensor out =
      make_output(options.dtype, shape_of(c.batch, c.out, last(out_sizes(c), rank)), order(options.last_out));
  if (options.constant) {
    weight.view().mark_constant();
    bias.view().mark_constant();
  }
  OperatorCall call("aten::convolution.out", 2);
  call.tensor(input).tensor(weight);
  options.bias ? call.tensor(bias) : call.none();
  arguments(call, c).tensor(out);
  for (int run = 0; run < 2; ++run) {
    REQUIRE_RESULT(call.run());
    const Values want = convolution(c, values_of(input), values_of(weight), options.bias ? values_of(bias) : Values{});
    CHECK(largest_excess(values_of(out), want, options.tolerance, options.tolerance) <= 0);
  }
}

const std::vector<Case> kCases = {
    {2, 6, 8, 1, {7, 9}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}},    // pointwise
    {1, 3, 8, 1, {17, 15}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}},  // first layer of a network
    {2, 8, 8, 8, {11, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},  // depthwise
    {1, 8, 8, 8, {12, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}},
    {1, 5, 5, 5, {12, 13}, {5, 5}, {2, 2}, {2, 2}, {1, 1}, {0, 0}},
    {1, 4, 8, 4, {9, 9}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {0, 0}},                    // two outputs a channel
    {1, 6, 4, 2, {8, 9}, {2, 3}, {1, 2}, {1, 0}, {2, 1}, {0, 0}},                    // groups, dilation, uneven
    {2, 4, 6, 1, {12}, {5}, {2}, {2}, {1}, {0}},                                     // 1-d
    {1, 4, 4, 4, {12}, {3}, {1}, {1}, {2}, {0}},                                     // 1-d depthwise
    {1, 2, 4, 2, {5, 6, 4}, {3, 2, 3}, {1, 2, 1}, {1, 0, 2}, {1, 1, 2}, {0, 0, 0}},  // 3-d
    {1, 4, 6, 1, {5, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, true},              // transposed
    {2, 4, 6, 2, {5, 6}, {3, 2}, {3, 1}, {0, 1}, {1, 2}, {2, 0}, true},
    {1, 3, 5, 1, {7}, {4}, {2}, {1}, {1}, {0}, true},
    {1, 2, 2, 1, {4, 4}, {2, 2}, {1, 1}, {0, 0}, {3, 3}, {2, 2}, true},  // output padding beyond the stride
    {1, 2, 3, 1, {3, 4, 2}, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1}, true},
};

TEST_CASE("float32 convolutions agree with the obvious sum, whether weights are constants or not") {
  for (const Case& c : kCases) {
    for (const bool constant : {true, false}) {
      for (const bool bias : {true, false}) {
        CAPTURE(c.image, c.kernel, c.groups, c.transposed, constant, bias);
        check_case(c, {.constant = constant, .bias = bias});
      }
    }
  }
}

TEST_CASE("convolutions take and give channels-last activations") {
  for (const Case& c : kCases) {
    for (const bool in : {true, false}) {
      CAPTURE(c.image, c.kernel, c.groups, c.transposed, in);
      check_case(c, {.last_in = in, .last_out = !in});
      check_case(c, {.last_in = true, .last_out = true});
    }
  }
}

TEST_CASE("convolutions of the other dtypes agree with the obvious sum") {
  for (const Case& c : kCases) {
    CAPTURE(c.image, c.kernel, c.groups, c.transposed);
    check_case(c, {.dtype = DType::kFloat64, .tolerance = 1e-13});
    check_case(c, {.dtype = DType::kFloat16, .tolerance = 1e-2});
    check_case(c, {.dtype = DType::kBFloat16, .tolerance = 4e-2});
    check_case(c, {.dtype = DType::kInt64, .tolerance = 0});
  }
}

TEST_CASE("one convolution runs for changing image sizes") {
  for (const std::int64_t kernel : {1, 3}) {
    HostTensor input = make_tensor(DType::kFloat32, {2, 4, 10, 10}, random_values(800, 1));
    input.view().mark_dynamic();
    HostTensor weight = make_tensor(DType::kFloat32, {4, 4, kernel, kernel}, random_values(144, 2));
    weight.view().mark_constant();
    HostTensor out = make_dynamic_output(DType::kFloat32, {2, 4, 10, 10});
    OperatorCall call("aten::convolution.out");
    call.tensor(input).tensor(weight).none();
    Case c{2, 4, 4, 1, {10, 10}, {kernel, kernel}, {1, 1}, {0, 0}, {1, 1}, {0, 0}};
    arguments(call, c).tensor(out);
    for (const std::int64_t size : {10, 6, 8}) {
      c.image = {size, size - 1};
      REQUIRE(input.view().resize({2, 4, size, size - 1}).has_value());
      REQUIRE_RESULT(call.run());
      CHECK(largest_excess(values_of(out), convolution(c, values_of(input), values_of(weight), {}), 1e-5, 1e-5) <= 0);
    }
  }
}

TEST_CASE("a convolution of an empty batch is empty") {
  HostTensor input = make_tensor(DType::kFloat32, {0, 2, 4, 4}, {});
  HostTensor weight = make_tensor(DType::kFloat32, {3, 2, 3, 3}, random_values(54, 2));
  weight.view().mark_constant();
  HostTensor out = make_output(DType::kFloat32, {0, 3, 2, 2});
  OperatorCall call("aten::convolution.out");
  call.tensor(input).tensor(weight).none();
  const Case c{0, 2, 3, 1, {4, 4}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {0, 0}};
  REQUIRE_RESULT(arguments(call, c).tensor(out).run());
}

TEST_CASE("the gradients of a convolution are those of its sum") {
  for (const Case& c : kCases) {
    const Shape in_shape = shape_of(c.batch, c.in, c.image);
    const Shape out_shape = shape_of(c.batch, c.out, last(out_sizes(c), c.image.size()));
    HostTensor input = make_tensor(DType::kFloat64, in_shape, random_values(std::size_t(in_shape.numel()), 1));
    HostTensor weight =
        make_tensor(DType::kFloat64, weight_shape(c), random_values(std::size_t(weight_shape(c).numel()), 2));
    HostTensor grad = make_tensor(DType::kFloat64, out_shape, random_values(std::size_t(out_shape.numel()), 3));
    HostTensor grad_input = make_output(DType::kFloat64, in_shape);
    HostTensor grad_weight = make_output(DType::kFloat64, weight_shape(c));
    HostTensor grad_bias = make_output(DType::kFloat64, {c.out});
    OperatorCall call("aten::convolution_backward.out");
    call.tensor(grad).tensor(input).tensor(weight).integers({c.out});
    arguments(call, c).booleans({true, true, true}).tensor(grad_input).tensor(grad_weight).tensor(grad_bias);
    REQUIRE_RESULT(call.run());
    // The sum is linear in each operand: a gradient's element is <grad, convolution of a unit tensor>.
    const auto against_grad = [&](const Values& out) {
      double sum = 0.0;
      for (std::size_t i = 0; i < out.size(); ++i)
        sum += out[i] * values_of(grad)[i];
      return sum;
    };
    CAPTURE(c.image, c.kernel, c.groups, c.transposed);
    for (const std::size_t i : {std::size_t{0}, values_of(input).size() / 2, values_of(input).size() - 1}) {
      Values unit(values_of(input).size(), 0.0);
      unit[i] = 1.0;
      CHECK(std::abs(values_of(grad_input)[i] - against_grad(convolution(c, unit, values_of(weight), {}))) < 1e-10);
    }
    for (const std::size_t i : {std::size_t{0}, values_of(weight).size() / 2, values_of(weight).size() - 1}) {
      Values unit(values_of(weight).size(), 0.0);
      unit[i] = 1.0;
      CHECK(std::abs(values_of(grad_weight)[i] - against_grad(convolution(c, values_of(input), unit, {}))) < 1e-10);
    }
    Values ones(std::size_t(c.out), 0.0);
    ones.back() = 1.0;
    const Values zeros(values_of(input).size(), 0.0);
    CHECK(std::abs(values_of(grad_bias).back() - against_grad(convolution(c, zeros, values_of(weight), ones))) < 1e-10);
  }
}

std::string failure(const Case& c, const Shape& in_shape, const Shape& w_shape, DType dtype = DType::kFloat32) {
  HostTensor input = make_tensor(dtype, in_shape, Values(std::size_t(in_shape.numel()), 1.0));
  HostTensor weight = make_tensor(dtype, w_shape, Values(std::size_t(w_shape.numel()), 1.0));
  HostTensor out = make_output(dtype, {1, 1, 1, 1});
  OperatorCall call("aten::convolution.out");
  call.tensor(input).tensor(weight).none();
  const auto result = arguments(call, c).tensor(out).run();
  return result ? "" : result.error().message;
}

TEST_CASE("convolutions that make no sense are refused") {
  const Case plain{1, 2, 3, 1, {4, 4}, {3, 3}, {1, 1}, {0, 0}, {1, 1}, {0, 0}};
  Case c = plain;
  CHECK(failure(c, {1, 3, 4, 4}, {3, 2, 3, 3}).find("does not fit the input float32[1, 3, 4, 4]") != std::string::npos);
  CHECK(failure(c, {1, 2, 2, 2}, {3, 2, 3, 3}).find("the kernel reaches over 3") != std::string::npos);
  CHECK(failure(c, {1, 2, 4, 4}, {3, 2, 3}).find("weight is float32[3, 2, 3]") != std::string::npos);
  CHECK(failure(c, {2, 4}, {3, 2}).find("1 to 3 spatial dimensions") != std::string::npos);
  CHECK(failure(c, {1, 2, 4, 4}, {3, 2, 3, 3}, DType::kBool).find("input is bool[1, 2, 4, 4]; supported") !=
        std::string::npos);
  c.stride = {0, 1};
  CHECK(failure(c, {1, 2, 4, 4}, {3, 2, 3, 3}).find("stride [0, 1] has a number outside") != std::string::npos);
  c = plain;
  c.padding = {-1, 0};
  CHECK(failure(c, {1, 2, 4, 4}, {3, 2, 3, 3}).find("padding [-1, 0]") != std::string::npos);
  c = plain;
  c.dilation = {1, 1, 1};
  CHECK(failure(c, {1, 2, 4, 4}, {3, 2, 3, 3}).find("dilation [1, 1, 1] does not have 2 numbers") != std::string::npos);
  c = plain;
  c.groups = 0;
  CHECK(failure(c, {1, 2, 4, 4}, {3, 2, 3, 3}).find("groups is 0") != std::string::npos);
}

}  // namespace
}  // namespace pterun::test
