// Workspaces by sharing mode and packed weights by key: what is shared, and what must not be.
#include <atomic>
#include <thread>

#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack/weight_keys.h"
#include "backends/xnnpack/xnnpack_backend.h"
#include "support/numeric.h"
#include "support/operator_call.h"
#include "support/payload_builder.h"

using namespace pterun;
using namespace pterun::test;
using options::Option;
using options::OptionValue;

namespace {

Option mode(std::int32_t value) {
  return {"workspace_sharing_mode", OptionValue(value)};
}
Option cache(bool value) {
  return {"weight_cache_enabled", OptionValue(value)};
}

// Two nodes with an intermediate result of `columns` floats, so that a workspace is needed.
struct ChainPayload : PayloadBuilder {
  explicit ChainPayload(std::int64_t columns) {
    const auto x = input(DataType::kFp32, {columns});
    const auto middle = internal(DataType::kFp32, {columns});
    const auto y = output(DataType::kFp32, {columns});
    node(NodeKind::kSigmoid, {x}, {middle});
    node(NodeKind::kNegate, {middle}, {y});
  }
};

struct Chain {
  Chain(backend::Backend& backend, std::int32_t sharing, std::uint64_t program, std::int64_t columns)
      : harness(backend),
        x(make_tensor(DType::kFloat32, {columns}, std::vector<double>(static_cast<std::size_t>(columns), 0.0))),
        y(make_output(DType::kFloat32, {columns})) {
    harness.load_options = {mode(sharing)};
    harness.program_id = program;
    ChainPayload payload(columns);
    REQUIRE_RESULT(harness.init(payload));
  }
  void run() {
    REQUIRE_RESULT(harness.execute({&x.view(), &y.view()}));
    CHECK(largest_excess(values_of(y), std::vector<double>(values_of(y).size(), -0.5), 1e-6, 0) <= 0);
  }
  DelegateHarness harness;
  HostTensor x, y;
};

std::vector<std::int8_t> weight_bytes() {
  std::vector<std::int8_t> bytes;
  for (int i = 0; i < 8 * 16; ++i)
    bytes.push_back(static_cast<std::int8_t>(i % 23 - 11));
  return bytes;
}

const std::string kContentName(64, 'a');

// x[1, 16] (qint8 of that scale) -> FullyConnected with the filter named `key` -> y[1, 8].
struct QuantizedLinear : PayloadBuilder {
  QuantizedLinear(float input_scale, const std::string& key, std::vector<std::int8_t> bytes = weight_bytes()) {
    const auto x = input(DataType::kQint8, {1, 16}, xnnpack_payload::PerTensorQuantization{input_scale, 0});
    const auto w = constant(DataType::kQint8, {8, 16}, bytes, xnnpack_payload::PerTensorQuantization{0.1f, 0}, key);
    const auto y = output(DataType::kQint8, {1, 8}, xnnpack_payload::PerTensorQuantization{1.0f, 0});
    node(NodeKind::kFullyConnected, {x, w, xnnpack_payload::kNoValue}, {y});
  }
};

struct Linear {
  Linear(backend::Backend& backend, QuantizedLinear payload, bool cached, std::uint64_t program = 1)
      : harness(backend) {
    harness.load_options = {cache(cached)};
    harness.program_id = program;
    REQUIRE_RESULT(harness.init(payload));
  }
  std::vector<double> run() {
    HostTensor x = make_tensor(DType::kInt8, {1, 16}, std::vector<double>(16, 10.0));
    HostTensor y = make_output(DType::kInt8, {1, 8});
    REQUIRE_RESULT(harness.execute({&x.view(), &y.view()}));
    return values_of(y);
  }
  DelegateHarness harness;
};

}  // namespace

TEST_CASE("sharing mode 0 gives every delegate its own workspace") {
  const auto backend = backends::make_xnnpack_backend();
  Chain a(*backend, 0, 1, 1000), b(*backend, 0, 1, 1000);
  a.run();
  b.run();
  CHECK(a.harness.metric("workspace_id") != b.harness.metric("workspace_id"));
  CHECK(a.harness.metric("workspace_bytes") >= 4000);
  CHECK(b.harness.metric("workspace_bytes") >= 4000);
}

TEST_CASE("sharing mode 1 gives one workspace to a program, as large as its largest user needs") {
  const auto backend = backends::make_xnnpack_backend();
  Chain a(*backend, 1, 1, 1000), b(*backend, 1, 1, 5000), other(*backend, 1, 2, 1000);
  a.run();
  CHECK(a.harness.metric("workspace_bytes") < 20000);
  b.run();
  other.run();
  CHECK(a.harness.metric("workspace_id") == b.harness.metric("workspace_id"));
  CHECK(a.harness.metric("workspace_id") != other.harness.metric("workspace_id"));
  CHECK(a.harness.metric("workspace_bytes") >= 20000);
  CHECK(a.harness.metric("workspace_bytes") < 24000);
  a.run();  // its memory has moved
  b.run();
}

TEST_CASE("sharing mode 2 gives one workspace to the process, while it has users") {
  const auto backend = backends::make_xnnpack_backend();
  std::int64_t first = 0;
  {
    Chain a(*backend, 2, 1, 1000), b(*backend, 2, 2, 2000);
    a.run();
    b.run();
    a.run();
    first = a.harness.metric("workspace_id");
    CHECK(first == b.harness.metric("workspace_id"));
    CHECK(a.harness.delegate().option_effects()[0].detail.find("used by 2 delegates") != std::string::npos);
    b.harness.reset();
    a.run();
    CHECK(a.harness.delegate().option_effects()[0].detail.find("used by 1 delegate") != std::string::npos);
  }
  Chain later(*backend, 2, 3, 10);
  later.run();
  CHECK(later.harness.metric("workspace_id") != first);
  CHECK(later.harness.metric("workspace_bytes") < 4000);
}

TEST_CASE("delegates loaded and unloaded a hundred times leave a shared workspace sound") {
  const auto backend = backends::make_xnnpack_backend();
  Chain stays(*backend, 2, 1, 100);
  for (int i = 0; i < 100; ++i) {
    Chain goes(*backend, 2, 2, 50 + 37 * i);
    goes.run();
    stays.run();
  }
  stays.run();
}

TEST_CASE("the weight cache shares packed weights between delegates and programs") {
  const auto backend = backends::make_xnnpack_backend();
  Linear first(*backend, {0.5f, kContentName}, true, 1);
  CHECK(first.harness.metric("weight_cache_misses") == 1);
  CHECK(first.harness.metric("packed_here_bytes") == first.harness.metric("packed_bytes"));
  CHECK(first.harness.metric("packed_bytes") >= 8 * 16);
  Linear second(*backend, {0.5f, kContentName}, true, 2);
  CHECK(second.harness.metric("weight_cache_hits") == 1);
  CHECK(second.harness.metric("weight_cache_misses") == 0);
  CHECK(second.harness.metric("packed_here_bytes") == 0);
  CHECK(first.run() == second.run());
  // The weights stay while anyone uses them.
  const auto before = second.run();
  first.harness.reset();
  CHECK(second.run() == before);
}

TEST_CASE("weights go with their last user, and without the cache they are shared inside one program only") {
  const auto backend = backends::make_xnnpack_backend();
  {
    Linear first(*backend, {0.5f, kContentName}, true);
  }
  Linear again(*backend, {0.5f, kContentName}, true);
  CHECK(again.harness.metric("weight_cache_misses") == 1);
  Linear off(*backend, {0.5f, kContentName}, false);
  CHECK(off.harness.metric("packed_here_bytes") == again.harness.metric("packed_bytes"));
  CHECK(off.harness.delegate().option_effects()[1].detail.starts_with("off: "));
  Linear same_program(*backend, {0.5f, kContentName}, false);
  CHECK(same_program.harness.metric("packed_here_bytes") == 0);
  Linear other_program(*backend, {0.5f, kContentName}, false, 2);
  CHECK(other_program.harness.metric("packed_here_bytes") == again.harness.metric("packed_bytes"));
}

TEST_CASE("one weight with two input scales is packed twice") {
  // XNNPACK folds the input's scale into the packed weights, and its own key holds no scales.
  const auto backend = backends::make_xnnpack_backend();
  const auto plain = backends::make_xnnpack_backend();
  Linear a(*backend, {0.5f, kContentName}, true), b(*backend, {0.25f, kContentName}, true);
  Linear want_a(*plain, {0.5f, kContentName}, false), want_b(*plain, {0.25f, kContentName}, false);
  CHECK(b.harness.metric("weight_cache_hits") == 0);
  CHECK(a.run() == want_a.run());
  CHECK(b.run() == want_b.run());
  CHECK(a.run() != b.run());
}

TEST_CASE("one weight with two input scales in one delegate is packed twice") {
  for (const bool cached : {false, true}) {
    const auto backend = backends::make_xnnpack_backend();
    PayloadBuilder builder;
    const xnnpack_payload::PerTensorQuantization out{1.0f, 0};
    const auto x = builder.input(DataType::kQint8, {1, 16}, xnnpack_payload::PerTensorQuantization{0.5f, 0});
    const auto z = builder.input(DataType::kQint8, {1, 16}, xnnpack_payload::PerTensorQuantization{0.25f, 0});
    const auto w = builder.constant(DataType::kQint8, {8, 16}, weight_bytes(),
                                    xnnpack_payload::PerTensorQuantization{0.1f, 0}, kContentName);
    const auto y = builder.output(DataType::kQint8, {1, 8}, out);
    const auto u = builder.output(DataType::kQint8, {1, 8}, out);
    builder.node(NodeKind::kFullyConnected, {x, w, xnnpack_payload::kNoValue}, {y});
    builder.node(NodeKind::kFullyConnected, {z, w, xnnpack_payload::kNoValue}, {u});
    DelegateHarness harness(*backend);
    harness.load_options = {cache(cached)};
    REQUIRE_RESULT(harness.init(builder));
    HostTensor in = make_tensor(DType::kInt8, {1, 16}, std::vector<double>(16, 10.0));
    HostTensor first = make_output(DType::kInt8, {1, 8}), second = make_output(DType::kInt8, {1, 8});
    REQUIRE_RESULT(harness.execute({&in.view(), &in.view(), &first.view(), &second.view()}));
    const auto plain = backends::make_xnnpack_backend();
    CHECK(values_of(first) == Linear(*plain, {0.5f, kContentName}, false).run());
    CHECK(values_of(second) == Linear(*plain, {0.25f, kContentName}, false).run());
  }
}

TEST_CASE("a name that is no hash of its bytes does not make two weights one") {
  const auto backend = backends::make_xnnpack_backend();
  auto other_bytes = weight_bytes();
  other_bytes[40] = 100;
  Linear a(*backend, {0.5f, "linear.weight"}, true, 1);
  Linear same(*backend, {0.5f, "linear.weight"}, true, 2);
  Linear other(*backend, {0.5f, "linear.weight", other_bytes}, true, 3);
  CHECK(same.harness.metric("weight_cache_hits") == 1);
  CHECK(other.harness.metric("weight_cache_hits") == 0);
  CHECK(other.run() != a.run());
}

TEST_CASE("several threads load and run programs that share a workspace and packed weights") {
  const auto backend = backends::make_xnnpack_backend();
  const std::vector<double> expected = Linear(*backend, {0.5f, "linear.weight"}, true).run();
  std::atomic<int> wrong{0};
  const auto work = [&](std::uint64_t thread) {
    for (std::uint64_t round = 0; round < 10; ++round) {
      const std::uint64_t program = 10 + thread * 100 + round;
      QuantizedLinear payload(0.5f, "linear.weight");
      DelegateHarness harness(*backend);
      harness.load_options = {cache(true), mode(2)};
      harness.program_id = program;
      if (!harness.init(payload)) ++wrong;
      HostTensor x = make_tensor(DType::kInt8, {1, 16}, std::vector<double>(16, 10.0));
      HostTensor y = make_output(DType::kInt8, {1, 8});
      if (!harness.execute({&x.view(), &y.view()}) || values_of(y) != expected) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 3; ++i)
    threads.emplace_back(work, i);
  for (std::thread& thread : threads)
    thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("knows which names are hashes, and tells bytes apart") {
  CHECK(backends::xnn::is_content_name(kContentName));
  CHECK(!backends::xnn::is_content_name(std::string(64, 'g')));
  CHECK(!backends::xnn::is_content_name(std::string(63, 'a')));
  std::vector<std::byte> bytes(100);
  const std::string before = backends::xnn::fingerprint(bytes);
  CHECK(before.size() == 16);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] = std::byte{1};
    CHECK(backends::xnn::fingerprint(changed) != before);
  }
  CHECK(backends::xnn::fingerprint(Bytes(bytes).first(99)) != before);
}

TEST_CASE("pages of packed weights are released, those of other constants are not") {
  const auto backend = backends::make_xnnpack_backend();
  PayloadBuilder builder;
  const auto x = builder.input(DataType::kFp32, {1, 64});
  const auto w = builder.constant(DataType::kFp32, {64, 64}, std::vector<float>(64 * 64, 0.5f));
  const auto k = builder.constant(DataType::kFp32, {64}, std::vector<float>(64, 2.0f));
  const auto middle = builder.internal(DataType::kFp32, {1, 64});
  const auto y = builder.output(DataType::kFp32, {1, 64});
  builder.node(NodeKind::kFullyConnected, {x, w, xnnpack_payload::kNoValue}, {middle});
  builder.node(NodeKind::kMultiply, {middle, k}, {y});
  DelegateHarness harness(*backend);
  REQUIRE_RESULT(harness.init(builder));
  CHECK(builder.named_data().released_bytes == 64 * 64 * sizeof(float));
}
