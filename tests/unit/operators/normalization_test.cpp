#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

struct Moments {
  double mean = 0.0, variance = 0.0;
};

// Of the elements whose index `belongs` accepts.
template <typename Belongs>
Moments moments(const Values& x, const Belongs& belongs) {
  Moments m;
  double count = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (belongs(i)) m.mean += x[i], count += 1.0;
  }
  m.mean /= count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (belongs(i)) m.variance += (x[i] - m.mean) * (x[i] - m.mean);
  }
  m.variance /= count;
  return m;
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return 1e-12;
    case DType::kFloat32: return 1e-5;
    case DType::kFloat16: return 4e-3;
    default: return 3e-2;
  }
}

constexpr DType kFloatDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16};

TEST_CASE("native_layer_norm normalises rows and gives mean and rstd") {
  for (const DType dtype : kFloatDTypes) {
    for (const std::size_t n : {1, 5, 16, 67}) {
      const auto columns = static_cast<std::int64_t>(n);
      HostTensor x = make_tensor(dtype, {3, 2, columns}, random_values(6 * n, 1, 1.0, 2.0));
      HostTensor weight = make_tensor(dtype, {columns}, random_values(n, 2));
      HostTensor bias = make_tensor(dtype, {columns}, random_values(n, 3));
      HostTensor out = make_output(dtype, {3, 2, columns});
      HostTensor mean = make_output(dtype, {3, 2, 1});
      HostTensor rstd = make_output(dtype, {3, 2, 1});
      for (const bool affine : {true, false}) {
        OperatorCall call("aten::native_layer_norm.out", 2);
        call.tensor(x).integers({columns});
        affine ? call.tensor(weight).tensor(bias) : call.none().none();
        REQUIRE_RESULT(call.number(1e-2).tensor(out).tensor(mean).tensor(rstd).run());
        const Values input = values_of(x);
        Values want(input.size()), means(6), rstds(6);
        for (std::size_t i = 0; i < input.size(); ++i) {
          const Moments m = moments(input, [&](std::size_t j) { return j / n == i / n; });
          means[i / n] = m.mean;
          rstds[i / n] = 1.0 / std::sqrt(m.variance + 1e-2);
          want[i] = (input[i] - m.mean) * rstds[i / n];
          if (affine) want[i] = want[i] * values_of(weight)[i % n] + values_of(bias)[i % n];
        }
        CAPTURE(dtype_name(dtype), n, affine);
        CHECK(largest_excess(values_of(out), want, tolerance(dtype), tolerance(dtype)) <= 0);
        CHECK(largest_excess(values_of(mean), means, tolerance(dtype), tolerance(dtype)) <= 0);
        CHECK(largest_excess(values_of(rstd), rstds, tolerance(dtype), tolerance(dtype)) <= 0);
      }
    }
  }
}

TEST_CASE("native_layer_norm keeps the variance of rows with a large mean") {
  HostTensor x = make_tensor(DType::kFloat32, {1, 4}, {10000, 10001, 10002, 10003});
  HostTensor out = make_output(DType::kFloat32, {1, 4});
  HostTensor mean = make_output(DType::kFloat32, {1, 1});
  HostTensor rstd = make_output(DType::kFloat32, {1, 1});
  REQUIRE_RESULT(OperatorCall("aten::native_layer_norm.out")
                     .tensor(x)
                     .integers({4})
                     .none()
                     .none()
                     .number(0.0)
                     .tensor(out)
                     .tensor(mean)
                     .tensor(rstd)
                     .run());
  CHECK(largest_excess(values_of(out), {-1.34164079, -0.4472136, 0.4472136, 1.34164079}, 1e-6, 1e-6) <= 0);
}

TEST_CASE("native_layer_norm of empty rows has mean 0 and rstd NaN") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 0}, {});
  HostTensor out = make_output(DType::kFloat32, {2, 0});
  HostTensor mean = make_output(DType::kFloat32, {2, 1});
  HostTensor rstd = make_output(DType::kFloat32, {2, 1});
  REQUIRE_RESULT(OperatorCall("aten::native_layer_norm.out")
                     .tensor(x)
                     .integers({0})
                     .none()
                     .none()
                     .number(1e-5)
                     .tensor(out)
                     .tensor(mean)
                     .tensor(rstd)
                     .run());
  CHECK(values_of(mean) == Values{0, 0});
  CHECK(std::isnan(values_of(rstd)[1]));
}

TEST_CASE("native_layer_norm refuses a normalized_shape that is not the end of the input's") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 3}, Values(6, 1.0));
  HostTensor out = make_output(DType::kFloat32, {2, 3});
  const auto run = [&](HostTensor& input, std::vector<std::int64_t> shape) {
    const auto result = OperatorCall("aten::native_layer_norm.out")
                            .tensor(input)
                            .integers(shape)
                            .none()
                            .none()
                            .number(1e-5)
                            .tensor(out)
                            .tensor(out)
                            .tensor(out)
                            .run();
    return result ? "" : result.error().message;
  };
  CHECK(run(x, {2}) == "aten::native_layer_norm.out: normalized_shape [2] is not the end of input float32[2, 3]");
  CHECK(run(x, {}).find("normalized_shape []") != std::string::npos);
  CHECK(run(x, {1, 2, 3}).find("normalized_shape [1, 2, 3]") != std::string::npos);
  HostTensor whole = make_tensor(DType::kInt32, {2, 3}, Values(6, 1.0));
  CHECK(run(whole, {3}).find("input is int32[2, 3]; supported are float16") != std::string::npos);
}

TEST_CASE("native_group_norm normalises groups of channels, whatever the dim order") {
  for (const DType dtype : kFloatDTypes) {
    for (const bool last : {false, true}) {
      const DimOrder order = last ? DimOrder::channels_last() : DimOrder::contiguous(4);
      HostTensor x = make_tensor(dtype, {2, 6, 3, 5}, order, random_values(180, 1));
      HostTensor weight = make_tensor(dtype, {6}, random_values(6, 2));
      HostTensor bias = make_tensor(dtype, {6}, random_values(6, 3));
      HostTensor out = make_output(dtype, {2, 6, 3, 5}, order);
      HostTensor mean = make_output(dtype, {2, 3});
      HostTensor rstd = make_output(dtype, {2, 3});
      REQUIRE_RESULT(OperatorCall("aten::native_group_norm.out")
                         .tensor(x)
                         .tensor(weight)
                         .tensor(bias)
                         .integer(2)
                         .integer(6)
                         .integer(15)
                         .integer(3)
                         .number(1e-3)
                         .tensor(out)
                         .tensor(mean)
                         .tensor(rstd)
                         .run());
      const Values input = values_of(x);
      Values want(input.size()), means(6);
      for (std::size_t i = 0; i < input.size(); ++i) {
        const Moments m = moments(input, [&](std::size_t j) { return j / 30 == i / 30; });
        means[i / 30] = m.mean;
        const std::size_t channel = i / 15 % 6;
        want[i] =
            (input[i] - m.mean) / std::sqrt(m.variance + 1e-3) * values_of(weight)[channel] + values_of(bias)[channel];
      }
      CHECK(largest_excess(values_of(out), want, tolerance(dtype), tolerance(dtype)) <= 0);
      CHECK(largest_excess(values_of(mean), means, tolerance(dtype), tolerance(dtype)) <= 0);
    }
  }
}

TEST_CASE("native_group_norm refuses sizes that do not match") {
  HostTensor x = make_tensor(DType::kFloat32, {1, 6, 2}, Values(12, 1.0));
  HostTensor out = make_output(DType::kFloat32, {1, 6, 2});
  for (const std::int64_t groups : {0, 4}) {
    const auto result = OperatorCall("aten::native_group_norm.out")
                            .tensor(x)
                            .none()
                            .none()
                            .integer(1)
                            .integer(6)
                            .integer(2)
                            .integer(groups)
                            .number(1e-5)
                            .tensor(out)
                            .tensor(out)
                            .tensor(out)
                            .run();
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().message.find("input float32[1, 6, 2] is not [N, C, HxW] [1, 6, 2]") != std::string::npos);
  }
}

TEST_CASE("batch norm with running statistics scales and shifts channels in any layout") {
  for (const DType dtype : kFloatDTypes) {
    for (const int layouts : {0, 1, 2, 3}) {
      const auto order = [](bool last) { return last ? DimOrder::channels_last() : DimOrder::contiguous(4); };
      const Values x_values = random_values(2 * 19 * 12, 1);
      HostTensor x = make_tensor(dtype, {2, 19, 3, 4}, order(layouts & 1), x_values);
      HostTensor weight = make_tensor(dtype, {19}, random_values(19, 2));
      HostTensor bias = make_tensor(dtype, {19}, random_values(19, 3));
      HostTensor mean = make_tensor(dtype, {19}, random_values(19, 4));
      HostTensor var = make_tensor(dtype, {19}, random_values(19, 5, 0.5, 1.5));
      HostTensor out = make_output(dtype, {2, 19, 3, 4}, order(layouts & 2));
      HostTensor saved = make_output(dtype, {0});
      REQUIRE_RESULT(OperatorCall("aten::_native_batch_norm_legit_no_training.out", 2)
                         .tensor(x)
                         .tensor(weight)
                         .tensor(bias)
                         .tensor(mean)
                         .tensor(var)
                         .number(0.1)
                         .number(1e-3)
                         .tensor(out)
                         .tensor(saved)
                         .tensor(saved)
                         .run());
      Values want = values_of(x);
      for (std::size_t i = 0; i < want.size(); ++i) {
        const std::size_t c = i / 12 % 19;
        want[i] = (want[i] - values_of(mean)[c]) / std::sqrt(values_of(var)[c] + 1e-3) * values_of(weight)[c] +
                  values_of(bias)[c];
      }
      CHECK(largest_excess(values_of(out), want, tolerance(dtype), tolerance(dtype)) <= 0);
    }
  }
}

TEST_CASE("training batch norm computes statistics and updates the running ones") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 3, 5}, random_values(30, 1));
  HostTensor running_mean = make_tensor(DType::kFloat32, {3}, {1, 2, 3});
  HostTensor running_var = make_tensor(DType::kFloat32, {3}, {1, 1, 2});
  HostTensor out = make_output(DType::kFloat32, {2, 3, 5});
  HostTensor mean = make_output(DType::kFloat32, {3});
  HostTensor invstd = make_output(DType::kFloat32, {3});
  REQUIRE_RESULT(OperatorCall("aten::_native_batch_norm_legit.out")
                     .tensor(x)
                     .none()
                     .none()
                     .tensor(running_mean)
                     .tensor(running_var)
                     .boolean(true)
                     .number(0.25)
                     .number(1e-3)
                     .tensor(out)
                     .tensor(mean)
                     .tensor(invstd)
                     .run());
  const Values input = values_of(x);
  Values want(30), means(3), new_mean(3), new_var(3);
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t c = i / 5 % 3;
    const Moments m = moments(input, [&](std::size_t j) { return j / 5 % 3 == c; });
    want[i] = (input[i] - m.mean) / std::sqrt(m.variance + 1e-3);
    means[c] = m.mean;
    new_mean[c] = 0.25 * m.mean + 0.75 * Values{1, 2, 3}[c];
    new_var[c] = 0.25 * m.variance * 10.0 / 9.0 + 0.75 * Values{1, 1, 2}[c];
  }
  CHECK(largest_excess(values_of(out), want, 1e-5, 1e-5) <= 0);
  CHECK(largest_excess(values_of(mean), means, 1e-6, 1e-6) <= 0);
  CHECK(largest_excess(values_of(running_mean), new_mean, 1e-6, 1e-6) <= 0);
  CHECK(largest_excess(values_of(running_var), new_var, 1e-6, 1e-6) <= 0);
  HostTensor again = make_output(DType::kFloat32, {2, 3, 5});
  REQUIRE_RESULT(OperatorCall("aten::_native_batch_norm_legit.no_stats_out")
                     .tensor(x)
                     .none()
                     .none()
                     .boolean(true)
                     .number(0.25)
                     .number(1e-3)
                     .tensor(again)
                     .tensor(mean)
                     .tensor(invstd)
                     .run());
  CHECK(values_of(again) == values_of(out));
}

TEST_CASE("batch norm without statistics and without training is refused") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 3}, Values(6, 1.0));
  HostTensor out = make_output(DType::kFloat32, {2, 3});
  const auto result = OperatorCall("aten::_native_batch_norm_legit.no_stats_out")
                          .tensor(x)
                          .none()
                          .none()
                          .boolean(false)
                          .number(0.1)
                          .number(1e-5)
                          .tensor(out)
                          .tensor(out)
                          .tensor(out)
                          .run();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("running statistics are needed") != std::string::npos);
}

}  // namespace
}  // namespace pterun::test
