// Delegate calls: shapes that change, memory that moves, arguments that do not fit.
#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack/xnnpack_backend.h"
#include "support/numeric.h"
#include "support/operator_call.h"
#include "support/payload_builder.h"

using namespace pterun;
using namespace pterun::test;
using namespace pterun::xnnpack_payload;

namespace {

std::vector<double> counting(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i));
  return values;
}

HostTensor numbers(const Shape& shape) {
  return make_tensor(DType::kFloat32, shape, counting(shape.numel()));
}

Error error_of(const Result<void>& result) {
  REQUIRE(!result);
  INFO(result.error().to_string());
  return result.error();
}

// y = -(x + x), bound [8, 4].
struct TwicePayload : PayloadBuilder {
  explicit TwicePayload(const Shape& shape = {8, 4}) {
    const auto x = input(DataType::kFp32, shape);
    const auto middle = internal(DataType::kFp32, shape);
    const auto y = output(DataType::kFp32, shape);
    node(NodeKind::kAdd, {x, x}, {middle});
    node(NodeKind::kNegate, {middle}, {y});
  }
};

void check_twice(const HostTensor& x, const Tensor& y) {
  auto want = values_of(x);
  for (double& number : want)
    number *= -2.0;
  CHECK(values_of(y) == want);
}

}  // namespace

TEST_CASE("runs at every size up to the bound, in any order") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  TwicePayload payload;
  REQUIRE_RESULT(harness.init(payload));
  HostTensor y = make_dynamic_output(DType::kFloat32, {8, 4});
  for (const std::int64_t rows : {1, 8, 3, 0, 5, 8, 2, 2}) {
    const HostTensor x = numbers({rows, 4});
    Tensor in = x.view();
    REQUIRE_RESULT(harness.execute({&in, &y.view()}));
    CHECK(y.view().shape() == Shape{rows, 4});
    check_twice(x, y.view());
  }
}

TEST_CASE("two dims that grow and shrink against each other stay inside planned memory") {
  // xnn_reshape_runtime (2024-11) would keep the plan made for the last growth.
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {64, 1});
  const auto z = builder.input(DataType::kFp32, {1, 64});
  const auto a = builder.internal(DataType::kFp32, {64, 1});
  const auto b = builder.internal(DataType::kFp32, {1, 64});
  const auto y = builder.output(DataType::kFp32, {64, 64});
  builder.node(NodeKind::kNegate, {x}, {a});
  builder.node(NodeKind::kNegate, {z}, {b});
  builder.node(NodeKind::kMultiply, {a, b}, {y});
  REQUIRE_RESULT(harness.init(builder));
  HostTensor out = make_dynamic_output(DType::kFloat32, {64, 64});
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {64, 2}, {2, 64}, {64, 2}, {1, 1}, {64, 64}, {3, 60}, {60, 3}}) {
    HostTensor left = numbers({rows, 1}), right = numbers({1, columns});
    REQUIRE_RESULT(harness.execute({&left.view(), &right.view(), &out.view()}));
    std::vector<double> want;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c)
        want.push_back(static_cast<double>(r * c));
    }
    CHECK(values_of(out) == want);
  }
}

TEST_CASE("a slice is cut off where a shorter input ends") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {10, 3});
  const auto y = builder.output(DataType::kFp32, {6, 3});
  builder.node(NodeKind::kStaticSlice, {x}, {y}, SliceParams{{2, 0}, {6, 3}});
  REQUIRE_RESULT(harness.init(builder));
  HostTensor out = make_dynamic_output(DType::kFloat32, {6, 3});
  for (const std::int64_t rows : {10, 5, 9, 3, 10}) {
    HostTensor in = numbers({rows, 3});
    REQUIRE_RESULT(harness.execute({&in.view(), &out.view()}));
    const std::int64_t kept = std::min<std::int64_t>(8, rows) - 2;
    CHECK(out.view().shape() == Shape{kept, 3});
    const auto all = values_of(in);
    CHECK(values_of(out) == std::vector<double>(all.begin() + 6, all.begin() + 6 + 3 * kept));
  }
  HostTensor short_input = numbers({2, 3});
  REQUIRE_RESULT(harness.execute({&short_input.view(), &out.view()}));
  CHECK(out.view().shape() == Shape{0, 3});
}

TEST_CASE("follows arguments whose memory moves") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  TwicePayload payload;
  REQUIRE_RESULT(harness.init(payload));
  const HostTensor inputs[] = {numbers({8, 4}), numbers({8, 4})};
  HostTensor outputs[] = {make_output(DType::kFloat32, {8, 4}), make_output(DType::kFloat32, {8, 4})};
  for (int i = 0; i < 8; ++i) {
    Tensor in = inputs[i % 2].view();
    Tensor& out = outputs[i / 2 % 2].view();
    REQUIRE_RESULT(harness.execute({&in, &out}));
    check_twice(inputs[i % 2], out);
  }
}

TEST_CASE("a copy in place once is still a copy elsewhere later") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {4});
  const auto y = builder.output(DataType::kFp32, {2, 2});
  builder.node(NodeKind::kStaticReshape, {x}, {y}, ReshapeParams{{2, 2}});
  REQUIRE_RESULT(harness.init(builder));
  HostTensor in = numbers({4});
  Tensor same(DType::kFloat32, Shape{2, 2}, in.view().mutable_raw_data());
  REQUIRE_RESULT(harness.execute({&in.view(), &same}));
  HostTensor out = make_output(DType::kFloat32, {2, 2});
  REQUIRE_RESULT(harness.execute({&in.view(), &out.view()}));
  CHECK(values_of(out) == counting(4));
}

TEST_CASE("sizes are passed in the order of memory") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  TwicePayload payload({1, 2, 3, 4});  // NHWC in memory
  REQUIRE_RESULT(harness.init(payload));
  const HostTensor x = make_tensor(DType::kFloat32, {1, 4, 2, 3}, DimOrder::channels_last(), counting(24));
  HostTensor y = make_output(DType::kFloat32, {1, 4, 2, 3}, DimOrder::channels_last());
  Tensor in = x.view();
  REQUIRE_RESULT(harness.execute({&in, &y.view()}));
  check_twice(x, y.view());
}

TEST_CASE("a channels-last image of one channel is also a row-major one") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  TwicePayload payload({1, 1, 2, 3});
  REQUIRE_RESULT(harness.init(payload));
  const HostTensor x = make_tensor(DType::kFloat32, {1, 1, 2, 3}, DimOrder::channels_last(), counting(6));
  HostTensor y = make_output(DType::kFloat32, {1, 1, 2, 3}, DimOrder::channels_last());
  Tensor in = x.view();
  REQUIRE_RESULT(harness.execute({&in, &y.view()}));
  check_twice(x, y.view());
}

TEST_CASE("a number without dims is one of one element") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  TwicePayload payload({1});
  REQUIRE_RESULT(harness.init(payload));
  const HostTensor x = make_tensor(DType::kFloat32, {}, {3.0});
  HostTensor y = make_output(DType::kFloat32, {});
  Tensor in = x.view();
  REQUIRE_RESULT(harness.execute({&in, &y.view()}));
  check_twice(x, y.view());
}

TEST_CASE("indices are widened into an int64 output") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 3, 1, 2});
  const auto y = builder.output(DataType::kFp32, {1, 1, 1, 2});
  const auto nhwc = builder.internal(DataType::kFp32, {1, 1, 1, 2});
  const auto index = builder.output(DataType::kFp32, {1, 2, 1, 1});  // exporters call indices fp32
  PoolingParams p;
  p.window_height = p.stride_height = 3;
  p.window_width = p.stride_width = 1;
  builder.node(NodeKind::kArgMaxPooling2d, {x}, {y, nhwc}, p);
  builder.node(NodeKind::kStaticTranspose, {nhwc}, {index}, TransposeParams{{0, 3, 1, 2}});
  REQUIRE_RESULT(harness.init(builder));
  HostTensor in = make_tensor(DType::kFloat32, {1, 3, 1, 2}, {1, 9, 5, 2, 3, 7});
  HostTensor value = make_output(DType::kFloat32, {1, 1, 1, 2});
  HostTensor where = make_output(DType::kInt64, {1, 2, 1, 1});
  for (int i = 0; i < 2; ++i) {
    REQUIRE_RESULT(harness.execute({&in.view(), &value.view(), &where.view()}));
    CHECK(values_of(value) == std::vector<double>{5, 9});
    CHECK(int64_values_of(where) == std::vector<std::int64_t>{1, 0});
  }
}

TEST_CASE("refuses arguments that do not fit, and runs again afterwards") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {2, 4});
  const auto w = builder.constant(DataType::kFp32, {3, 4}, std::vector<float>(12, 1.0f));
  const auto y = builder.output(DataType::kFp32, {2, 3});
  builder.node(NodeKind::kFullyConnected, {x, w, kNoValue}, {y});
  REQUIRE_RESULT(harness.init(builder));
  HostTensor in = numbers({2, 4}), out = make_output(DType::kFloat32, {2, 3});
  HostTensor wide = numbers({2, 8}), more = numbers({3, 4}), flat = numbers({8});
  HostTensor integers = make_tensor(DType::kInt32, {2, 4}, counting(8));

  CHECK(error_of(harness.execute({&in.view()})).message.find("has 1 arguments") != std::string::npos);
  const Error type = error_of(harness.execute({&integers.view(), &out.view()}));
  CHECK(type.code == ErrorCode::kInvalidArgument);
  CHECK(type.message.find("expected float32, found int32") != std::string::npos);
  const Error shape = error_of(harness.execute({&wide.view(), &out.view()}));
  CHECK(shape.code == ErrorCode::kInvalidArgument);
  CHECK(shape.message.find("node 0 (FullyConnected)") != std::string::npos);
  CHECK(error_of(harness.execute({&flat.view(), &out.view()})).message.find("expected 2 dims") != std::string::npos);
  CHECK(error_of(harness.execute({&more.view(), &out.view()})).code == ErrorCode::kNotSupported);  // a static output
  Tensor nowhere(DType::kFloat32, Shape{2, 4}, nullptr);
  CHECK(error_of(harness.execute({&nowhere, &out.view()})).message.find("has no memory") != std::string::npos);

  REQUIRE_RESULT(harness.execute({&in.view(), &out.view()}));
  CHECK(values_of(out) == std::vector<double>{6, 6, 6, 22, 22, 22});
}

TEST_CASE("refuses what XNNPACK cannot do, naming node, types and version") {
  const auto backend = backends::make_xnnpack_backend();
  const auto refused = [&](PayloadBuilder& builder) {
    DelegateHarness harness(*backend);
    const Error error = error_of(harness.init(builder));
    CHECK(error.blame == Blame::kProgram);
    return error;
  };
  PayloadBuilder seven;
  const auto x7 = seven.input(DataType::kFp32, {1, 2, 1, 2, 1, 2, 3});
  const auto y7 = seven.output(DataType::kFp32, {1, 2, 1, 2, 1, 2, 3});
  seven.node(NodeKind::kAdd, {x7, x7}, {y7});
  const Error dims = refused(seven);
  CHECK(dims.code == ErrorCode::kNotSupported);
  CHECK(dims.message.find("7 dims") != std::string::npos);

  PayloadBuilder softmax;
  const auto q = softmax.input(DataType::kQint8, {4}, PerTensorQuantization{0.5f, 0});
  const auto r = softmax.output(DataType::kQint8, {4}, PerTensorQuantization{0.5f, 0});
  softmax.node(NodeKind::kSoftmax, {q}, {r});
  const Error type = refused(softmax);
  CHECK(type.message.find("node 0 (Softmax): its input is qint8") != std::string::npos);
  CHECK(type.message.find("XNNPACK 20") != std::string::npos);
  CHECK(type.where.at("node") == "node 0 (Softmax)");

  PayloadBuilder attention;
  std::vector<ValueIndex> inputs;
  for (int i = 0; i < 5; ++i)
    inputs.push_back(attention.input(DataType::kFp32, {2, 2}));
  const auto out = attention.output(DataType::kFp32, {2, 2});
  attention.node(NodeKind::kScaledDotProductAttention, inputs, {out});
  CHECK(refused(attention).code == ErrorCode::kNotImplemented);

  // Refused only when the runtime is made, where XNNPACK does not say which node it was.
  PayloadBuilder log;
  const auto a = log.input(DataType::kInt32, {4});
  const auto b = log.internal(DataType::kInt32, {4});
  const auto c = log.output(DataType::kInt32, {4});
  log.node(NodeKind::kAbs, {a}, {b});
  log.node(NodeKind::kLog, {b}, {c});
  CHECK(refused(log).message.find("node 1 (Log)") != std::string::npos);

  PayloadBuilder wrong;
  const auto x = wrong.input(DataType::kFp32, {2, 4});
  const auto w = wrong.constant(DataType::kFp32, {3, 5}, std::vector<float>(15, 1.0f));
  const auto y = wrong.output(DataType::kFp32, {2, 3});
  wrong.node(NodeKind::kFullyConnected, {x, w, kNoValue}, {y});
  CHECK(refused(wrong).code == ErrorCode::kInvalidProgram);
}

TEST_CASE("large graphs use the threads, small ones stay on the caller") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness small(*backend, 2), large(*backend, 2);
  TwicePayload few({8, 4}), many({1000, 1000});
  REQUIRE_RESULT(small.init(few));
  REQUIRE_RESULT(large.init(many));
  CHECK(small.metric("threads") == 1);
  CHECK(large.metric("threads") == 2);
  const HostTensor x = numbers({1000, 1000});
  HostTensor y = make_output(DType::kFloat32, {1000, 1000});
  Tensor in = x.view();
  REQUIRE_RESULT(large.execute({&in, &y.view()}));
  check_twice(x, y.view());
}
