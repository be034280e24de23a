// Error and Result: how every room reports failure. An Error names what went wrong, where, what was
// expected and found, and what to do; only `main` prints it. Codes up to 0xFF are ExecuTorch's, with its
// names and numbers (facts: runtime/core/error.h); the others are pterun's own and appear as `error.code`.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace pterun {

enum class ErrorCode : std::uint16_t {
  kInternal = 0x01,
  kInvalidState = 0x02,
  kEndOfMethod = 0x03,
  kAlreadyLoaded = 0x04,
  kNotSupported = 0x10,
  kNotImplemented = 0x11,
  kInvalidArgument = 0x12,
  kInvalidType = 0x13,
  kOperatorMissing = 0x14,
  kRegistrationExceedingMaxKernels = 0x15,
  kRegistrationAlreadyRegistered = 0x16,
  kNotFound = 0x20,
  kMemoryAllocationFailed = 0x21,
  kAccessFailed = 0x22,
  kInvalidProgram = 0x23,
  kInvalidExternalData = 0x24,
  kOutOfResources = 0x25,
  kDelegateInvalidCompatibility = 0x30,
  kDelegateMemoryAllocationFailed = 0x31,
  kDelegateInvalidHandle = 0x32,

  // pterun's own, from 0x100.
  kUsage = 0x100,
  kConfig,
  kOutput,
  kOptionType,
  kOptionValue,
  kUnknownBackend,
  kOptionSyntax,
  kUnknownOption,
  kOptionPath,
  kDuplicateOption,
  kInput,
  kReference,
  kMismatch,
  kEvidence,
  kGate,
  kBug,
  kInterrupted,
};

// The name that goes into a report: "InvalidProgram" for ExecuTorch's codes, "option_type" for pterun's.
std::string_view error_code_name(ErrorCode code);

// Who has to act; decides the exit code where the error code alone does not. The number is the exit code.
enum class Blame : std::uint8_t {
  kOutputs = 1,   // outputs differ from the reference
  kUsage = 2,     // command line, config, options, output files
  kProgram = 3,   // the program or its data, or what this build lacks
  kInput = 4,     // an input or reference
  kEvidence = 5,  // an option did not reach the required evidence
  kRuntime = 6,   // a backend refuses, or loading or executing fails while running
  kGate = 7,      // a performance gate
  kBug = 70,
  kInterrupted = 130,
};

// The blame that a code has unless the place that raises it says otherwise: kRuntime for ExecuTorch's codes
// except kInvalidProgram, kInvalidExternalData, kOperatorMissing, kDelegateInvalidCompatibility (kProgram).
Blame default_blame(ErrorCode code);

// Its special members are out of line: every PTERUN_TRY would expand them otherwise.
struct Error {
  Error();
  Error(ErrorCode code, Blame blame, std::string message);
  Error(const Error& other);
  Error(Error&& other) noexcept;
  Error& operator=(const Error& other);
  Error& operator=(Error&& other) noexcept;
  ~Error();

  ErrorCode code = ErrorCode::kBug;
  Blame blame = Blame::kBug;
  std::string message;  // one sentence, with the offending token, what was expected and what was found
  std::string hint;     // what to do; may be empty
  // Where: "file", "method", "instruction", "operator", "delegate", "node", "option", "source", "pointer",
  // "input", "output", "key" -> text. Sorted by name.
  std::map<std::string, std::string> where;

  // Adds a place unless that kind of place is known already (the innermost knows best).
  Error&& at(std::string kind, std::string place) &&;
  Error&& with_hint(std::string text) &&;
  Error&& with_blame(Blame who) &&;
  // "InvalidProgram: message (file m.pte, method forward); hint" in one line, for tests and logs.
  std::string to_string() const;
};

// Makes an error with the code's default blame.
Error make_error(ErrorCode code, std::string message);
// The same, for a cause that lies in the program or its data (exit 3).
Error program_error(ErrorCode code, std::string message);

inline int exit_code(const Error& error) {
  return static_cast<int>(error.blame);
}

template <typename T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}
inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(make_error(code, std::move(message)));
}

}  // namespace pterun

#define PTERUN_CONCAT_INNER(a, b) a##b
#define PTERUN_CONCAT(a, b) PTERUN_CONCAT_INNER(a, b)

// PTERUN_TRY(check_something()): returns the error of a Result<void> to the caller.
#define PTERUN_TRY(expression)                                                   \
  do {                                                                           \
    if (auto pterun_result = (expression); !pterun_result) [[unlikely]]          \
      return std::unexpected<::pterun::Error>(std::move(pterun_result).error()); \
  } while (false)

// PTERUN_ASSIGN(auto value, parse_something()): declares or assigns the value of a Result, or returns its error.
#define PTERUN_ASSIGN(declaration, ...) \
  PTERUN_ASSIGN_INNER(PTERUN_CONCAT(pterun_result_, __LINE__), declaration, __VA_ARGS__)
#define PTERUN_ASSIGN_INNER(result, declaration, ...)                   \
  auto result = (__VA_ARGS__);                                          \
  if (!result) [[unlikely]]                                             \
    return std::unexpected<::pterun::Error>(std::move(result).error()); \
  declaration = *std::move(result)
