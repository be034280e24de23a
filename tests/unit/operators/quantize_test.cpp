#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "support/numeric.h"
#include "support/operator_call.h"

namespace pterun::test {
namespace {

using Values = std::vector<double>;

// Expected values are those of PyTorch 2.13's decomposed reference.
const Values kReals = {-1.5, -0.26, 0.25, 0.75, 1.0, 3.3, 100.0, -100.0, 0.0, 2.25};

TEST_CASE("quantize_per_tensor rounds to even, shifts and clamps") {
  HostTensor x = make_tensor(DType::kFloat32, {10}, kReals);
  HostTensor out = make_output(DType::kInt8, {10});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::quantize_per_tensor.out")
                     .tensor(x)
                     .number(0.5)
                     .integer(3)
                     .integer(-128)
                     .integer(127)
                     .dtype(DType::kInt8)
                     .tensor(out)
                     .run());
  CHECK(values_of(out) == Values{0, 2, 3, 5, 5, 10, 127, -128, 3, 7});
  HostTensor scale = make_tensor(DType::kFloat64, {1}, {0.1});
  HostTensor zero = make_tensor(DType::kInt64, {1}, {10});
  HostTensor bytes = make_output(DType::kUInt8, {10});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::quantize_per_tensor.Tensor_out")
                     .tensor(x)
                     .tensor(scale)
                     .tensor(zero)
                     .integer(0)
                     .integer(255)
                     .dtype(DType::kUInt8)
                     .tensor(bytes)
                     .run());
  CHECK(values_of(bytes) == Values{0, 7, 12, 18, 20, 43, 255, 0, 10, 32});
}

TEST_CASE("channels and tokens have scales of their own") {
  HostTensor scales = make_tensor(DType::kFloat64, {2}, {0.5, 0.1});
  HostTensor zeros = make_tensor(DType::kInt64, {2}, {0, 5});
  HostTensor by_channel = make_tensor(DType::kFloat32, {5, 2}, kReals);
  HostTensor out = make_output(DType::kInt8, {5, 2});
  for (const std::int64_t axis : {1, -1}) {
    REQUIRE_RESULT(OperatorCall("quantized_decomposed::quantize_per_channel.out")
                       .tensor(by_channel)
                       .tensor(scales)
                       .tensor(zeros)
                       .integer(axis)
                       .integer(-128)
                       .integer(127)
                       .dtype(DType::kInt8)
                       .tensor(out)
                       .run());
    CHECK(values_of(out) == Values{-3, 2, 0, 13, 2, 38, 127, -128, 0, 27});
  }
  HostTensor by_token = make_tensor(DType::kFloat32, {2, 5}, kReals);
  HostTensor tokens = make_output(DType::kInt8, {2, 5});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::quantize_per_token.out")
                     .tensor(by_token)
                     .tensor(scales)
                     .tensor(zeros)
                     .integer(-128)
                     .integer(127)
                     .dtype(DType::kInt8)
                     .tensor(tokens)
                     .run());
  CHECK(values_of(tokens) == Values{-3, -1, 0, 2, 2, 38, 127, -128, 5, 28});
  HostTensor back = make_output(DType::kFloat32, {2, 5});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::dequantize_per_token.out")
                     .tensor(tokens)
                     .tensor(scales)
                     .tensor(zeros)
                     .integer(-128)
                     .integer(127)
                     .dtype(DType::kInt8)
                     .dtype(DType::kFloat32)
                     .tensor(back)
                     .run());
  CHECK(largest_excess(values_of(back), {-1.5, -0.5, 0, 1, 1, 3.3, 12.2, -13.3, 0, 2.3}, 1e-6, 1e-6) <= 0);
  HostTensor channels = make_output(DType::kFloat32, {5, 2});
  OperatorCall without_zeros("quantized_decomposed::dequantize_per_channel.out");
  without_zeros.tensor(out).tensor(scales).none().integer(1).integer(-128).integer(127).dtype(DType::kInt8).none();
  REQUIRE_RESULT(without_zeros.tensor(channels).run());
  CHECK(largest_excess(values_of(channels), {-1.5, 0.2, 0, 1.3, 1, 3.8, 63.5, -12.8, 0, 2.7}, 1e-6, 1e-6) <= 0);
}

TEST_CASE("dequantize_per_tensor rounds each step to the dtype asked for") {
  HostTensor x = make_tensor(DType::kInt8, {5}, {-128, -3, 0, 5, 127});
  HostTensor out = make_output(DType::kFloat32, {5});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::dequantize_per_tensor.out")
                     .tensor(x)
                     .number(0.1)
                     .integer(3)
                     .integer(-128)
                     .integer(127)
                     .dtype(DType::kInt8)
                     .none()
                     .tensor(out)
                     .run());
  CHECK(largest_excess(values_of(out), {-13.1, -0.6, -0.3, 0.2, 12.4}, 1e-6, 1e-6) <= 0);
  HostTensor half = make_output(DType::kFloat16, {5});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::dequantize_per_tensor.out")
                     .tensor(x)
                     .number(0.1)
                     .integer(3)
                     .integer(-128)
                     .integer(127)
                     .dtype(DType::kInt8)
                     .dtype(DType::kFloat16)
                     .tensor(half)
                     .run());
  CHECK(values_of(half) == Values{-13.1015625, -0.60009765625, -0.300048828125, 0.199951171875, 12.3984375});
}

TEST_CASE("quantizing checks dtypes, ranges and the number of scales") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  HostTensor out = make_output(DType::kInt8, {2, 2});
  const auto run = [&](DType dtype, std::int64_t least, HostTensor& scales) {
    const auto result = OperatorCall("quantized_decomposed::quantize_per_channel.out")
                            .tensor(x)
                            .tensor(scales)
                            .tensor(scales)
                            .integer(0)
                            .integer(least)
                            .integer(127)
                            .dtype(dtype)
                            .tensor(out)
                            .run();
    return result ? "" : result.error().message;
  };
  HostTensor two = make_tensor(DType::kFloat32, {2}, {1, 1});
  HostTensor three = make_tensor(DType::kFloat32, {3}, {1, 1, 1});
  CHECK(run(DType::kUInt8, 0, two).find("out is int8[2, 2], expected uint8") != std::string::npos);
  CHECK(run(DType::kInt8, 200, two).find("quant_min 200 is above quant_max 127") != std::string::npos);
  CHECK(run(DType::kInt8, 0, three).find("scales is float32[3], expected 2 numbers") != std::string::npos);
  const auto dtype = OperatorCall("quantized_decomposed::quantize_per_tensor.out")
                         .tensor(out)
                         .number(1)
                         .integer(0)
                         .integer(0)
                         .integer(1)
                         .dtype(DType::kInt8)
                         .tensor(out)
                         .run();
  REQUIRE_FALSE(dtype.has_value());
  CHECK(dtype.error().message.find("input is int8[2, 2]; supported are float16") != std::string::npos);
}

TEST_CASE("choose_qparams covers zero and the extremes") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 5}, kReals);
  HostTensor scale = make_output(DType::kFloat64, {1});
  HostTensor zero = make_output(DType::kInt64, {1});
  const auto choose = [&](HostTensor& input) {
    return OperatorCall("quantized_decomposed::choose_qparams.Tensor_out")
        .tensor(input)
        .integer(-128)
        .integer(127)
        .number(1e-5)
        .dtype(DType::kInt8)
        .tensor(scale)
        .tensor(zero)
        .run();
  };
  REQUIRE_RESULT(choose(x));
  CHECK(largest_excess(values_of(scale), {200.0 / 255.0}, 1e-7, 1e-7) <= 0);
  CHECK(values_of(zero) == Values{0});
  HostTensor constant = make_tensor(DType::kFloat32, {2}, {0, 0});
  REQUIRE_RESULT(choose(constant));
  CHECK(values_of(scale)[0] == static_cast<double>(1e-5f));
  CHECK(values_of(zero) == Values{-128});
  HostTensor empty = make_tensor(DType::kFloat32, {0}, {});
  CHECK_FALSE(choose(empty).has_value());
  HostTensor nan = make_tensor(DType::kFloat32, {2}, {0, std::nan("")});
  const auto result = choose(nan);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("input holds NaN") != std::string::npos);
}

TEST_CASE("choose_qparams rounds the step to the input's dtype and the scale to float32") {
  // Expected values are PyTorch eager's for these inputs: (2.5 + 3.75) / 255 in float16, in bfloat16, and the float32
  // eps, which takes the place of a smaller step.
  const auto choose = [](DType dtype, double eps) {
    HostTensor x = make_tensor(dtype, {3}, {-2.5, 0.5, 3.75});
    HostTensor scale = make_output(DType::kFloat64, {1});
    HostTensor zero = make_output(DType::kInt64, {1});
    REQUIRE_RESULT(OperatorCall("quantized_decomposed::choose_qparams.Tensor_out")
                       .tensor(x)
                       .integer(-128)
                       .integer(127)
                       .number(eps)
                       .dtype(DType::kInt8)
                       .tensor(scale)
                       .tensor(zero)
                       .run());
    return Values{values_of(scale)[0], values_of(zero)[0]};
  };
  CHECK(choose(DType::kFloat16, 0x1p-12) == Values{0.024505615234375, -26});
  CHECK(choose(DType::kBFloat16, 0x1p-12) == Values{0.0245361328125, -26});
  CHECK(choose(DType::kFloat16, 0.1) == Values{static_cast<double>(0.1f), -103});
}

TEST_CASE("choose_qparams_per_token_asymmetric gives a scale and a zero point a row") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 5}, kReals);
  HostTensor scales = make_output(DType::kFloat64, {2, 1});
  HostTensor zeros = make_output(DType::kInt64, {2, 1});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::choose_qparams_per_token_asymmetric.out")
                     .tensor(x)
                     .dtype(DType::kInt8)
                     .tensor(scales)
                     .tensor(zeros)
                     .run());
  CHECK(largest_excess(values_of(scales), {0.009803921915590763, 0.7843137383460999}, 1e-9, 1e-9) <= 0);
  CHECK(values_of(zeros) == Values{25, 0});
}

TEST_CASE("quantized add is dequantize, add, quantize") {
  HostTensor a = make_tensor(DType::kInt8, {3}, {10, -128, 127});
  HostTensor b = make_tensor(DType::kInt8, {3}, {4, -128, 127});
  HostTensor out = make_output(DType::kInt8, {3});
  OperatorCall call("quantized_decomposed::add.out");
  call.tensor(a).number(0.5).integer(2).integer(-128).integer(127);
  call.tensor(b).number(0.25).integer(0).integer(-128).integer(127);
  call.number(0.5).integer(-1).integer(-128).integer(127).tensor(out);
  REQUIRE_RESULT(call.run());
  CHECK(values_of(out) == Values{9, -128, 127});
}

TEST_CASE("quantized embeddings unpack, shift and scale rows in groups") {
  HostTensor indices = make_tensor(DType::kInt64, {2}, {1, 0});
  HostTensor scales = make_tensor(DType::kFloat32, {2, 2}, {0.5, 2, 1, 0.25});
  HostTensor zeros = make_tensor(DType::kFloat32, {2, 2}, {1, 0, -2, 0});
  HostTensor bytes = make_tensor(DType::kInt8, {2, 4}, {1, 2, 3, 4, -128, 127, 8, -8});
  HostTensor out = make_output(DType::kFloat32, {2, 4});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::embedding_byte.out")
                     .tensor(bytes)
                     .tensor(scales)
                     .tensor(zeros)
                     .integer(-128)
                     .integer(127)
                     .tensor(indices)
                     .tensor(out)
                     .run());
  CHECK(values_of(out) == Values{-126, 129, 2, -2, 0, 0.5, 6, 8});
  // 4 bits: the even element is in the high half.
  HostTensor packed = make_tensor(DType::kUInt8, {2, 2}, {0x8F, 0x01, 0x9A, 0xBC});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::embedding_4bit.out")
                     .tensor(packed)
                     .tensor(scales)
                     .none()
                     .integer(-8)
                     .integer(7)
                     .tensor(indices)
                     .tensor(out)
                     .run());
  CHECK(values_of(out) == Values{1, 2, 0.75, 1, 0, 3.5, -16, -14});
  // 2 bits: the first element is in the lowest bits.
  HostTensor small = make_tensor(DType::kUInt8, {2, 1}, {0xE4, 0x1B});
  HostTensor half = make_output(DType::kFloat16, {2, 4});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::embedding_2bit.dtype_out")
                     .tensor(small)
                     .tensor(scales)
                     .none()
                     .integer(-2)
                     .integer(1)
                     .tensor(indices)
                     .dtype(DType::kFloat16)
                     .tensor(half)
                     .run());
  CHECK(values_of(half) == Values{1, 0, -0.25, -0.5, -1, -0.5, 0, 2});
}

TEST_CASE("quantized embeddings refuse tables that do not fit") {
  HostTensor indices = make_tensor(DType::kInt64, {1}, {2});
  HostTensor scales = make_tensor(DType::kFloat32, {2, 3}, Values(6, 1));
  HostTensor packed = make_tensor(DType::kUInt8, {2, 2}, {0, 0, 0, 0});
  HostTensor out = make_output(DType::kFloat32, {1, 4});
  const auto run = [&](HostTensor& table, HostTensor& parameters) {
    const auto result = OperatorCall("quantized_decomposed::embedding_4bit.out")
                            .tensor(table)
                            .tensor(parameters)
                            .none()
                            .integer(-8)
                            .integer(7)
                            .tensor(indices)
                            .tensor(out)
                            .run();
    return result ? "" : result.error().message;
  };
  CHECK(run(packed, scales).find("4 columns cannot have 3 groups") != std::string::npos);
  HostTensor one = make_tensor(DType::kFloat32, {2}, {1, 1});
  CHECK(run(packed, one).find("index 2 is outside the table of 2 rows") != std::string::npos);
  HostTensor short_scales = make_tensor(DType::kFloat32, {1}, {1});
  CHECK(run(packed, short_scales).find("weight_scales is float32[1], expected 2 rows") != std::string::npos);
  HostTensor signed_table = make_tensor(DType::kInt8, {2, 2}, {0, 0, 0, 0});
  CHECK(run(signed_table, one).find("weight is int8[2, 2]; supported are uint8") != std::string::npos);
}

TEST_CASE("mixed products dequantize the weight") {
  HostTensor x = make_tensor(DType::kFloat32, {2, 3}, {1, 2, 3, -1, 0, 1});
  HostTensor weight = make_tensor(DType::kInt8, {3, 2}, {1, 2, 3, 4, 5, 6});
  HostTensor scales = make_tensor(DType::kFloat32, {3}, {1, 0.5, 2});
  HostTensor out = make_output(DType::kFloat32, {2, 2});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::mixed_mm.out")
                     .tensor(x)
                     .tensor(weight)
                     .tensor(scales)
                     .none()
                     .tensor(out)
                     .run());
  CHECK(values_of(out) == Values{34, 42, 9, 10});
  HostTensor rows = make_tensor(DType::kInt8, {2, 3}, {1, 3, 5, 2, 4, 6});
  HostTensor groups = make_tensor(DType::kFloat32, {2, 2}, {1, 2, 0.5, 3});
  HostTensor half = make_output(DType::kFloat16, {2, 2});
  REQUIRE_RESULT(OperatorCall("quantized_decomposed::mixed_linear.out")
                     .tensor(x)
                     .tensor(rows)
                     .tensor(groups)
                     .none()
                     .dtype(DType::kFloat16)
                     .tensor(half)
                     .run());
  CHECK(values_of(half) == Values{37, 59, 9, 17});
  const auto result =
      OperatorCall("quantized_decomposed::mixed_mm.out").tensor(x).tensor(rows).tensor(groups).none().tensor(out).run();
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().message.find("weight_scales float32[2, 2] does not fit weight int8[2, 3]") != std::string::npos);
}

}  // namespace
}  // namespace pterun::test
