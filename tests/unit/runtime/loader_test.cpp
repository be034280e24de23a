// Loading: load options reach every delegate of every method, receipts prove it, and what is missing is listed once.
#include "runtime/loader.h"

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "operators/families/families.h"

namespace pterun::runtime {
namespace {

const std::string kData = PTERUN_TEST_DATA "/";

// What init of the recording backend was called with.
struct InitCall {
  std::string method;
  std::size_t delegate;
  std::vector<options::Option> load_options;
  std::size_t payload_bytes;
  std::uint64_t program_id;
};

class IdleDelegate final : public backend::Delegate {
 public:
  Result<void> execute(std::span<Value* const>) override { return {}; }
};

// Stands in for the real backend under its name: notes every init and refuses when told to.
class RecordingBackend final : public backend::Backend {
 public:
  explicit RecordingBackend(std::vector<InitCall>& calls, bool refuse = false) : calls_(calls), refuse_(refuse) {
    table_.backend = "XnnpackBackend";
  }
  const options::OptionTable& option_table() const override { return table_; }
  bool is_available() const override { return available; }
  Result<void> set_option(std::span<const options::Option>) override { return {}; }
  Result<options::OptionValue> get_option(std::string_view) const override {
    return fail(ErrorCode::kNotFound, "no options");
  }
  Result<std::unique_ptr<backend::Delegate>> init(const backend::InitContext& context, Bytes payload,
                                                  std::span<const backend::CompileSpec>) override {
    calls_.push_back({std::string(context.method),
                      context.delegate_index,
                      {context.load_options.begin(), context.load_options.end()},
                      payload.size(),
                      context.program_id});
    if (refuse_) return fail(ErrorCode::kInvalidArgument, "XnnpackBackend.workspace_sharing_mode: 3 is out of range");
    return std::make_unique<IdleDelegate>();
  }

  bool available = true;

 private:
  std::vector<InitCall>& calls_;
  bool refuse_;
  options::OptionTable table_;
};

struct Fixture {
  std::vector<InitCall> calls;
  backend::BackendRegistry backends;
  operators::OperatorRegistry operators = operators::make_operator_registry();
  ThreadPool threads{1};
  CollectingLog log;
  Loader loader{backends, operators, threads, log};

  void add_backend(bool refuse = false) { REQUIRE(backends.add(std::make_unique<RecordingBackend>(calls, refuse))); }
};

TEST_CASE("load options reach the delegates of every method, with a receipt each") {
  Fixture fixture;
  fixture.add_backend();
  LoadRequest request;
  request.path = kData + "multi.pte";
  REQUIRE(request.options.add("XnnpackBackend", "workspace_sharing_mode", options::OptionValue(1)));
  REQUIRE(request.options.add("OtherBackend", "unrelated", options::OptionValue(true)));
  auto program = fixture.loader.load(request);
  REQUIRE(program);
  REQUIRE((*program)->load_method("forward"));
  REQUIRE((*program)->load_method("encode"));

  REQUIRE(fixture.calls.size() == 2);
  for (const InitCall& call : fixture.calls) {
    REQUIRE(call.load_options.size() == 1);
    CHECK(call.load_options[0] == options::Option{"workspace_sharing_mode", options::OptionValue(1)});
    CHECK(call.payload_bytes > 0);
    CHECK(call.program_id == fixture.calls[0].program_id);
  }
  const auto& receipts = (*program)->receipts();
  REQUIRE(receipts.size() == 2);
  CHECK(receipts[0].method == "forward");
  CHECK(receipts[1].method == "encode");
  for (const backend::Receipt& receipt : receipts) {
    CHECK(receipt.backend == "XnnpackBackend");
    CHECK(receipt.key == "workspace_sharing_mode");
    CHECK(receipt.value == options::OptionValue(1));
    CHECK(receipt.result == "Ok");
  }
}

TEST_CASE("only the methods that are asked for are loaded, and each once") {
  Fixture fixture;
  fixture.add_backend();
  auto program = fixture.loader.load({kData + "multi.pte", {}, program::Verification::kFull, {}});
  REQUIRE(program);
  CHECK((*program)->methods().empty());
  auto first = (*program)->load_method("encode");
  auto second = (*program)->load_method("encode");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*first == *second);
  CHECK(fixture.calls.size() == 1);
}

TEST_CASE("two loads of one file are two programs to the backend") {
  Fixture fixture;
  fixture.add_backend();
  for (int i = 0; i < 2; ++i) {
    auto program = fixture.loader.load({kData + "multi.pte", {}, program::Verification::kFull, {}});
    REQUIRE(program);
    REQUIRE((*program)->load_method("forward"));
  }
  REQUIRE(fixture.calls.size() == 2);
  CHECK(fixture.calls[0].program_id != fixture.calls[1].program_id);
}

TEST_CASE("a backend's refusal is a runtime error with a receipt that says so") {
  Fixture fixture;
  fixture.add_backend(true);
  LoadRequest request;
  request.path = kData + "multi.pte";
  REQUIRE(request.options.add("XnnpackBackend", "workspace_sharing_mode", options::OptionValue(3)));
  auto program = fixture.loader.load(request);
  REQUIRE(program);
  auto method = (*program)->load_method("forward");
  REQUIRE_FALSE(method);
  CHECK(method.error().code == ErrorCode::kInvalidArgument);
  CHECK(method.error().blame == Blame::kRuntime);
  CHECK(method.error().where.at("delegate") == "0 (XnnpackBackend)");
  REQUIRE((*program)->receipts().size() == 1);
  CHECK((*program)->receipts()[0].value == options::OptionValue(3));
  CHECK((*program)->receipts()[0].result == "InvalidArgument");
}

TEST_CASE("an unknown method is a usage error that lists those there are") {
  Fixture fixture;
  fixture.add_backend();
  auto program = fixture.loader.load({kData + "multi.pte", {}, program::Verification::kFull, {}});
  REQUIRE(program);
  auto method = (*program)->load_method("decode");
  REQUIRE_FALSE(method);
  CHECK(method.error().blame == Blame::kUsage);
  CHECK(method.error().message.find("'decode'") != std::string::npos);
  CHECK(method.error().message.find("forward") != std::string::npos);
  CHECK(method.error().message.find("encode") != std::string::npos);
}

TEST_CASE("a backend that is not registered is named with its uses and those there are") {
  Fixture fixture;
  auto program = fixture.loader.load({kData + "multi.pte", {}, program::Verification::kFull, {}});
  REQUIRE(program);
  auto method = (*program)->load_method("forward");
  REQUIRE_FALSE(method);
  CHECK(method.error().code == ErrorCode::kNotFound);
  CHECK(method.error().blame == Blame::kProgram);
  CHECK(method.error().message.find("XnnpackBackend (1 use); registered here: none") != std::string::npos);
}

TEST_CASE("a backend that cannot work on this machine is told apart from one that is not registered") {
  Fixture fixture;
  auto backend = std::make_unique<RecordingBackend>(fixture.calls);
  backend->available = false;
  REQUIRE(fixture.backends.add(std::move(backend)));
  auto program = fixture.loader.load({kData + "multi.pte", {}, program::Verification::kFull, {}});
  REQUIRE(program);
  auto method = (*program)->load_method("forward");
  REQUIRE_FALSE(method);
  CHECK(method.error().message.find("registered here: XnnpackBackend (cannot work here") != std::string::npos);
}

TEST_CASE("every missing operator is listed once with the number of its uses") {
  Fixture fixture;
  fixture.operators = operators::OperatorRegistry();
  auto program = fixture.loader.load({kData + "tiny_mlp_portable.pte", {}, program::Verification::kFull, {}});
  REQUIRE(program);
  auto method = (*program)->load_method("forward");
  REQUIRE_FALSE(method);
  CHECK(method.error().code == ErrorCode::kOperatorMissing);
  CHECK(method.error().message.find("aten::addmm.out (3 uses)") != std::string::npos);
  CHECK(method.error().message.find("aten::relu.out (2 uses)") != std::string::npos);
}

TEST_CASE("a file that is missing is an error that names it") {
  Fixture fixture;
  auto program = fixture.loader.load({kData + "no_such.pte", {}, program::Verification::kFull, {}});
  REQUIRE_FALSE(program);
  CHECK(program.error().code == ErrorCode::kAccessFailed);
  CHECK(program.error().blame == Blame::kProgram);
}

}  // namespace
}  // namespace pterun::runtime
