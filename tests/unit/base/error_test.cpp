// What an Error says, whom it blames, and how PTERUN_TRY and PTERUN_ASSIGN pass it on.
#include "base/error.h"

#include <memory>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace pterun;

namespace {

constexpr int kFirstOwn = static_cast<int>(ErrorCode::kUsage);
constexpr int kLastOwn = static_cast<int>(ErrorCode::kInterrupted);

Result<int> half(int number) {
  if (number % 2 != 0) return fail(make_error(ErrorCode::kInvalidArgument, "odd").at("number", std::to_string(number)));
  return number / 2;
}

Result<void> check_even(int number) {
  PTERUN_TRY(half(number));
  return {};
}

Result<int> quarter(int number) {
  PTERUN_ASSIGN(const int once, half(number));
  PTERUN_ASSIGN(int twice, half(once));
  return twice;
}

Result<std::unique_ptr<int>> boxed(bool good) {
  if (!good) return fail(ErrorCode::kNotFound, "nothing to box");
  return std::make_unique<int>(7);
}

Result<int> unboxed(bool good) {
  PTERUN_ASSIGN(const std::unique_ptr<int> box, boxed(good));
  return *box;
}

}  // namespace

TEST_CASE("codes that ExecuTorch has keep its numbers and names") {
  CHECK(static_cast<int>(ErrorCode::kInvalidArgument) == 0x12);
  CHECK(error_code_name(ErrorCode::kInvalidArgument) == "InvalidArgument");
  CHECK(static_cast<int>(ErrorCode::kMemoryAllocationFailed) == 0x21);
  CHECK(static_cast<int>(ErrorCode::kInvalidProgram) == 0x23);
  CHECK(error_code_name(ErrorCode::kDelegateInvalidCompatibility) == "DelegateInvalidCompatibility");
}

TEST_CASE("pterun's own codes have names of their own in snake case") {
  std::set<std::string_view> names;
  for (int number = kFirstOwn; number <= kLastOwn; ++number) {
    const std::string_view name = error_code_name(static_cast<ErrorCode>(number));
    CAPTURE(number, name);
    CHECK(names.insert(name).second);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
  }
}

TEST_CASE("the exit code follows from the blame") {
  CHECK(exit_code(make_error(ErrorCode::kMismatch, "")) == 1);
  CHECK(exit_code(make_error(ErrorCode::kOptionType, "")) == 2);
  CHECK(exit_code(make_error(ErrorCode::kOutput, "")) == 2);
  CHECK(exit_code(make_error(ErrorCode::kInvalidProgram, "")) == 3);
  CHECK(exit_code(make_error(ErrorCode::kOperatorMissing, "")) == 3);
  CHECK(exit_code(make_error(ErrorCode::kReference, "")) == 4);
  CHECK(exit_code(make_error(ErrorCode::kEvidence, "")) == 5);
  CHECK(exit_code(make_error(ErrorCode::kInvalidArgument, "")) == 6);
  CHECK(exit_code(make_error(ErrorCode::kGate, "")) == 7);
  CHECK(exit_code(make_error(ErrorCode::kBug, "")) == 70);
  CHECK(exit_code(make_error(ErrorCode::kInterrupted, "")) == 130);
}

TEST_CASE("a cause in the program is exit 3 whatever the code") {
  CHECK(exit_code(program_error(ErrorCode::kNotSupported, "")) == 3);
  CHECK(exit_code(make_error(ErrorCode::kNotSupported, "")) == 6);
  CHECK(exit_code(make_error(ErrorCode::kNotSupported, "").with_blame(Blame::kInput)) == 4);
}

TEST_CASE("the innermost place of a kind stays") {
  const Error error = make_error(ErrorCode::kInvalidProgram, "bad")
                          .at("file", "inner.pte")
                          .at("file", "outer.pte")
                          .at("method", "forward");
  CHECK(error.where.at("file") == "inner.pte");
  CHECK(error.where.at("method") == "forward");
}

TEST_CASE("an error is one line with code, message, places and hint") {
  CHECK(make_error(ErrorCode::kNotFound, "no such thing").to_string() == "NotFound: no such thing");
  CHECK(make_error(ErrorCode::kInvalidProgram, "cut")
            .at("method", "forward")
            .at("file", "m.pte")
            .with_hint("export again")
            .to_string() == "InvalidProgram: cut (file m.pte, method forward); export again");
}

TEST_CASE("PTERUN_TRY returns the error and nothing else") {
  CHECK(check_even(4).has_value());
  const auto odd = check_even(5);
  REQUIRE_FALSE(odd);
  CHECK(odd.error().where.at("number") == "5");
}

TEST_CASE("PTERUN_ASSIGN takes the value, or returns the first error") {
  CHECK(quarter(12) == 3);
  CHECK(quarter(7).error().where.at("number") == "7");
  CHECK(quarter(6).error().where.at("number") == "3");
}

TEST_CASE("PTERUN_ASSIGN takes what can only be moved") {
  CHECK(unboxed(true) == 7);
  CHECK(unboxed(false).error().code == ErrorCode::kNotFound);
}
