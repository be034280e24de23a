// packed_cache_path and save_weight_cache_on_disk through the backend: a second process finds what the first packed,
// computes the same, and says so; every kind of bad file is reported and written anew.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>

#include "backends/xnnpack/xnnpack_backend.h"
#include "support/numeric.h"
#include "support/operator_call.h"
#include "support/payload_builder.h"
#include "support/temporary_file.h"

using namespace pterun;
using namespace pterun::test;
using options::Option;
using options::OptionValue;

namespace {

const std::string kName(64, 'a');
const std::string kOtherName(64, 'b');

// x[1, 32] -> FullyConnected -> y[1, 16]; a convolution that XNNPACK packs before it asks, where wanted.
struct LinearPayload : PayloadBuilder {
  explicit LinearPayload(const std::string& key = kName, float factor = 0.125f) {
    std::vector<float> weights;
    for (int i = 0; i < 16 * 32; ++i)
      weights.push_back(static_cast<float>(i % 19 - 9) * factor);
    const auto x = input(DataType::kFp32, {1, 32});
    const auto w = constant(DataType::kFp32, {16, 32}, weights, {}, key);
    const auto y = output(DataType::kFp32, {1, 16});
    node(NodeKind::kFullyConnected, {x, w, xnnpack_payload::kNoValue}, {y});
  }
};

struct TransposedPayload : PayloadBuilder {
  TransposedPayload() {
    const auto x = input(DataType::kFp32, {1, 4, 4, 8});
    const auto w = constant(DataType::kFp32, {4, 3, 3, 8}, std::vector<float>(4 * 9 * 8, 0.5f), {}, kName);
    const auto b = constant(DataType::kFp32, {4}, std::vector<float>(4, 1.0f), {}, kOtherName);
    const auto y = output(DataType::kFp32, {1, 6, 6, 4});
    xnnpack_payload::ConvolutionParams params;
    params.kernel_height = params.kernel_width = 3;
    params.stride_height = params.stride_width = params.dilation_height = params.dilation_width = 1;
    params.groups = 1;
    params.group_input_channels = 8;
    params.group_output_channels = 4;
    node(NodeKind::kConvTranspose2d, {x, w, b}, {y}, params);
  }
};

struct DepthwisePayload : PayloadBuilder {
  DepthwisePayload() {
    const auto x = input(DataType::kFp32, {1, 4, 4, 8});
    const auto w = constant(DataType::kFp32, {1, 3, 3, 8}, std::vector<float>(72, 0.5f), {}, kName);
    const auto b = constant(DataType::kFp32, {8}, std::vector<float>(8, 1.0f), {}, kOtherName);
    const auto y = output(DataType::kFp32, {1, 2, 2, 8});
    xnnpack_payload::ConvolutionParams params;
    params.kernel_height = params.kernel_width = 3;
    params.stride_height = params.stride_width = params.dilation_height = params.dilation_width = 1;
    params.groups = 8;
    params.group_input_channels = params.group_output_channels = 1;
    node(NodeKind::kDepthwiseConv2d, {x, w, b}, {y}, params);
  }
};

// One process: a backend of its own and a delegate with the cache file.
struct Process {
  explicit Process(const std::string& path, PayloadBuilder&& payload = LinearPayload(), bool verify = false,
                   const std::string& method = "forward")
      : backend(backends::make_xnnpack_backend()), harness(*backend) {
    harness.load_options = {{"weight_cache_enabled", OptionValue(true)}, {"packed_cache_path", OptionValue(path)}};
    harness.verify_caches = verify;
    harness.method = method;
    REQUIRE_RESULT(harness.init(payload));
  }
  std::vector<double> run() {
    HostTensor x = make_tensor(DType::kFloat32, {1, 32}, std::vector<double>(32, 1.5));
    HostTensor y = make_output(DType::kFloat32, {1, 16});
    REQUIRE_RESULT(harness.execute({&x.view(), &y.view()}));
    return values_of(y);
  }
  backend::OptionEffect effect(const std::string& key = "packed_cache_path") const {
    for (auto& effect : harness.delegate().option_effects()) {
      if (effect.key == key) return effect;
    }
    return {"", OptionValue(false), ""};
  }
  std::string warnings() const {
    std::string codes;
    for (const Warning& warning : harness.log.warnings)
      codes += warning.code + " ";
    return codes;
  }
  bool says(std::string_view part) const { return effect().detail.find(part) != std::string::npos; }
  void save() {
    const Option action{"save_weight_cache_on_disk", OptionValue(true)};
    REQUIRE_RESULT(backend->set_option(std::span(&action, 1)));
  }

  std::unique_ptr<backend::Backend> backend;
  DelegateHarness harness;
};

std::vector<double> plain_result() {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  LinearPayload payload;
  REQUIRE_RESULT(harness.init(payload));
  HostTensor x = make_tensor(DType::kFloat32, {1, 32}, std::vector<double>(32, 1.5));
  HostTensor y = make_output(DType::kFloat32, {1, 16});
  REQUIRE_RESULT(harness.execute({&x.view(), &y.view()}));
  return values_of(y);
}

// Every file below a size fails with "File too large", as a full disk fails.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    previous_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, previous_);
  }

 private:
  rlimit limit_{};
  void (*previous_)(int) = nullptr;
};

}  // namespace

TEST_CASE("the second process maps what the first packed and computes the same") {
  const TemporaryFile file("w.cache");
  const std::vector<double> want = plain_result();
  std::int64_t packed = 0;
  {
    Process first(file.path());
    packed = first.harness.metric("packed_here_bytes");
    CHECK(packed > 0);
    CHECK(first.effect().value == OptionValue(file.path()));
    CHECK(first.says("was not there; written: 1 entries"));
    CHECK(first.says("0 entries, 0 bytes reused, 1 missed"));
    CHECK(first.run() == want);
  }
  Process second(file.path());
  CHECK(second.harness.metric("packed_here_bytes") == 0);
  CHECK(second.harness.metric("cache_file_hits") == 1);
  CHECK(second.harness.metric("cache_file_bytes") == packed);
  CHECK(second.effect().value == OptionValue(file.path()));
  CHECK(second.says("opened " + file.path() + ": 1 entries"));
  CHECK(second.says("1 entries, " + std::to_string(packed) + " bytes reused, 0 missed"));
  CHECK(second.warnings().empty());
  CHECK(second.run() == want);
}

TEST_CASE("loading again and again leaves the file as it is") {
  const TemporaryFile file("w.cache");
  {
    Process first(file.path());
  }
  const std::string content = file.read();
  const auto time = std::filesystem::last_write_time(file.path());
  for (int i = 0; i < 5; ++i) {
    Process again(file.path());
    again.run();
    again.save();
  }
  CHECK((file.read() == content));
  CHECK(std::filesystem::last_write_time(file.path()) == time);
}

TEST_CASE("a damaged, cut, foreign or stale file is reported, not used and written anew") {
  const TemporaryFile file("w.cache");
  {
    Process first(file.path());
  }
  const std::string good = file.read();
  std::string other_program;
  {
    const TemporaryFile other("o.cache");
    {
      Process process(other.path(), LinearPayload(kOtherName));
    }
    other_program = other.read();
  }
  std::string version = good, index = good;
  version[8] = 7;
  index[100] = static_cast<char>(index[100] ^ 4);
  const std::pair<std::string, std::string> rows[] = {
      {"", "no weight cache of pterun"},
      {"not a cache at all, but long enough to hold a header: " + std::string(100, 'x'), "no weight cache of pterun"},
      {good.substr(0, good.size() / 2), "should have"},
      {version, "format version 7"},
      {index, "damaged (checksum)"},
      {other_program, "another program"}};
  const std::vector<double> want = plain_result();
  for (const auto& [content, reason] : rows) {
    file.write(content);
    INFO(reason);
    {
      Process process(file.path());
      CHECK(process.warnings() == "weight_cache_rejected ");
      CHECK(process.harness.log.warnings.front().message.find(reason) != std::string::npos);
      CHECK(process.says("was rejected: "));
      CHECK(process.says("written: 1 entries"));
      CHECK(process.harness.metric("cache_file_hits") == 0);
      CHECK(process.run() == want);
    }
    CHECK((file.read() == good));
  }
}

TEST_CASE("damaged weights are found when their checksums are asked for") {
  const TemporaryFile file("w.cache");
  {
    Process first(file.path());
  }
  const std::string good = file.read();
  std::string bad = good;
  bad[bad.size() - 100] = static_cast<char>(bad[bad.size() - 100] ^ 0x40);
  file.write(bad);
  {
    Process process(file.path(), LinearPayload(), true);
    CHECK(process.warnings() == "weight_cache_rejected ");
    CHECK(process.run() == plain_result());
  }
  CHECK((file.read() == good));
  Process process(file.path(), LinearPayload(), true);
  CHECK(process.says("all checksums right"));
}

TEST_CASE("the file holds what each method uses, and what other methods need stays in it") {
  const TemporaryFile file("w.cache");
  // Two methods of one program: their named data is the program's, so both payloads list both constants.
  const auto method = [&](const std::string& key, float factor, const std::string& name) {
    LinearPayload payload(key, factor);
    payload.constant(DataType::kFp32, {16, 32}, std::vector<float>(16 * 32, 1.0f), {},
                     key == kName ? kOtherName : kName);
    return std::make_unique<Process>(file.path(), std::move(payload), false, name);
  };
  method(kName, 0.125f, "forward");
  const auto one = std::filesystem::file_size(file.path());
  CHECK(method(kOtherName, 0.25f, "encode")->harness.metric("cache_file_hits") == 0);
  const auto both = std::filesystem::file_size(file.path());
  CHECK(both > one);
  CHECK(method(kName, 0.125f, "forward")->harness.metric("cache_file_hits") == 1);
  CHECK(method(kOtherName, 0.25f, "encode")->harness.metric("cache_file_hits") == 1);
  CHECK(std::filesystem::file_size(file.path()) == both);
}

TEST_CASE("weights that changed under an unchanged name replace the old ones") {
  const TemporaryFile file("w.cache");
  {
    Process first(file.path(), LinearPayload("linear.weight"));
  }
  const auto size = std::filesystem::file_size(file.path());
  for (int i = 1; i < 4; ++i) {
    Process retrained(file.path(), LinearPayload("linear.weight", 0.125f + static_cast<float>(i)));
    CHECK(retrained.harness.metric("cache_file_hits") == 0);
    CHECK(retrained.run() != plain_result());
  }
  CHECK(std::filesystem::file_size(file.path()) == size);
}

TEST_CASE("operators that XNNPACK packs before it asks use the file's weights, and it is said") {
  const TemporaryFile file("w.cache");
  {
    Process first(file.path(), TransposedPayload());
  }
  Process second(file.path(), TransposedPayload());
  INFO(second.effect().detail);
  CHECK(second.harness.metric("cache_file_hits") == 1);
  CHECK(second.harness.metric("packed_here_bytes") == 0);
  CHECK(second.says("1 packed all the same"));
}

TEST_CASE("depthwise convolutions, which XNNPACK has no cache for, are not kept, and it is said") {
  const TemporaryFile file("w.cache");
  Process process(file.path(), DepthwisePayload());
  CHECK(process.warnings() == "weight_cache_empty ");
  CHECK(process.says("1 not kept: XNNPACK packs depthwise convolutions without a cache"));
  CHECK(process.effect().value == OptionValue(std::string()));
}

TEST_CASE("a dynamically quantised operator, whose bias XNNPACK does not name, is kept like others") {
  const TemporaryFile file("w.cache");
  const auto payload = [] {
    auto builder = std::make_unique<PayloadBuilder>();
    const auto x = builder->input(DataType::kFp32, {2, 32});
    const auto q = builder->internal(DataType::kQdint8, {2, 32}, xnnpack_payload::DynamicQuantization{1});
    const auto w =
        builder->constant(DataType::kQcint8, {16, 32}, std::vector<std::int8_t>(16 * 32, 3),
                          xnnpack_payload::PerChannelQuantization{std::vector<float>(16, 0.5f), 0, 0, {}}, kName);
    const auto b = builder->constant(DataType::kFp32, {16}, std::vector<float>(16, 1.0f), {}, kOtherName);
    const auto y = builder->output(DataType::kFp32, {2, 16});
    builder->node(NodeKind::kConvert, {x}, {q});
    builder->node(NodeKind::kFullyConnected, {q, w, b}, {y});
    return builder;
  };
  Process first(file.path(), std::move(*payload()));
  CHECK(first.harness.metric("packed_here_bytes") > 0);
  CHECK(first.harness.metric("weight_cache_misses") == 1);
  Process second(file.path(), std::move(*payload()));
  CHECK(second.harness.metric("cache_file_hits") == 1);
  CHECK(second.harness.metric("packed_here_bytes") == 0);
}

TEST_CASE("weights without a name are not kept, and it is said") {
  const TemporaryFile file("w.cache");
  LinearPayload payload;
  payload.place = ConstantPlace::kRegion;
  Process process(file.path(), std::move(payload));
  CHECK(process.warnings() == "weights_not_cached weight_cache_empty ");
  CHECK(process.says("1 not kept: their weights have no name"));
  CHECK(process.effect().value == OptionValue(std::string()));
  CHECK_FALSE(std::filesystem::exists(file.path()));
  process.save();
  CHECK(process.effect("save_weight_cache_on_disk").value == OptionValue(false));
}

TEST_CASE("a path that cannot be written costs the cache and nothing else") {
  const TemporaryFile file("w.cache");
  const std::string nowhere = file.folder() + "/none/w.cache";
  Process process(nowhere);
  CHECK(process.warnings() == "weight_cache_not_saved ");
  CHECK(process.says("not written: cannot write"));
  CHECK(process.effect().value == OptionValue(std::string()));
  CHECK(process.run() == plain_result());
  process.save();
  CHECK(process.effect("save_weight_cache_on_disk").value == OptionValue(false));
}

TEST_CASE("a full disk costs the cache and nothing else, and leaves the file that was there") {
  const TemporaryFile file("w.cache");
  {
    Process other(file.path(), LinearPayload(kOtherName));
  }
  const std::string before = file.read();
  {
    const SmallFiles full(500);
    Process process(file.path());
    CHECK(process.warnings() == "weight_cache_rejected weight_cache_not_saved ");
    CHECK(process.effect().value == OptionValue(std::string()));
    CHECK(process.run() == plain_result());
  }
  CHECK((file.read() == before));
  CHECK_FALSE(std::filesystem::exists(file.path() + ".tmp"));
}

TEST_CASE("the action saves what is live, and says what it did") {
  const TemporaryFile file("w.cache");
  Process process(file.path());
  CHECK(process.effect("save_weight_cache_on_disk").key.empty());
  const std::string content = file.read();
  process.save();
  CHECK(process.effect("save_weight_cache_on_disk").value == OptionValue(true));
  CHECK(process.effect("save_weight_cache_on_disk").detail.find("is up to date") != std::string::npos);
  std::filesystem::remove(file.path());
  process.save();
  CHECK(process.effect("save_weight_cache_on_disk").value == OptionValue(true));
  CHECK(process.effect("save_weight_cache_on_disk").detail.find("written: 1 entries") != std::string::npos);
  CHECK((file.read() == content));
}

TEST_CASE("two programs that are loaded at once do not take each other's weights out of a file") {
  const TemporaryFile file("w.cache");
  Process first(file.path());
  DelegateHarness second(*first.backend);
  second.load_options = first.harness.load_options;
  second.program_id = 2;
  LinearPayload other(kOtherName);
  REQUIRE_RESULT(second.init(other));
  REQUIRE(second.log.warnings.size() == 1);
  CHECK(second.log.warnings[0].code == "weight_cache_taken");
  CHECK(second.delegate().option_effects()[2].value == OptionValue(std::string()));
  // The same program once more shares it.
  DelegateHarness third(*first.backend);
  third.load_options = first.harness.load_options;
  third.program_id = 3;
  LinearPayload same;
  REQUIRE_RESULT(third.init(same));
  CHECK(third.log.warnings.empty());
  CHECK(third.metric("weight_cache_hits") == 1);
}

TEST_CASE("a path without the cache is refused by the backend itself") {
  const auto backend = backends::make_xnnpack_backend();
  DelegateHarness harness(*backend);
  harness.load_options = {{"packed_cache_path", OptionValue(std::string("w.cache"))}};
  LinearPayload payload;
  const auto result = harness.init(payload);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kInvalidArgument);
  CHECK(result.error().message.find("needs weight_cache_enabled") != std::string::npos);
}
