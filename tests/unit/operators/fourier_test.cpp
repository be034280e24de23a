#include <cmath>
#include <complex>
#include <numbers>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;
using Complex = std::complex<double>;

// Complex tensors and what they hold, as pairs.
HostTensor complex_tensor(DType dtype, const Shape& shape, const Values& pairs) {
  HostTensor tensor = HostTensor::allocate(dtype, shape).value();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (dtype == DType::kComplex64) {
      tensor.view().mutable_data<float>()[i] = static_cast<float>(pairs[i]);
    } else {
      tensor.view().mutable_data<double>()[i] = pairs[i];
    }
  }
  return tensor;
}

Values pairs_of(const HostTensor& tensor) {
  Values pairs(static_cast<std::size_t>(2 * tensor.view().numel()));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = tensor.view().dtype() == DType::kComplex64 ? static_cast<double>(tensor.view().data<float>()[i])
                                                          : tensor.view().data<double>()[i];
  }
  return pairs;
}

Complex root(double numerator, double n) {
  return std::polar(1.0, 2.0 * std::numbers::pi * numerator / n);
}

TEST_CASE("_fft_r2c transforms rows of any length, whole or halved, in every normalization") {
  for (const std::size_t n : {1, 2, 6, 7, 12, 30, 35}) {
    for (const bool onesided : {true, false}) {
      for (const std::int64_t mode : {0, 1, 2}) {
        const std::size_t bins = onesided ? n / 2 + 1 : n;
        HostTensor x = make_tensor(DType::kFloat64, {3, std::int64_t(n)}, random_values(3 * n, 1));
        HostTensor out = HostTensor::allocate(DType::kComplex128, {3, std::int64_t(bins)}).value();
        REQUIRE_RESULT(OperatorCall("aten::_fft_r2c.out")
                           .tensor(x)
                           .integers({-1})
                           .integer(mode)
                           .boolean(onesided)
                           .tensor(out)
                           .run());
        Values want;
        for (std::size_t row = 0; row < 3; ++row) {
          for (std::size_t k = 0; k < bins; ++k) {
            Complex sum;
            for (std::size_t j = 0; j < n; ++j)
              sum += values_of(x)[row * n + j] * root(-double(j * k), double(n));
            sum /= mode == 0 ? 1.0 : mode == 1 ? std::sqrt(double(n)) : double(n);
            want.push_back(sum.real());
            want.push_back(sum.imag());
          }
        }
        CHECK(largest_excess(pairs_of(out), want, 1e-12, 1e-12) <= 0);
      }
    }
  }
}

TEST_CASE("_fft_c2r undoes _fft_r2c over several dimensions") {
  for (const std::int64_t length : {8, 5}) {
    HostTensor x = make_tensor(DType::kFloat32, {3, 4, length}, random_values(std::size_t(12 * length), 1));
    HostTensor spectrum = HostTensor::allocate(DType::kComplex64, {3, 4, length / 2 + 1}).value();
    REQUIRE_RESULT(
        OperatorCall("aten::_fft_r2c.out").tensor(x).integers({1, 2}).integer(0).boolean(true).tensor(spectrum).run());
    HostTensor back = make_output(DType::kFloat32, {3, 4, length});
    REQUIRE_RESULT(OperatorCall("aten::_fft_c2r.out")
                       .tensor(spectrum)
                       .integers({1, 2})
                       .integer(2)
                       .integer(length)
                       .tensor(back)
                       .run());
    CHECK(largest_excess(values_of(back), values_of(x), 1e-6, 1e-6) <= 0);
  }
}

TEST_CASE("transforms that make no sense are refused") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 4}, Values(8, 1.0));
  HostTensor out = HostTensor::allocate(DType::kComplex64, {2, 3}).value();
  const auto run = [&](std::vector<std::int64_t> dims, std::int64_t mode, HostTensor& input) {
    const auto result =
        OperatorCall("aten::_fft_r2c.out").tensor(input).integers(dims).integer(mode).boolean(true).tensor(out).run();
    return result ? "" : result.error().message;
  };
  CHECK(run({1, 1}, 0, x).find("dimension 1 is named twice") != std::string::npos);
  CHECK(run({}, 0, x).find("no dimensions are given") != std::string::npos);
  CHECK(run({1}, 3, x).find("normalization 3 is not 0, 1 or 2") != std::string::npos);
  HostTensor whole = make_tensor(DType::kFloat64, {2, 4}, Values(8, 1.0));
  CHECK(run({1}, 0, whole).find("out is complex64[2, 3], the input float64[2, 4]") != std::string::npos);
  HostTensor real = make_output(DType::kFloat32, {2, 9});
  const auto length =
      OperatorCall("aten::_fft_c2r.out").tensor(out).integers({1}).integer(0).integer(9).tensor(real).run();
  REQUIRE_FALSE(length.has_value());
  CHECK(length.error().message.find("cannot transform complex64[2, 3] to [2, 9]") != std::string::npos);
}

TEST_CASE("complex matrices multiply") {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    HostTensor a = complex_tensor(dtype, {1, 2, 2}, {1, 2, 0, -1, 3, 0, 1, 1});
    HostTensor b = complex_tensor(dtype, {1, 2, 1}, {1, 0, 0, 1});
    HostTensor out = HostTensor::allocate(dtype, {1, 2, 1}).value();
    REQUIRE_RESULT(OperatorCall("aten::bmm.out").tensor(a).tensor(b).tensor(out).run());
    CHECK(pairs_of(out) == Values{2, 2, 2, 1});
  }
}

}  // namespace
}  // namespace pterun::test
